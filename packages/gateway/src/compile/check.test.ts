import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { type LoadOptions, loadConfig } from '../sources/file.ts'
import type { Json } from '@portico/http/json'
import { createAuthority } from '../testing/certificates.ts'
import { checkCompile } from './check.ts'
import '../testing/all-features.ts'

function problemsOf(yaml: string, readFile?: LoadOptions['readFile']): string[] {
  const loaded = loadConfig(yaml, { file: 'gateway.yaml', dir: '.', env: {}, ...(readFile && { readFile }) })
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems))
  return checkCompile(loaded.ir).map(loaded.explain)
}

const SEVERAL = `
policies:
- name: keys
  targetRefs: [{ kind: Gateway, name: default }]
  traffic:
    apiKeyAuthentication:
      secretRef:
        data:
          alice: a-key-of-alice
          bob: a-key-of-bob
          carol: a-key-of-alice
          dave: a-key-of-bob
backends:
- name: unused
  static: { host: 127.0.0.1, port: 1 }
  policies:
    tunnel: { backendRef: { name: proxy } }
- name: proxy
  static: { host: 127.0.0.1, port: 2 }
  policies:
    tunnel: { backendRef: { name: other } }
- name: other
  static: { host: 127.0.0.1, port: 3 }
- name: anywhere
  dynamicForwardProxy: {}
  policies:
    auth: { gcp: {} }
binds:
- port: 8080
  listeners:
  - routes:
    - name: one
      policies:
        basicAuthentication:
          users: ["a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", "a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="]
      backends:
      - host: unix:/run/app.sock
        policies:
          tunnel: { backendRef: { name: other } }
    - name: two
      matches: [{ path: { exact: /two } }]
      backends: [{ host: "127.0.0.1:1" }]
`

test('everything that shows only when a config is put together is told at once, with its place', () => {
  assert.deepEqual(problemsOf(SEVERAL).toSorted(), [
    'gateway.yaml:11:11: policies[0].traffic.apiKeyAuthentication.secretRef.data.carol: found the key of "alice" a second time, as "carol", expected each key once',
    'gateway.yaml:12:11: policies[0].traffic.apiKeyAuthentication.secretRef.data.dave: found the key of "bob" a second time, as "dave", expected each key once',
    'gateway.yaml:21:5: backends[1].policies.tunnel: found a tunnel of proxy, which is the proxy of unused, expected one tunnel, because tunnels do not nest',
    'gateway.yaml:27:5: backends[3].policies.auth: found `auth` of a cloud for hosts that clients name, expected a backend whose host the config names',
    'gateway.yaml:35:58: binds[0].listeners[0].routes[0].policies.basicAuthentication.users[1]: found user "a" a second time, expected each user once',
    'gateway.yaml:39:11: binds[0].listeners[0].routes[0].backends[0].policies.tunnel: found a tunnel for unix:/run/app.sock, expected a host and port: a socket file cannot be reached through a tunnel',
  ])
})

test('a route behind a listener that is at fault is looked at too', () => {
  const twice = (indent: string) =>
    ['apiKeyAuthentication:', '  secretRef: { data: { a: the-same-key, b: the-same-key } }'].join(`\n${indent}`)
  const problems = problemsOf(`
binds:
- port: 8080
  listeners:
  - policies:
      phase: PreRouting
      ${twice('      ')}
    routes:
    - policies:
        ${twice('        ')}
      backends: [{ host: "127.0.0.1:1" }]
`)
  assert.deepEqual(
    problems.map((problem) => problem.split(': ', 1)[0]),
    ['gateway.yaml:8:47', 'gateway.yaml:12:49'],
  )
})

test('loops of tunnels are found, those of proxies for the whole gateway are none', () => {
  const backends = (proxyOf: Record<string, string | null>) =>
    Object.entries(proxyOf).map(([name, proxy]) => ({
      name,
      static: { host: '127.0.0.1', port: 1 },
      ...(proxy !== null && { policies: { tunnel: { backendRef: { name: proxy } } } }),
    }))
  const loop = problemsOf(JSON.stringify({ backends: backends({ a: 'b', b: 'a' }), binds: [] }))
  assert.match(loop.join('\n'), /backends\[1\]\.policies\.tunnel: found a tunnel of b, which is the proxy of a/)
  const own = problemsOf(JSON.stringify({ backends: backends({ a: 'a' }), binds: [] }))
  assert.match(own.join('\n'), /backends\[0\]\.policies\.tunnel: found a tunnel of a, which is the proxy of a/)
  const everywhere = { name: 'out', targetRefs: [{ kind: 'Gateway', name: 'default' }] }
  const policies = [{ ...everywhere, backend: { tunnel: { backendRef: { name: 'a' } } } }]
  assert.deepEqual(problemsOf(JSON.stringify({ policies, backends: backends({ a: null, b: null }), binds: [] })), [])
})

test('TLS that cannot be set up is told of for every listener and backend, with its place', () => {
  const weak = createAuthority().issue({ keyType: 'weak' })
  const listener = (name: string) => `
  - name: ${name}
    protocol: HTTPS
    hostname: ${name}.test
    tls:
      cert: weak.crt
      key: weak.key
    routes: [{ policies: { directResponse: { status: 200 } } }]`
  const yaml = `binds:
- port: 8443
  listeners:${listener('one')}${listener('two')}
backends:
- name: api
  static: { host: 127.0.0.1, port: 1 }
  policies:
    tls:
      mtlsCertificateRef: { cert: weak.crt, key: weak.key }
`
  const why = 'found a pair of certificate and key that TLS refuses (ee key too small), expected valid TLS settings'
  assert.deepEqual(
    problemsOf(yaml, (path) => (path.endsWith('.key') ? weak.key : weak.cert)),
    [
      `gateway.yaml:8:7: binds[0].listeners[0].tls.cert: ${why}`,
      `gateway.yaml:15:7: binds[0].listeners[1].tls.cert: ${why}`,
      `gateway.yaml:23:7: backends[0].policies.tls.mtlsCertificateRef: ${why}`,
    ],
  )
})

test('a policy of TLS that fits no client is told of where it stands', () => {
  const certificate = createAuthority().issue()
  const yaml = `frontend:
  tls: { maxProtocolVersion: "1.2", cipherSuites: [TLS13_AES_128_GCM_SHA256] }
binds:
- port: 8443
  listeners:
  - { protocol: HTTPS, tls: { cert: a.crt, key: a.key }, routes: [{ policies: { directResponse: { status: 200 } } }] }
`
  const [problem, ...others] = problemsOf(yaml, (path) => (path.endsWith('.key') ? certificate.key : certificate.cert))
  assert.match(problem ?? '', /^gateway\.yaml:2:3: frontend\.tls: found cipherSuites lists none/)
  assert.deepEqual(others, [])
})

/** A duplicate key, which only shows when the policy is compiled. */
const TWICE = 'apiKeyAuthentication: { secretRef: { data: { a: the-same-key, b: the-same-key } } }'

test('errors in other parts hide no error', () => {
  const yaml = `frontend:
  nonsense: 1
backends:
- name: broken
  static: { host: "", port: 0 }
- name: anywhere
  dynamicForwardProxy: {}
  policies:
    auth: { gcp: {} }
binds:
- port: 70000
  listeners:
  - hostname: "***"
    protocol: HTTPS
    tls: { cert: gone.crt, key: gone.key }
    policies:
      cors: { allowOrigins: 5 }
      ${TWICE}
    routes:
    - name: one
      backends: [{ backend: nobody }]
    - name: two
      matches: [{ path: { exact: /two } }]
      policies:
        cors: { allowOrigin: "*" }
        ${TWICE}
      backends: [{ backend: broken }]
`
  const loaded = loadConfig(yaml, { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(!loaded.ok && loaded.rest, 'nothing is left')
  assert.deepEqual(
    checkCompile(loaded.rest.ir)
      .map(loaded.rest.explain)
      .map((problem) => problem.split(': ', 2).join(' ')),
    [
      'gateway.yaml:18:69 binds[0].listeners[0].policies.apiKeyAuthentication.secretRef.data.b',
      'gateway.yaml:26:71 binds[0].listeners[0].routes[1].policies.apiKeyAuthentication.secretRef.data.b',
      'gateway.yaml:9:5 backends[1].policies.auth',
    ],
  )
})

test('whatever else is broken, what is told of the rest is true of the whole', () => {
  const whole = parse(SEVERAL) as Json
  const told = (config: Json): string[] | null => {
    const loaded = loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
    const checkable = loaded.ok ? loaded : loaded.rest
    if (!checkable) return null
    const faults = checkCompile(checkable.ir).filter(({ part }) => part !== null)
    return faults.map((fault) => checkable.explain(fault).split(': ')[1] ?? '')
  }
  const truth = new Set(told(whole))
  assert.equal(truth.size, 6)
  const paths = pathsIn(whole)
  const garbage = fc.constantFrom<Json>(null, -1, [], {}, [{}], { x: 1 })
  let [runs, left] = [0, 0]
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...paths), garbage), { minLength: 1, maxLength: 3 }), (breaks) => {
      const config = structuredClone(whole)
      for (const [path, value] of breaks) replaceAt(config, path, structuredClone(value))
      const found = told(config)
      runs++
      if (found === null) return
      left++
      assert.deepEqual(
        found.filter((path) => !truth.has(path)),
        [],
      )
    }),
    { numRuns: 300, seed: 7 },
  )
  assert.ok(left >= Math.floor(runs / 2), `something was left of ${left} of ${runs}`)
})

type Path = readonly (string | number)[]

function pathsIn(value: Json, path: Path = []): Path[] {
  const here = path.length === 0 ? [] : [path]
  if (typeof value !== 'object' || value === null) return here
  const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [...here, ...entries.flatMap(([step, child]) => pathsIn(child, [...path, step]))]
}

/** Replaces the value at a path; does nothing when an earlier change removed that path. */
function replaceAt(root: Json, path: Path, value: Json): void {
  let owner: unknown = root
  for (const step of path.slice(0, -1)) owner = (owner as Record<string | number, unknown> | null)?.[step]
  if (typeof owner === 'object' && owner !== null)
    (owner as Record<string | number, unknown>)[path.at(-1) ?? ''] = value
}
