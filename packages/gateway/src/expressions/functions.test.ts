import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compile, createEnvironment, HeadersView, isCelError, type Result } from '@portico/cel'
import * as fc from 'fast-check'
import { gatewayFunctions } from './functions.ts'
import { variablesByPhase } from './variables.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

const environment = createEnvironment({ variables: variablesByPhase.request, functions: gatewayFunctions })

class Headers extends HeadersView {
  readonly #lines: Readonly<Record<string, string | readonly string[]>>

  constructor(lines: Readonly<Record<string, string | readonly string[]>>) {
    super()
    this.#lines = lines
  }

  get(name: string): string | readonly string[] | undefined {
    return this.#lines[name]
  }

  keys(): Iterable<string> {
    return Object.keys(this.#lines)
  }
}

const headers = new Headers({
  'x-tags': [' a, b', 'c ,,d'],
  'x-team': 'red',
  cookie: ['theme=dark; id="7"', 'twice=1; same=1', 'twice=2; same=1; Theme=light; empty=; =x; odd'],
  authorization: 'Bearer abc',
  'x-functions-key': ['k1', 'k2'],
})
const request = {
  headers,
  uri: 'https://shop.test:8443/a?x=1&y=a+b%26&x=%C3%A9&flag',
  pathAndQuery: '/a?x=1',
  path: '/a',
}

function evaluate(source: string, more: object = {}): Result {
  const compiled = compile(source, environment)
  assert.ok(compiled.ok, JSON.stringify(compiled))
  return compiled.program.evaluate({ request, ...more })
}

function kindOf(source: string): string {
  const result = evaluate(source)
  return isCelError(result) ? result.kind : `no error: ${JSON.stringify(result)}`
}

function refused(source: string): boolean {
  return !compile(source, environment).ok
}

describe('views of headers', () => {
  const results: Record<string, unknown> = {
    'request.headers["x-tags"]': [' a, b', 'c ,,d'],
    'request.headers.raw()["x-tags"]': [' a, b', 'c ,,d'],
    'request.headers.raw()["X-Team"]': ['red'],
    'request.headers.join()["x-tags"]': ' a, b,c ,,d',
    'request.headers.join()["x-team"]': 'red',
    'request.headers.split()["X-Tags"]': ['a', 'b', 'c', '', 'd'],
    'request.headers.split()["x-team"]': ['red'],
    '"b" in request.headers.split()["x-tags"]': true,
    'request.headers.redacted().authorization': '<redacted>',
    'request.headers.redacted()["cookie"]': '<redacted>',
    'request.headers.redacted()["x-functions-key"]': '<redacted>',
    'request.headers.redacted()["x-tags"]': [' a, b', 'c ,,d'],
    'request.headers.redacted().raw()["x-functions-key"]': ['<redacted>'],
    'request.headers.split().redacted()["x-team"]': ['red'],
    'request.headers.join().split()["x-tags"]': ['a', 'b', 'c', '', 'd'],
    'has(request.headers.raw().missing)': false,
    '"x-team" in request.headers.join()': true,
    'request.headers.raw().exists(name, name == "x-team")': true,
    'size(request.headers.redacted())': 5,
    'default(request.headers.split()["missing"], [])': [],
  }
  for (const [source, expected] of Object.entries(results)) {
    it(source, () => assert.deepEqual(evaluate(source), expected))
  }

  it('a missing header is missing in every view', () => {
    for (const view of ['raw', 'join', 'split', 'redacted']) {
      assert.equal(kindOf(`request.headers.${view}()["missing"]`), 'no_such_key')
    }
  })

  it('lists and texts of the language keep their own join and split', () => {
    assert.equal(evaluate('["a", "b"].join()'), 'ab')
    assert.deepEqual(evaluate('"a-b".split("-")'), ['a', 'b'])
    assert.equal(kindOf('"a".raw()'), 'no_such_overload')
    assert.equal(kindOf('request.path.cookie("a")'), 'no_such_overload')
  })

  it('a wrong number of arguments is refused at load', () => {
    assert.ok(refused('request.headers.raw(1)'))
    assert.ok(refused('request.headers.cookie()'))
    assert.ok(refused('raw(request.headers)'))
  })
})

describe('cookie', () => {
  it('finds a cookie on any line, by its exact name', () => {
    assert.equal(evaluate('request.headers.cookie("theme")'), 'dark')
    assert.equal(evaluate('request.headers.cookie("Theme")'), 'light')
    assert.equal(evaluate('request.headers.cookie("id")'), '7')
    assert.equal(evaluate('request.headers.cookie("empty")'), '')
  })

  it('a missing cookie is an error, also without any cookie', () => {
    assert.equal(kindOf('request.headers.cookie("none")'), 'no_such_key')
    assert.equal(kindOf('request.headers.cookie("odd")'), 'no_such_key')
    assert.equal(evaluate('default(request.headers.cookie("none"), "x")'), 'x')
    const bare = { request: { headers: new Headers({}) } }
    assert.ok(isCelError(evaluate('request.headers.cookie("theme")', bare)))
  })

  it('two cookies with the same value count as one; two that differ are an error', () => {
    assert.equal(evaluate('request.headers.cookie("same")'), '1')
    assert.equal(kindOf('request.headers.cookie("twice")'), 'bad_value')
  })

  it('is named by a text', () => assert.equal(kindOf('request.headers.cookie(1)'), 'no_such_overload'))
})

describe('query', () => {
  const results: Record<string, unknown> = {
    'request.uri.query("x")': ['1', 'é'],
    'request.uri.query("y")': ['a b&'],
    'request.uri.query("flag")': [''],
    'request.pathAndQuery.query("x")[0]': '1',
    'request.pathAndQuery.addQuery("x", "2")': '/a?x=1&x=2',
    'request.path.addQuery("q", "a b&c=d#é")': '/a?q=a%20b%26c%3Dd%23%C3%A9',
    'request.uri.setQuery("x", "2")': 'https://shop.test:8443/a?y=a+b%26&flag&x=2',
    'request.path.setQuery("x", "2")': '/a?x=2',
    '"/a?é=1&b=2".setQuery("é", "2")': '/a?b=2&%C3%A9=2',
    '"/a?é=ü".query("é")': ['ü'],
    '"/a?b=1?c=2".query("b")': ['1?c=2'],
  }
  for (const [source, expected] of Object.entries(results)) {
    it(source, () => assert.deepEqual(evaluate(source), expected))
  }

  it('a missing parameter is missing', () => {
    assert.equal(kindOf('request.uri.query("z")'), 'no_such_key')
    assert.equal(kindOf('request.path.query("x")'), 'no_such_key')
    assert.equal(kindOf('"".query("x")'), 'no_such_key')
  })

  it('takes texts only', () => {
    assert.equal(kindOf('request.headers.query("x")'), 'no_such_overload')
    assert.equal(kindOf('request.uri.query(1)'), 'no_such_overload')
    assert.equal(kindOf('request.uri.addQuery("x", 1)'), 'no_such_overload')
  })

  it('reads back the written parameter, and changes nothing else', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 8 }).map((value) => value.toWellFormed())
    const query = fc.string({ unit: fc.constantFrom(...'ab=&+%2?'.split('')), maxLength: 12 })
    const set = program('request.uri.setQuery(metadata.name, metadata.value)')
    const add = program('request.uri.addQuery(metadata.name, metadata.value)')
    fc.assert(
      fc.property(text, text, query, (name, value, query) => {
        const uri = `/a?${query}`
        const scope = { request: { uri }, metadata: { name, value } }
        const before = parametersOf(uri)
        const afterSet = parametersOf(set(scope))
        assert.deepEqual(afterSet.getAll(name), [value])
        const afterAdd = parametersOf(add(scope))
        assert.deepEqual(afterAdd.getAll(name), [...before.getAll(name), value])
        for (const other of before.keys()) {
          if (other === name) continue
          assert.deepEqual(afterSet.getAll(other), before.getAll(other))
          assert.deepEqual(afterAdd.getAll(other), before.getAll(other))
        }
      }),
      { seed: 5, numRuns: 2000 },
    )
  })

  it('reads what the URL standard reads', () => {
    const query = fc.string({ unit: fc.constantFrom(...'abAF09%%&&==+;?'.split('')), maxLength: 20 })
    const values = program('request.uri.query(metadata.name)')
    fc.assert(
      fc.property(query, (text) => {
        const reference = parametersOf(`/?${text}`)
        for (const name of reference.keys()) {
          assert.deepEqual(values({ request: { uri: `/?${text}` }, metadata: { name } }), reference.getAll(name))
        }
      }),
      { seed: 6, numRuns: 2000 },
    )
  })
})

function program(source: string): (scope: object) => Result {
  const compiled = compile(source, environment)
  assert.ok(compiled.ok)
  return compiled.program.evaluate
}

function parametersOf(target: Result): URLSearchParams {
  assert.ok(typeof target === 'string')
  return new URL(target, 'http://a').searchParams
}
