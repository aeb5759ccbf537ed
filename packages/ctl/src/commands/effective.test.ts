import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { redact } from '../../../gateway/src/redaction/redact.ts'
import { readCase, readCases, translateAll } from '../../../translate/src/testing/golden.ts'
import { effectivePolicies } from '../effective/effective.ts'
import { listOf, podOf, PODS, useFakeCluster } from '../testing/fake-cluster.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

function irOf(name: string) {
  const resources = readCase(name)
  return translateAll([...resources]).gateways.get('shop/web') ?? assert.fail('there is no Gateway')
}

describe('effective policies', () => {
  test('have an origin: Gateway, route, or rule', () => {
    const { listeners } = effectivePolicies(irOf('traffic-policies/rule-by-name'), null)
    const held = listeners.flatMap(({ routes }) =>
      routes.map(({ rule, traffic }) => [rule ?? '', Object.keys(traffic)]),
    )
    assert.ok(
      held.some(([, names]) => (names ?? []).length > 0),
      JSON.stringify(held),
    )
    const [origin] = listeners.flatMap(({ routes }) =>
      routes.flatMap(({ traffic }) => Object.values(traffic).map(({ from }) => from)),
    )
    assert.match(origin ?? '', /^policy shop\/\w+, on rule bind\//)
  })

  test('for backends are listed at each backend', () => {
    const { listeners } = effectivePolicies(irOf('backend-policies/service-port'), null)
    const backends = listeners.flatMap(({ routes }) => routes.flatMap((route) => route.backends))
    const origins = backends.flatMap(({ policies }) => Object.values(policies).map(({ from }) => from))
    assert.ok(origins.length > 0)
    for (const origin of origins) assert.match(origin, /^policy shop\/\w+, on backend backend\/service\/shop\//)
  })

  test('have an origin in every case', () => {
    for (const { name, resources } of readCases()) {
      for (const ir of translateAll([...resources]).gateways.values()) {
        const { frontend, listeners } = effectivePolicies(ir, null)
        const held = [
          frontend,
          ...listeners.flatMap(({ preRouting, routes }) => [
            preRouting,
            ...routes.flatMap(({ traffic, backends }) => [traffic, ...backends.map(({ policies }) => policies)]),
          ]),
        ]
        for (const [policy, { from }] of held.flatMap((each) => Object.entries(each))) {
          assert.notEqual(from, '', `${policy} of ${name}`)
        }
      }
    }
  })
})

describe('effective', () => {
  const dump = redact({ version: '1', generation: 7, ...irOf('traffic-policies/rule-by-name') })
  const json = JSON.stringify(dump)

  test('asks a standalone gateway', async (t) => {
    const asked: string[] = []
    const port = await useServer(t, (request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.end(json)
    })
    const args = ['effective', '--local', '--admin', `127.0.0.1:${port}`, '--admin-token', 'of-ann', '-o', 'json']
    const { code, stdout, stderr } = await runCommand(args)
    assert.equal(code, 0, stderr)
    assert.deepEqual(asked, ['GET /config_dump Bearer of-ann'])
    const shown = JSON.parse(stdout) as { generation: number; listeners: { routes: { route: string }[] }[] }
    assert.deepEqual([shown.generation, shown.listeners.length], [7, 1])
  })

  test('asks a Pod of a Gateway, for one route alone', async (t) => {
    const hosts: (string | undefined)[] = []
    const port = await useServer(t, (request, response) => {
      hosts.push(request.headers.host)
      response.end(json)
    })
    const objects = { [PODS]: listOf(podOf('web-1')) }
    const cluster = await useFakeCluster(t, { objects, ports: { 'web-1:15000': port } })
    const args = ['effective', 'gateway/web', '--kubeconfig', cluster.kubeconfig, '--route']
    const [route] = irOf('traffic-policies/rule-by-name').routes
    const { code, stdout, stderr } = await runCommand([...args, route?.name ?? ''])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^gateway: Pod shop\/web-1\nversion: "1"\ngeneration: 7\n/)
    assert.deepEqual(hosts, ['localhost:15000'])
    const missing = await runCommand([...args, 'nothing'])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /Pod shop\/web-1 has no route nothing, but shop\//)
  })

  test('reports why the gateway could not be read', async (t) => {
    const other = await useServer(t, (_request, response) => response.end('{}'))
    const guarded = await useServer(t, (_request, response) => response.writeHead(401).end())
    const cases: [string[], number, RegExp][] = [
      [['--local', '--admin', `127.0.0.1:${other}`], 1, /did not return a config/],
      [['--local', '--admin', `127.0.0.1:${guarded}`], 1, /requires a token/],
      [['--local', '--admin', '127.0.0.1:1'], 1, /nothing listens on the admin address/],
      [['--local', '-o', 'xml'], 2, /found output "xml"/],
      [['--local', '--admin-token', 'a b'], 2, /the admin token may hold/],
      [[], 2, /name a Gateway of the cluster/],
      [['httproute/x'], 2, /found "httproute\/x", expected gateway\/<name>/],
    ]
    for (const [args, code, problem] of cases) {
      const ended = await runCommand(['effective', ...args])
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, problem)
    }
  })
})

describe('effective of a file', () => {
  const config = `policies:
- name: wide
  targetRefs: [{ kind: Route, name: orders }]
  traffic:
    csrf: {}
binds:
- port: 80
  listeners:
  - routes:
    - name: orders
      policies:
        csrf: { additionalOrigins: ["https://a.test"] }
        basicAuthentication: { users: ["ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="] }
      backends: [{ host: 127.0.0.1:9000 }]
`

  function useFile(t: TestContext, text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'porticoctl-effective-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'gateway.yaml')
    writeFileSync(file, text)
    return file
  }

  test('prints the location of each policy, and the policies it overrides', async (t) => {
    const file = useFile(t, config)
    const { code, stdout, stderr } = await runCommand(['effective', '-f', file, '-o', 'json'])
    assert.equal(code, 0, stderr)
    type PolicySet = Record<string, { from: string; at?: string; overrode?: string[]; config: unknown }>
    const { listeners } = JSON.parse(stdout) as { listeners: { routes: { traffic: PolicySet }[] }[] }
    const { csrf } = listeners[0]?.routes[0]?.traffic ?? {}
    assert.equal(csrf?.at, `${file}:12:9`)
    assert.deepEqual(csrf.overrode, ['policy wide, on route bind/80/listener0/orders'])
    assert.ok(!stdout.includes('W6ph5Mm5Pz8GgiULbPgzG37mj9g'))
  })

  test('reports problems in the file', async (t) => {
    const bad = await runCommand(['effective', '-f', useFile(t, 'binds: 1')])
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /gateway\.yaml:1:8: binds/)
    assert.equal((await runCommand(['effective', '-f', '/nowhere/gateway.yaml'])).code, 1)
    assert.equal((await runCommand(['effective', '-f', 'a.yaml', '--local'])).code, 2)
  })
})
