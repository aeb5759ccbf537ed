import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { checkCompile } from './check.ts'

function problemsOf(yaml: string): string[] {
  const loaded = loadConfig(yaml, { file: 'gateway.yaml', dir: '.', env: {} })
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
