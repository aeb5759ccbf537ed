import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { loadTests, runTests } from '../../../gateway/src/config-tests/index.ts'
import { printProblem } from '../../../gateway/src/sources/config-file.ts'
import { IMPORT_FILES, printImport } from '../core/print-import.ts'
import { entryLine } from '../core/report.ts'
import { importKong } from './import-kong.ts'
import type { RoutePath } from './route-match.ts'
import { upstreamPath } from './upstream-path.ts'

interface TestRequest {
  readonly path: string
  readonly host?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Outcome = { readonly status: number } | { readonly upstream: string; readonly path?: string }

function importFile(file: object) {
  const result = importKong([{ name: 'kong.yaml', text: stringify({ _format_version: '3.0', ...file }) }])
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

/**
 * Sends requests to a gateway with the imported config. Asserts the status, or the upstream and the path that it got.
 */
async function assertServed(file: object, requests: readonly (readonly [TestRequest, Outcome])[]): Promise<void> {
  const imported = importFile(file)
  const folder = mkdtempSync(join(tmpdir(), 'portico-import-'))
  try {
    const tests = requests.map(([sent, seen], at) => ({
      name: `request ${at}`,
      send: { port: 8000, host: 'any.test', ...sent },
      expect:
        'status' in seen
          ? { status: seen.status, upstream: null }
          : { status: 200, upstream: { address: seen.upstream, ...(seen.path !== undefined && { path: seen.path }) } },
    }))
    const world = { env: imported.behavior.env, upstreams: { '*': { body: 'ok' } } }
    writeFileSync(join(folder, IMPORT_FILES.config), printImport(imported, ['kong.yaml'], 'kong').config)
    writeFileSync(join(folder, IMPORT_FILES.tests), stringify({ config: IMPORT_FILES.config, world, tests }))
    const loaded = loadTests(join(folder, IMPORT_FILES.tests))
    assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
    const run = await runTests(loaded.value, { filter: null })
    assert.ok(run.ok, run.ok ? '' : run.problems.join('\n'))
    const failures = run.results.flatMap(({ name, failures: found }) =>
      found.map(({ differences }) => [name, differences]),
    )
    assert.deepEqual(failures, [])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function service(name: string, rest: object): object {
  return { name, url: `http://${name}.test:80`, ...rest }
}

const PREFIX = (text: string): RoutePath => ({ kind: 'prefix', text })

/**
 * Columns: path of the service, path of the route, `strip_path`, `path_handling`, path of the request, path of the
 * upstream request.
 */
const PATHS: readonly (readonly [string, string, boolean, 'v0' | 'v1', string, string])[] = [
  ['/s', '/a', false, 'v0', '/a/req', '/s/a/req'],
  ['/s', '/a', false, 'v0', '/a', '/s/a'],
  ['/s', '/a', false, 'v1', '/a/req', '/s/a/req'],
  ['/s', '/a', true, 'v0', '/a/req', '/s/req'],
  ['/s', '/a', true, 'v0', '/a', '/s'],
  ['/s', '/a', true, 'v0', '/areq', '/s/req'],
  ['/s', '/a', true, 'v1', '/areq', '/sreq'],
  ['/s', '/a', true, 'v1', '/a', '/s'],
  ['/s', '/a/', true, 'v0', '/a/req', '/s/req'],
  ['/s', '/a/', true, 'v0', '/a/', '/s/'],
  ['/s', '/a/', true, 'v1', '/a/req', '/sreq'],
  ['/s/', '/a', true, 'v0', '/a', '/s'],
  ['/s/', '/a', true, 'v0', '/a/req', '/s/req'],
  ['/s/', '/a', false, 'v1', '/a/req', '/s/a/req'],
  ['', '/a', true, 'v0', '/a', '/'],
  ['', '/a', true, 'v0', '/areq', '/req'],
  ['', '/a', false, 'v0', '/a/req', '/a/req'],
  ['/s', '/', true, 'v0', '/', '/s'],
  ['/s', '/', true, 'v0', '/req', '/s/req'],
  ['/', '/', true, 'v0', '/req', '/req'],
]

test('the path of upstream requests is that of Kong, in the config and in stated behavior', async () => {
  for (const [base, path, isStripped, handling, sent, expected] of PATHS) {
    const found = upstreamPath(PREFIX(path), { base, isStripped, handling })
    assert.ok(typeof found !== 'string')
    assert.equal(found.pathFor?.(sent), expected, `${base} ${path} ${isStripped} ${handling} ${sent}`)
  }
  await assertServed(
    {
      services: PATHS.map(([path, route, strip_path, path_handling], at) =>
        service(`s${at}`, {
          ...(path !== '' && { path, url: undefined, host: `s${at}.test`, port: 80 }),
          routes: [{ hosts: [`h${at}.test`], paths: [route], strip_path, path_handling }],
        }),
      ),
    },
    PATHS.map(([, , , , path, expected], at) => [
      { path: `${path}?a=/b`, host: `h${at}.test` },
      { upstream: `s${at}.test:80`, path: `${expected}?a=/b` },
    ]),
  )
})

test('a pattern is compared with the start of the path, and cut off', async () => {
  await assertServed(
    {
      services: [
        service('whole', { routes: [{ paths: ['~/v\\d+/item$'] }] }),
        service('part', { url: 'http://part.test/base', routes: [{ paths: ['~/(?<lang>[a-z]{2})/shop'] }] }),
      ],
    },
    [
      [{ path: '/v12/item?q=1' }, { upstream: 'whole.test:80', path: '/?q=1' }],
      [{ path: '/v12/items' }, { status: 404 }],
      [{ path: '/de/shop/cart?q=1' }, { upstream: 'part.test:80', path: '/base/cart?q=1' }],
      [{ path: '/de/shop' }, { upstream: 'part.test:80', path: '/base' }],
      [{ path: '/de/shops' }, { upstream: 'part.test:80', path: '/base/s' }],
    ],
  )
})

test('before version 3, a path with signs of patterns is a pattern', async () => {
  const services = [service('one', { routes: [{ paths: ['/v\\d+$'], strip_path: false }] })]
  await assertServed({ _format_version: '2.1', services }, [
    [{ path: '/v7' }, { upstream: 'one.test:80', path: '/v7' }],
    [{ path: '/v' }, { status: 404 }],
  ])
})

test('routes with more conditions come first, then plain hosts, headers, patterns and longer paths', async () => {
  await assertServed(
    {
      services: [
        service('path', { routes: [{ paths: ['/a'] }] }),
        service('longer', { routes: [{ paths: ['/a/b'] }] }),
        service('pattern', { routes: [{ paths: ['~/a/b/\\d'] }] }),
        service('first-pattern', { routes: [{ paths: ['~/a/b/7'], regex_priority: 5 }] }),
        service('method', { routes: [{ methods: ['POST'], paths: ['/a'] }] }),
        service('host', { routes: [{ hosts: ['h.test'] }] }),
        service('wildcard', { routes: [{ hosts: ['*.test'] }] }),
        service('headers', { routes: [{ hosts: ['h.test'], headers: { 'X-Version': ['Beta'] }, methods: ['GET'] }] }),
      ],
    },
    [
      [{ path: '/a/x' }, { upstream: 'path.test:80' }],
      [{ path: '/a/b/x' }, { upstream: 'longer.test:80' }],
      [{ path: '/a/b/1' }, { upstream: 'pattern.test:80' }],
      [{ path: '/a/b/7' }, { upstream: 'first-pattern.test:80' }],
      [{ path: '/a/b/7', method: 'POST' }, { upstream: 'method.test:80' }],
      [{ path: '/z', host: 'h.test' }, { upstream: 'host.test:80' }],
      [{ path: '/z', host: 'w.test' }, { upstream: 'wildcard.test:80' }],
      [{ path: '/z', host: 'h.test', headers: { 'x-version': 'beta' } }, { upstream: 'headers.test:80' }],
      [{ path: '/z', host: 'z.other' }, { status: 404 }],
    ],
  )
})

const CONSUMERS = [
  {
    username: 'alice',
    acls: [{ group: 'staff' }],
    keyauth_credentials: [{ key: 'key-of-alice' }, { key: 'key-two-of-alice' }],
  },
  { username: 'bob', keyauth_credentials: [{ key: 'key-of-bob' }] },
  { username: 'guest' },
]
const key = (value: string) => ({ headers: { apikey: value } })

test('groups, consumers and clients without a consumer pass what Kong lets them pass', async () => {
  const stop = (message: string) => ({ name: 'request-termination', config: { status_code: 410, message } })
  await assertServed(
    {
      services: [
        service('staff', {
          routes: [{ paths: ['/staff'] }],
          plugins: [{ name: 'key-auth' }, { name: 'acl', config: { allow: ['staff'] } }],
        }),
        service('others', {
          routes: [{ paths: ['/others'] }],
          plugins: [{ name: 'key-auth' }, { name: 'acl', config: { deny: ['staff'] } }],
        }),
        service('trial', {
          routes: [{ paths: ['/trial'] }],
          plugins: [{ name: 'key-auth', config: { anonymous: 'guest' } }],
        }),
        service('nobody', {
          routes: [{ paths: ['/nobody'] }],
          plugins: [{ name: 'acl', config: { allow: ['staff'] } }],
        }),
      ],
      consumers: CONSUMERS,
      plugins: [{ ...stop('sign up'), consumer: 'guest' }],
    },
    [
      [{ path: '/staff' }, { status: 401 }],
      [{ path: '/staff', ...key('key-of-alice') }, { upstream: 'staff.test:80' }],
      [{ path: '/staff', ...key('key-two-of-alice') }, { upstream: 'staff.test:80' }],
      [{ path: '/staff', ...key('key-of-bob') }, { status: 403 }],
      [{ path: '/others', ...key('key-of-alice') }, { status: 403 }],
      [{ path: '/others', ...key('key-of-bob') }, { upstream: 'others.test:80' }],
      [{ path: '/trial', ...key('key-of-bob') }, { upstream: 'trial.test:80' }],
      [{ path: '/trial' }, { status: 410 }],
      [{ path: '/trial', ...key('wrong-key-1') }, { status: 401 }],
      [{ path: '/nobody' }, { status: 403 }],
    ],
  )
})

test('the most specific plugin applies, and a disabled one does not hide others', async () => {
  const stop = (status_code: number, rest: object = {}) => ({
    name: 'request-termination',
    config: { status_code },
    ...rest,
  })
  await assertServed(
    {
      services: [
        service('one', {
          plugins: [stop(421)],
          routes: [
            { name: 'of-service', paths: ['/service'] },
            { name: 'of-route', paths: ['/route'], plugins: [stop(422)] },
            { name: 'disabled', paths: ['/disabled'], plugins: [stop(423, { enabled: false })] },
            { name: 'of-both', paths: ['/both'], plugins: [stop(424)] },
          ],
        }),
        service('two', { routes: [{ paths: ['/two'] }], plugins: [{ name: 'key-auth' }] }),
      ],
      consumers: CONSUMERS,
      plugins: [
        stop(425),
        stop(426, { route: 'of-both', service: { name: 'one' } }),
        stop(428, { consumer: 'alice' }),
        stop(429, { consumer: { username: 'bob' }, service: 'two' }),
      ],
    },
    [
      [{ path: '/service' }, { status: 421 }],
      [{ path: '/route' }, { status: 422 }],
      [{ path: '/disabled' }, { status: 421 }],
      [{ path: '/both' }, { status: 426 }],
      [{ path: '/two', ...key('key-of-alice') }, { status: 428 }],
      [{ path: '/two', ...key('key-of-bob') }, { status: 429 }],
      [{ path: '/two' }, { status: 401 }],
    ],
  )
})

test('routes that need TLS redirect, and have a port of their own', () => {
  const { config, report } = importFile({
    services: [
      service('one', {
        routes: [
          { name: 'a', paths: ['/a'], protocols: ['https'], https_redirect_status_code: 308 },
          { name: 'b', paths: ['/b'], protocols: ['https'] },
        ],
      }),
    ],
    certificates: [{ cert: 'PEM', key: 'PEM', snis: [{ name: 'a.test' }] }],
  })
  const { binds } = config as {
    binds: { port: number; listeners: { hostname?: string; routes: { policies: object }[] }[] }[]
  }
  assert.deepEqual(
    binds.map(({ port, listeners }) => [port, listeners.map(({ hostname }) => hostname)]),
    [
      [8000, [undefined]],
      [8443, ['a.test']],
    ],
  )
  const [plain] = binds
  assert.deepEqual(
    plain?.listeners[0]?.routes.map(({ policies }) => Object.keys(policies)),
    [['requestRedirect'], ['directResponse']],
  )
  assert.ok(report.map(entryLine).some((line) => line.includes('write the text to certificates/a.test.pem')))
})

test('an expression closes all routes, because it may take any request', async () => {
  const services = [service('one', { routes: [{ expression: 'http.path == "/x"', priority: 1 }, { paths: ['/a'] }] })]
  await assertServed({ services }, [
    [{ path: '/a' }, { status: 403 }],
    [{ path: '/x' }, { status: 403 }],
  ])
})

test('defaults of decK, shared configs of plugins and lists at the top apply', async () => {
  await assertServed(
    {
      _info: { defaults: { route: { strip_path: false }, service: { path: '/base' } } },
      _plugin_configs: { gone: { status_code: 410 } },
      services: [{ name: 'one', host: 'one.test' }],
      routes: [
        { name: 'kept', service: 'one', paths: ['/kept'] },
        {
          name: 'gone',
          service: { name: 'one' },
          paths: ['/gone'],
          plugins: [{ name: 'request-termination', _config: 'gone' }],
        },
      ],
    },
    [
      [{ path: '/kept/x' }, { upstream: 'one.test:80', path: '/base/kept/x' }],
      [{ path: '/gone' }, { status: 410 }],
    ],
  )
})
