import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, test, type TestContext } from 'node:test'
import { readCase, translateAll } from '../../../translate/src/testing/golden.ts'
import { type FakeCluster, useFakeCluster } from '../testing/fake-cluster.ts'
import { runCommand } from '../testing/program.ts'

const FILE = fileURLToPath(new URL('../../../translate/cases/routes/cross-namespace-backend/in.yaml', import.meta.url))
const FINE = fileURLToPath(new URL('../../../translate/cases/routes/endpoints/in.yaml', import.meta.url))

describe('status of files', () => {
  test('names the first broken link, with what to do', async () => {
    const { code, stdout, stderr } = await runCommand(['status', 'httproute/orders', '-f', FILE])
    assert.equal(code, 1, stderr)
    assert.match(
      stdout,
      /^HTTPRoute shop\/orders: broken at HTTPRoute shop\/orders at Gateway shop\/web\n {2}ok {6}GatewayClass portico/,
    )
    assert.match(stdout, /\n {10}fix: Create a ReferenceGrant/)
  })

  test('is printed as JSON', async () => {
    const { stdout } = await runCommand(['status', '-f', FILE, '-n', 'shop', '-o', 'json'])
    const { findings } = JSON.parse(stdout) as {
      findings: { resource: string; broken: { condition?: object } | null }[]
    }
    assert.deepEqual(
      findings.map(({ resource, broken }) => [resource, broken === null]),
      [
        ['Gateway shop/web', true],
        ['HTTPRoute shop/orders', false],
      ],
    )
    assert.deepEqual(Object.keys(findings[1]?.broken?.condition ?? {}), ['type', 'status', 'reason', 'message'])
    assert.match(
      (await runCommand(['status', '-f', FILE, '-o', 'yaml'])).stdout,
      /^findings:\n {2}- resource: Gateway shop\/web\n/,
    )
  })

  test('exits with 0 when all is well', async () => {
    const { code, stdout } = await runCommand(['status', '-f', FINE])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^ok {6}Gateway shop\/web\n/)
  })

  test('prints the output shown in the docs', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'status-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const api = { apiVersion: 'gateway.networking.k8s.io/v1' }
    const placed = (name: string) => ({ name, namespace: 'shop' })
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
    const rules = [{ backendRefs: [{ name: 'order', port: 80 }] }]
    const resources = [
      { ...api, kind: 'Gateway', metadata: placed('web'), spec: { gatewayClassName: 'portico', listeners } },
      { ...api, kind: 'HTTPRoute', metadata: placed('orders'), spec: { parentRefs: [{ name: 'web' }], rules } },
      { apiVersion: 'v1', kind: 'Service', metadata: placed('orders'), spec: { ports: [{ port: 80 }] } },
    ]
    const file = join(folder, 'shop.yaml')
    writeFileSync(file, resources.map((each) => JSON.stringify(each)).join('\n---\n'))
    const { stdout } = await runCommand(['status', 'httproute/orders', '-f', file])
    const page = readFileSync(new URL('../../../../docs/porticoctl.md', import.meta.url), 'utf8')
    const start = '$ porticoctl status httproute/orders -n shop\n'
    assert.ok(page.includes(`\`\`\`\n${start}${stdout}\`\`\``), stdout)
  })

  test('rejects invalid arguments', async () => {
    const cases: [string[], number, RegExp][] = [
      [['status', 'orders'], 2, /expected <kind>\/<name> such as httproute\/orders/],
      [['status', 'pod/x'], 2, /found "pod\/x"/],
      [['status', 'gateway/a', 'gateway/b'], 2, /found "gateway\/b"/],
      [['status', '-o', 'xml'], 2, /found output "xml"/],
      [['status', 'httproute/order', '-f', FILE], 1, /there is no HTTPRoute order; did you mean orders\?/],
      [['status', '-f', '/nowhere'], 1, /\/nowhere: cannot be read/],
      [['status', '-f', FILE, '-n', 'empty'], 1, /there are no Gateway API resources in namespace empty/],
    ]
    for (const [args, code, problem] of cases) {
      const ended = await runCommand(args)
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, problem)
    }
  })
})

const GROUP = 'gateway.networking.k8s.io'
const PLURALS: Readonly<Record<string, string>> = {
  GatewayClass: 'gatewayclasses',
  Gateway: 'gateways',
  HTTPRoute: 'httproutes',
  Service: 'services',
  EndpointSlice: 'endpointslices',
}
const PREFIXES: Readonly<Record<string, string>> = { Service: '/api/v1', EndpointSlice: '/apis/discovery.k8s.io/v1' }

/** The golden case as cluster objects, with the statuses of a controller. */
function objectsOf(name: string): Record<string, unknown> {
  const resources = readCase(name)
  const { statuses } = translateAll([...resources])
  const objects: Record<string, unknown> = {
    [`/apis/${GROUP}`]: { preferredVersion: { version: 'v1' }, versions: [{ version: 'v1beta1' }, { version: 'v1' }] },
    [`/apis/${GROUP}/v1`]: {
      resources: ['GatewayClass', 'Gateway', 'HTTPRoute'].flatMap((kind) => [
        { name: PLURALS[kind], kind, namespaced: kind !== 'GatewayClass' },
        { name: `${PLURALS[kind]}/status`, kind, namespaced: kind !== 'GatewayClass' },
      ]),
    },
    [`/apis/${GROUP}/v1beta1`]: { resources: [{ name: 'gateways', kind: 'Gateway', namespaced: true }] },
  }
  for (const [kind, plural] of Object.entries(PLURALS)) {
    for (const namespace of ['shop', 'stock', '']) {
      const items = resources
        .filter((each) => each.kind === kind && (each.metadata.namespace ?? '') === namespace)
        .map((each) => ({
          ...each,
          status: statuses.get(`${kind}/${namespace === '' ? '' : `${namespace}/`}${each.metadata.name}`),
        }))
      const inside = namespace === '' ? '' : `/namespaces/${namespace}`
      const path = `${PREFIXES[kind] ?? `/apis/${GROUP}/v1`}${inside}/${plural}`
      objects[path] = { apiVersion: items[0]?.apiVersion ?? 'v1', kind: 'List', metadata: {}, items }
      for (const item of items) objects[`${path}/${item.metadata.name}`] = item
    }
  }
  return objects
}

const args = ({ kubeconfig }: FakeCluster, ...more: string[]): string[] => [
  'status',
  '--kubeconfig',
  kubeconfig,
  ...more,
]

describe('status in a cluster', () => {
  test('reads the statuses of the controller, also in other namespaces', async (t) => {
    const cluster = await useFakeCluster(t, { objects: objectsOf('routes/cross-namespace-backend') })
    const { code, stdout, stderr } = await runCommand(args(cluster, 'httproute/orders'))
    assert.equal(code, 1, stderr)
    const { stdout: offline } = await runCommand(['status', 'httproute/orders', '-f', FILE])
    assert.equal(stdout, offline)
    assert.match(stdout, /Service stock\/open:8080 +1 address/)
  })

  test('a missing right is named', async (t) => {
    const path = '/api/v1/namespaces/stock/services/open'
    const cluster = await useFakeCluster(t, { objects: objectsOf('routes/cross-namespace-backend'), forbidden: [path] })
    const { stdout } = await runCommand(args(cluster, 'httproute/orders'))
    assert.match(stdout, /unknown +Service stock\/open\n +not checked: no right to get services in namespace stock\n/)
  })

  test('without the right to read the resource itself, that is the answer', async (t) => {
    const path = `/apis/${GROUP}/v1/namespaces/shop/httproutes`
    const cluster = await useFakeCluster(t, { objects: objectsOf('routes/cross-namespace-backend'), forbidden: [path] })
    const { code, stderr } = await runCommand(args(cluster, 'httproute/orders'))
    assert.equal(code, 1)
    assert.match(stderr, /no right to list httproutes\.gateway\.networking\.k8s\.io in namespace shop/)
  })

  test('a cluster without the Gateway API says so', async (t) => {
    const cluster = await useFakeCluster(t, { objects: {} })
    const { code, stderr } = await runCommand(args(cluster))
    assert.equal(code, 1)
    assert.match(stderr, /the cluster has no Gateway API/)
  })
})

/** A kubeconfig with a context for each of the clusters, and `gone`, whose API server does not exist. */
function joinKubeconfigs(t: TestContext, clusters: Readonly<Record<string, FakeCluster>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'contexts-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const servers = Object.entries(clusters).map(([name, { kubeconfig }]) => {
    const read = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
    return { name, server: read.clusters[0]?.cluster.server ?? '' }
  })
  const all = [...servers, { name: 'gone', server: 'http://127.0.0.1:1' }]
  const file = join(folder, 'config')
  writeFileSync(
    file,
    JSON.stringify({
      contexts: all.map(({ name }) => ({ name, context: { cluster: name, user: 'ann', namespace: 'shop' } })),
      clusters: all.map(({ name, server }) => ({ name, cluster: { server } })),
      users: [{ name: 'ann', user: { token: 'of-ann' } }],
    }),
  )
  return file
}

describe('status of several clusters', () => {
  const useContexts = async (t: TestContext): Promise<(...more: string[]) => ReturnType<typeof runCommand>> => {
    const fine = await useFakeCluster(t, { objects: objectsOf('routes/endpoints') })
    const broken = await useFakeCluster(t, { objects: objectsOf('routes/cross-namespace-backend') })
    const kubeconfig = joinKubeconfigs(t, { fine, broken, second: fine })
    return (...more) => runCommand(['status', '--kubeconfig', kubeconfig, ...more])
  }

  test('has a part for each context, and exits with 0 when all is well', async (t) => {
    const run = await useContexts(t)
    const { code, stdout, stderr } = await run('--context', 'fine, second,fine')
    assert.equal(code, 0, stdout + stderr)
    const part = (await run('--context', 'fine')).stdout
    assert.equal(stdout, `context fine\n${part}\ncontext second\n${part}`)
  })

  test('reports a context that cannot be checked, and the others', async (t) => {
    const run = await useContexts(t)
    const { code, stdout } = await run('--context', 'fine,gone,missing,broken')
    assert.equal(code, 1)
    assert.match(stdout, /^context fine\nok {6}Gateway shop\/web\n/)
    assert.match(stdout, /\n\ncontext gone: cannot be checked\n {2}.*ECONNREFUSED/)
    assert.match(stdout, /\n\ncontext missing: cannot be checked\n {2}.*missing/)
    assert.match(stdout, /\n\ncontext broken\n(.*\n)*BROKEN {2}HTTPRoute shop\/orders\n/)
    assert.equal((await run('--context', 'fine,gone')).code, 1)
    assert.equal((await run('--context', 'fine,broken')).code, 1)
  })

  test('is printed as JSON', async (t) => {
    const run = await useContexts(t)
    const { stdout } = await run('--context', 'fine,gone', '-o', 'json')
    const { contexts } = JSON.parse(stdout) as { contexts: Record<string, unknown>[] }
    assert.deepEqual(
      contexts.map((each) => Object.keys(each)),
      [
        ['context', 'findings'],
        ['context', 'problem'],
      ],
    )
  })

  test('needs names', async (t) => {
    const run = await useContexts(t)
    const { code, stderr } = await run('--context', 'fine,')
    assert.equal(code, 2)
    assert.match(stderr, /found context "fine,", expected names separated by commas/)
  })
})
