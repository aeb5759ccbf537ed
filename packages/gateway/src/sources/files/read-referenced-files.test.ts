import assert from 'node:assert/strict'
import { test } from 'node:test'
import { list, map, object, Refusal } from '../../schema/kit.ts'
import type { Problem } from '../../schema/problem.ts'
import { backendName, backendReference, backendUrl, secret, textFile } from '../../schema/fields/references.ts'
import { string } from '../../schema/fields/values.ts'
import { validate } from '../../schema/validate.ts'
import { backendsOf, checkBackendNames } from '../check/backend-references.ts'
import { readReferencedFiles } from './read-referenced-files.ts'
import { findReferences, isTo } from '../check/references.ts'
import { reporter } from '../check/report.ts'
import { Spot } from '../check/tree.ts'

const upper = (text: string) =>
  text.startsWith('bad') ? new Refusal('bad_format', { detail: 'bad text' }) : text.toUpperCase()
const config = object({
  note: string({ max: 100 }).optional(),
  one: secret('a secret', upper).optional(),
  files: list(textFile('a text', upper), { max: 5 }).optional(),
  named: map(object({ secretRef: secret('a secret', upper).optional() }), { max: 5 }).optional(),
})

const files: Record<string, string> = {
  '/etc/a': 'alpha\n',
  '/etc/b': 'beta',
  '/run/c': 'gamma\r\n',
  '/etc/bad': 'bad\n',
}

function read(input: object, env: Record<string, string> = {}) {
  const reads: string[] = []
  const found = findReferences(config, new Spot(input))
  const result = readReferencedFiles(found.filter(isTo('contents')), {
    dir: '/etc',
    env,
    absentPem: null,
    readFile(path) {
      reads.push(path)
      const text = files[path]
      if (text === undefined) throw new Error('ENOENT')
      return text
    },
  })
  const validated = validate(config, input)
  assert.ok(validated.ok)
  result.fillIn(validated.value)
  return { reads, value: validated.value, files: result.files, problems: result.problems.map(print) }
}

const print = ({ code, path, found, expected }: Problem) => `${code} ${path.join('.')}: ${found}, expected ${expected}`

test('files and variables are put in the place of their names, wherever those stand', () => {
  const { value, reads, files } = read(
    {
      note: 'a',
      one: { file: 'a' },
      files: ['b', '/run/c', 'a'],
      named: { x: { secretRef: { env: 'TOKEN' } }, y: {} },
    },
    { TOKEN: 'tok' },
  )
  assert.deepEqual(value, {
    note: 'a',
    one: 'ALPHA',
    files: ['BETA', 'GAMMA\r\n', 'ALPHA\n'],
    named: { x: { secretRef: 'TOK' }, y: {} },
  })
  assert.deepEqual(reads, ['/etc/a', '/etc/b', '/run/c'], 'each file is read once')
  assert.deepEqual(files, ['/etc/a', '/etc/b', '/run/c'])
})

test('a file that cannot be read is a problem with its location', () => {
  const { problems, files } = read({
    one: { env: 'TOKEN' },
    files: ['missing', 'bad'],
    named: { x: { secretRef: { file: 'missing' } } },
  })
  assert.deepEqual(problems, [
    'unset_variable one: found `TOKEN`, but the variable is not set, expected an environment variable',
    'unreadable_file files.0: found no readable file /etc/missing (ENOENT), expected a text',
    'bad_format files.1: found bad text, expected a text',
    'unreadable_file named.x.secretRef: found no readable file /etc/missing (ENOENT), expected a secret',
  ])
  assert.deepEqual(files, ['/etc/missing', '/etc/bad'], 'a missing file is watched too')
})

test('other forms of a secret are refused', () => {
  for (const one of ['text', {}, { file: 'a', env: 'B' }, { file: '' }, { env: 'a b' }, { path: 'a' }, null, []]) {
    const result = validate(config, { one })
    assert.ok(!result.ok, JSON.stringify(one))
    assert.equal(result.problems[0]!.expected, '`{file: path}` or `{env: NAME}`')
  }
})

test('inputs of the wrong shape are passed over', () => {
  for (const input of [{ one: 5, files: {}, named: [] }, [], 'text', null]) {
    const found = findReferences(config, new Spot(input))
    const options = { dir: '/', env: {}, readFile: () => assert.fail('nothing to read'), absentPem: null }
    assert.deepEqual(readReferencedFiles(found.filter(isTo('contents')), options).files, [])
  }
})

const policy = object({
  mirror: backendReference().optional(),
  keys: backendUrl().optional(),
  proxy: backendName({ fixed: true }).optional(),
})

test('backends are named, or made of an address or a URL', () => {
  const input = { mirror: '127.0.0.1:9', keys: 'https://idp.test/keys?a=1', proxy: 'squid' }
  const validated = validate(policy, input)
  assert.ok(validated.ok)
  assert.deepEqual(validated.value, {
    mirror: 'host/127.0.0.1:9',
    keys: { backend: 'url/https://idp.test:443', authority: 'idp.test', path: '/keys?a=1' },
    proxy: 'backend/squid',
  })
  const found = findReferences(policy, new Spot(input)).filter(isTo('backend'))
  assert.deepEqual(backendsOf([...found, ...found]), [
    {
      backend: { key: 'host/127.0.0.1:9', name: '127.0.0.1:9', target: { kind: 'static', host: '127.0.0.1', port: 9 } },
      policies: undefined,
    },
    {
      backend: {
        key: 'url/https://idp.test:443',
        name: 'idp.test:443',
        target: { kind: 'static', host: 'idp.test', port: 443 },
      },
      policies: { tls: {} },
    },
  ])
})

test('a backend that is named must exist, and lead to one place where that is needed', () => {
  const problems: Problem[] = []
  const backends = new Map([
    ['squid', new Spot({ static: {} })],
    ['open', new Spot({ dynamicForwardProxy: {} })],
  ])
  const check = (input: object) =>
    checkBackendNames(findReferences(policy, new Spot(input)).filter(isTo('backend')), backends, reporter(problems))
  check({ mirror: 'open', proxy: 'squid', keys: 'http://nowhere/' })
  assert.deepEqual(problems, [])
  check({ mirror: 'squit', proxy: 'open' })
  assert.deepEqual(problems.map(print), [
    'unknown_reference mirror: found no backend named `squit`, expected the name of a backend in the top-level `backends`',
    'conflict proxy: found a dynamic forward proxy, expected a fixed destination',
  ])
  assert.ok(problems.some(({ suggestion }) => suggestion === 'did you mean `squid`?'))
})

test('URLs are taken apart, or refused', () => {
  const read = (url: string) => {
    const result = validate(backendUrl(), url)
    return result.ok ? result.value : null
  }
  const of = (backend: string, authority: string, path: string) => ({ backend, authority, path })
  assert.deepEqual(read('http://A.test:8080'), of('url/http://a.test:8080', 'a.test:8080', '/'))
  assert.deepEqual(read('HTTPS://[::1]:443/x'), of('url/https://[::1]:443', '[::1]', '/x'))
  assert.deepEqual(read('http://10.0.0.1?q'), of('url/http://10.0.0.1:80', '10.0.0.1', '/?q'))
  for (const url of [
    'ftp://a/',
    'http://',
    'http://a b/',
    'http://u:p@a/',
    'http://a/#x',
    'http://a:0/',
    'http://::1/',
    'a.test',
    'http://a/\n',
  ]) {
    assert.equal(read(url), null, url)
  }
})
