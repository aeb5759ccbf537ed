import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { dyn, headers, present, struct } from './declarations.ts'
import { createEnvironment } from './environment.ts'
import { CelError, isCelError, isMissing } from './error.ts'
import { compile } from './program.ts'
import { evaluate, show } from './testing/evaluate.ts'
import { Double, HeadersView, MapView, Opaque } from './value.ts'
import type { Result, Value } from './value.ts'

const reads: string[] = []

class Headers extends HeadersView {
  get(name: string): string | readonly string[] | undefined {
    reads.push(`header ${name}`)
    return name === 'x-team' ? 'a' : name === 'via' ? ['1.1 a', '1.1 b'] : undefined
  }

  keys(): Iterable<string> {
    return ['x-team', 'via']
  }
}

class Request {
  get path(): string {
    reads.push('path')
    return '/v1'
  }

  get body(): Uint8Array {
    reads.push('body')
    return new TextEncoder().encode('{"model": "m"}')
  }

  get headers(): Headers {
    return new Headers()
  }
}

class Scope {
  readonly #jwt: Value | undefined

  constructor(jwt?: Value) {
    this.#jwt = jwt
  }

  get request(): Request {
    return new Request()
  }

  get jwt(): Value | undefined {
    reads.push('jwt')
    return this.#jwt
  }

  get response(): undefined {
    return undefined
  }
}

const environment = createEnvironment({
  variables: {
    request: struct({ path: present, body: dyn, headers }),
    response: struct({ code: present, headers }, { optional: true }),
    jwt: dyn,
  },
})

const run = (source: string, jwt?: Value): Result => evaluate(source, new Scope(jwt), environment)
const text = (source: string, jwt?: Value): string => show(source, new Scope(jwt), environment)
const kind = (result: Result): string => (isCelError(result) ? result.kind : 'a value')

describe('cel: lazy reads', () => {
  const cases: readonly (readonly [source: string, read: string[]])[] = [
    ['request.path == "/v1"', ['path']],
    ['request.path == "/v1" || request.body == b""', ['path']],
    ['request.path != "/v1" && jwt.sub == "a"', ['path']],
    ['request.path == "/v1" ? 1 : size(request.body)', ['path']],
    ['request.headers["X-TEAM"] == "a"', ['header x-team']],
    ['default(request.path, request.body)', ['path']],
    ['coalesce(request.path, request.body)', ['path']],
    ['request.?path.orValue(string(request.body))', ['path']],
    ['has(request.body) && true', ['body']],
    ['[1, 2].exists(v, v == 1 || request.path == "")', []],
  ]
  for (const [source, expected] of cases) {
    it(source, () => {
      const compiled = compile(source, environment)
      assert.ok(compiled.ok)
      // Code is generated after the first evaluations.
      for (let i = 0; i < 100; i++) {
        reads.length = 0
        compiled.program.evaluate(new Scope())
        assert.deepEqual(reads, expected)
      }
    })
  }
})

describe('cel: absent values', () => {
  it('an absent variable is null, and has no fields', () => {
    assert.equal(run('jwt'), null)
    assert.equal(run('jwt == null'), true)
    assert.equal(run('has(jwt.sub)'), false)
    assert.equal(kind(run('jwt.sub')), 'no_such_key')
    assert.equal(kind(run('jwt["sub"]')), 'no_such_key')
    assert.equal(kind(run('jwt.sub.deep')), 'no_such_key')
    assert.equal(run('response == null'), true)
    assert.equal(kind(run('response.code')), 'no_such_key')
    assert.equal(run('has(response.code)'), false)
    assert.equal(run('has(response.headers["a"])'), false)
    assert.equal(kind(run('response.headers["a"]')), 'no_such_key')
  })

  it('errors are values with a kind, a message and a position', () => {
    const result = run('request.path == "/v1" &&\n jwt.sub == "a"')
    assert.ok(result instanceof CelError)
    assert.deepEqual(result, new CelError('no_such_key', 'no such key: jwt.sub', 30))
    const missing = run('response.code > 1')
    assert.ok(isMissing(missing) && missing instanceof CelError)
    assert.equal(missing.message, 'no such key: response.code')
  })

  it('default replaces null and missing values, nothing else', () => {
    assert.equal(run('default(jwt.sub, "d")'), 'd')
    assert.equal(run('default(jwt, "d")'), 'd')
    assert.equal(run('default(jwt.a.b.c, "d")', { a: {} }), 'd')
    assert.equal(run('default(jwt.sub, "d")', { sub: null }), 'd')
    assert.equal(run('default(jwt.sub, "d")', { sub: 'u' }), 'u')
    assert.equal(run('default(jwt.sub, "d")', { sub: '' }), '')
    assert.equal(run('default(response.code, 1)'), 1)
    assert.equal(run('default(request.headers["none"], "d")'), 'd')
    assert.equal(kind(run('default(jwt.sub + 1, "d")', { sub: 'u' })), 'no_such_overload')
    assert.equal(kind(run('default(1 / 0, 2)')), 'divide_by_zero')
    assert.equal(kind(run('default(fail("x"), 2)')), 'failed')
    assert.equal(kind(run('default([1][5], 2)')), 'bad_index')
  })

  it('coalesce takes the first value that is there, whatever the errors', () => {
    assert.equal(run('coalesce(jwt.sub, 1 / 0, null, "c", fail())'), 'c')
    assert.equal(run('coalesce(jwt.sub, jwt)'), null)
    assert.equal(run('coalesce(false, true)'), false)
  })

  it('&& and || absorb errors of sides that do not decide', () => {
    assert.equal(run('jwt.sub == "a" || true'), true)
    assert.equal(run('jwt.sub == "a" && false'), false)
    assert.equal(kind(run('jwt.sub == "a" || false')), 'no_such_key')
    assert.equal(kind(run('true && jwt.sub == "a"')), 'no_such_key')
    assert.equal(run('false || 1 / 0 == 1 || true'), true)
    assert.equal(kind(run('jwt.sub ? 1 : 2')), 'no_such_key')
    assert.equal(kind(run('"x" && true')), 'no_such_overload')
  })
})

describe('cel: headers', () => {
  it('are looked up in any case; several lines are a list', () => {
    assert.equal(run('request.headers["X-Team"]'), 'a')
    assert.equal(run('request.headers.VIA[1]'), '1.1 b')
    assert.equal(run('request.headers[jwt.name]', { name: 'X-TEAM' }), 'a')
    assert.equal(run('"X-Team" in request.headers'), true)
    assert.equal(run('has(request.headers["VIA"])'), true)
    assert.equal(run('request.headers.map(name, name)[0]'), 'x-team')
    assert.equal(run('request.headers.exists(name, lines, name == "via" && size(lines) == 2)'), true)
    assert.equal(kind(run('request.headers["none"]')), 'no_such_key')
    assert.equal(run('cel.bind(h, request.headers, h["X-TEAM"])'), 'a')
    assert.equal(run('toJson(request.headers)'), '{"x-team":"a","via":["1.1 a","1.1 b"]}')
  })
})

describe('cel: structs', () => {
  it('become maps of their declared fields when used whole', () => {
    assert.equal(text('type(request)'), 'type map')
    assert.equal(run('request[jwt.field]', { field: 'path' }), '/v1')
    assert.equal(kind(run('request[jwt.field]', { field: 'constructor' })), 'no_such_key')
    assert.equal(run('request.map(k, k).join(",")'), 'path,body,headers')
    assert.equal(run('cel.bind(r, request, json(r.body).model)'), 'm')
    assert.equal(run('variables().request.path'), '/v1')
    assert.equal(run('variables().exists(k, k == "jwt" || k == "response")'), false)
  })
})

describe('cel: ints and doubles', () => {
  it('numbers of JSON are ints when they are whole', () => {
    assert.equal(text('jwt.exp + 60', { exp: 1_900_000_000 }), 'int 1900000060')
    assert.equal(text('jwt.share + 0.5', { share: 1.5 }), 'double 2')
    assert.equal(text('jwt.x', { x: new Double(1) }), 'double 1')
    assert.equal(kind(run('jwt.exp + 0.5', { exp: 1 })), 'no_such_overload')
    assert.equal(text('jwt.n * 3', { n: Number.MAX_SAFE_INTEGER }), 'int 27021597764222973')
    assert.equal(text('(jwt.n * 3) / 3', { n: Number.MAX_SAFE_INTEGER }), `int ${Number.MAX_SAFE_INTEGER}`)
    assert.equal(kind(run('jwt.n * jwt.n', { n: Number.MAX_SAFE_INTEGER })), 'overflow')
    assert.equal(run('jwt.a == 1 && jwt.a == 1.0 && jwt.a == 1u', { a: 1 }), true)
  })
})

describe('cel: functions of the host', () => {
  class Token extends Opaque {
    readonly typeName = 'token'

    toText(): string {
      return '<token>'
    }

    equals(other: Value): boolean {
      return other === this
    }
  }
  class Labels extends MapView {
    get(key: string): Value | undefined {
      return key === 'team' ? 'a' : undefined
    }

    keys(): Iterable<string> {
      return ['team']
    }
  }
  const withFunctions = createEnvironment({
    variables: { token: dyn, labels: dyn },
    functions: [
      { name: 'twice', style: 'global', minArgs: 1, maxArgs: 1, summary: '', call: (value: Value) => [value, value] },
      { name: 'isError', style: 'global', minArgs: 1, maxArgs: 1, summary: '', strict: false, call: isCelError },
      { name: 'join', style: 'receiver', minArgs: 0, maxArgs: 0, summary: '', on: Labels, call: () => 'labels' },
      { name: 'open', style: 'receiver', minArgs: 0, maxArgs: 0, summary: '', on: Token, call: () => 'opened' },
      {
        name: 'here',
        style: 'global',
        minArgs: 0,
        maxArgs: 0,
        summary: '',
        scoped: true,
        call: (scope: { place: string }) => scope.place,
      },
      {
        name: 'boom',
        style: 'global',
        minArgs: 0,
        maxArgs: 0,
        summary: '',
        call: () => {
          throw new TypeError('data')
        },
      },
      { name: 'size', style: 'global', minArgs: 1, maxArgs: 1, summary: '', call: () => 42 },
    ],
  })
  const scope = { token: new Token(), labels: new Labels(), place: 'home' }
  const shown = (source: string): string => show(source, scope, withFunctions)

  it('are strict unless they say otherwise', () => {
    assert.equal(shown('twice(1)'), '[int 1, int 1]')
    assert.match(shown('twice(1 / 0)'), /divide_by_zero/)
    assert.equal(shown('isError(1 / 0)'), 'true')
    assert.equal(shown('isError(token.x)'), 'true')
    assert.equal(shown('isError(1)'), 'false')
  })

  it('methods belong to their host class', () => {
    assert.equal(shown('labels.join()'), '"labels"')
    assert.equal(shown('["a", "b"].join()'), '"ab"')
    assert.equal(shown('token.open()'), '"opened"')
    assert.match(shown('"x".open()'), /no_such_overload .*string\.open/)
    assert.match(shown('labels.none.open()'), /no_such_key/)
    assert.equal(shown('labels.team'), '"a"')
    assert.equal(shown('string(token)'), '"<token>"')
    assert.equal(shown('type(token) == type(token) && token == token && token != labels'), 'true')
  })

  it('may get the scope, may replace one of ours, may throw', () => {
    assert.equal(shown('here()'), '"home"')
    assert.equal(shown('size([1])'), 'int 42')
    assert.equal(shown('boom()'), 'internal (evaluation threw TypeError)')
  })
})

describe('cel: programs', () => {
  it('run without generated code where that is forbidden', () => {
    const program = `
      import { compile, createEnvironment, dyn } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      const { program } = compile('x.exists(v, v == 2) && [1].map(v, v + 1) == [2]', createEnvironment({ variables: { x: dyn } }))
      for (let i = 0; i < 100; i++) program.evaluate({ x: [1, 2] })
      console.log(program.evaluate({ x: [1, 2] }), program.evaluate({ x: [1] }))
    `
    const args = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', program]
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    assert.equal(stdout, 'true false\n', stderr)
  })

  it('have their source and references, and `evaluate` works detached', () => {
    const compiled = compile('jwt.sub == "a"', environment)
    assert.ok(compiled.ok)
    const { source, references, evaluate: alone } = compiled.program
    assert.equal(source, 'jwt.sub == "a"')
    assert.deepEqual(references, [{ path: ['jwt', 'sub'], offset: 4, guarded: false }])
    assert.equal(alone(new Scope({ sub: 'a' })), true)
    assert.equal(alone(new Scope({ sub: 'b' })), false)
  })

  it('give the same results before and after code is generated', () => {
    const compiled = compile('jwt.sub == "a" ? request.path : jwt.sub', environment)
    assert.ok(compiled.ok)
    const { program } = compiled
    const first = program.evaluate
    for (let i = 0; i < 100; i++) {
      assert.equal(program.evaluate(new Scope({ sub: 'a' })), '/v1')
      assert.equal(first(new Scope({ sub: 'b' })), 'b')
    }
    assert.notEqual(program.evaluate, first)
  })

  it('are not created for expressions with problems', () => {
    const compiled = compile('jwt.', environment)
    assert.ok(!compiled.ok)
    assert.equal(compiled.problems.length, 1)
  })
})
