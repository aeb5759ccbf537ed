import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutInferenceSuite } from './bed/programs.ts'
import { install, rolledOut } from './installed.ts'
import { ConstantLoad } from './load/constant-load.ts'
import { ECHO_IMAGE, gateway, pods, route } from './shop.ts'
import { inferenceBed } from './suite.ts'

const PATIENCE_MS = 300_000
const GROUP = 'inference.networking.k8s.io'

/** The endpoint picker of the official suite, with the rights that it needs. */
function picker(pool: string): object[] {
  const metadata = { name: 'picker', namespace: 'shop' }
  const labels = { app: 'picker' }
  const readinessProbe = { grpc: { port: 9003, service: 'inference-extension' }, periodSeconds: 1 }
  // The picker is healthy before it listens: it creates its key first, which takes seconds.
  const startupProbe = { tcpSocket: { port: 9002 }, periodSeconds: 1, failureThreshold: 120 }
  const args = ['--pool-name', pool, '--pool-namespace', 'shop', '--grpc-port', '9002', '--grpc-health-port', '9003']
  const containers = [{ name: 'epp', image: 'lwepp', args, readinessProbe, startupProbe }]
  const read = ['get', 'list', 'watch']
  const rbac = 'rbac.authorization.k8s.io'
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        { apiGroups: [GROUP], resources: ['inferencepools'], verbs: read },
        { apiGroups: [''], resources: ['pods'], verbs: read },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'shop' }],
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'picker' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports: [{ port: 9002 }] } },
  ]
}

function inferencePool(name: string, failureMode: 'FailOpen' | 'FailClose'): object {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'InferencePool',
    metadata: { name, namespace: 'shop' },
    spec: {
      selector: { matchLabels: { app: 'llama' } },
      targetPorts: [{ number: 3000 }],
      endpointPickerRef: { name: 'picker', port: { number: 9002 }, failureMode },
    },
  }
}

function routeToPool(name: string): object {
  const backendRefs = [{ group: GROUP, kind: 'InferencePool', name }]
  return route(name, `/${name}`, '', { rule: { backendRefs } })
}

/** Asks the picker again: without it, a pool that fails closed depends on each stream to a picker that is being replaced. */
const RETRIES = {
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwPolicy',
  metadata: { name: 'retries', namespace: 'shop' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'closed' }],
    traffic: { retry: { attempts: 2, backoff: '100ms', codes: [503] } },
  },
}

describe('an inference pool under faults, with traffic all the time', { skip: withoutInferenceSuite }, () => {
  let bed: Bed
  let closed: ConstantLoad
  let open: ConstantLoad
  const loads: ConstantLoad[] = []
  let address = ''
  const statusOf = async (path: string): Promise<string> =>
    (await bed.exec(['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', `http://${address}${path}`])).stdout
  const valueOf = (kind: string, name: string, path: string): Promise<string> =>
    bed.kubectl('-n', 'shop', 'get', kind, name, '-o', `jsonpath={${path}}`)
  /** The picks of the data plane by pool and outcome. */
  const picks = async (pool: string, outcome: string): Promise<number> => {
    const label = 'gateway.networking.k8s.io/gateway-name=web'
    const pod = await bed.kubectl('-n', 'shop', 'get', 'pod', '-l', label, '-o', 'jsonpath={.items[0].status.podIP}')
    const metrics = await fetch(`http://127.0.0.1:${await bed.reach(pod, 15020)}/metrics`)
    const line = `portico_inference_picks_total{backend="shop/${pool}",outcome="${outcome}"} `
    const found = (await metrics.text()).split('\n').find((each) => each.startsWith(line))
    return Number(found?.slice(line.length) ?? 0)
  }

  before(async () => {
    const { images, ...options } = inferenceBed()
    bed = await startBed({ ...options, images: { ...images, echo: ECHO_IMAGE } })
    await install(bed)
    await bed.kubectl('create', 'namespace', 'shop')
    await bed.apply(
      ...[gateway(), ...pods('llama', { replicas: 3 }), ...picker('closed')],
      ...[inferencePool('closed', 'FailClose'), inferencePool('open', 'FailOpen')],
      ...[routeToPool('closed'), routeToPool('open'), RETRIES],
    )
    await Promise.all(['llama', 'picker'].map((name) => rolledOut(bed, 'shop', name)))
    const hasAddress = async (): Promise<boolean> => {
      address = await valueOf('gateway', 'web', '.status.addresses[*].value')
      return address !== ''
    }
    await eventually('the Gateway has an address', hasAddress, PATIENCE_MS)
    for (const pool of ['closed', 'open']) {
      await eventually(`${pool} is served`, async () => (await statusOf(`/${pool}`)) === '200', PATIENCE_MS)
    }
    closed = new ConstantLoad(bed, { urls: [`http://${address}/closed`] })
    open = new ConstantLoad(bed, { urls: [`http://${address}/open`] })
    loads.push(closed, open)
  })
  after(async () => {
    for (const load of loads) await load.stop()
    await bed.stop()
  })

  /** No request to either pool fails meanwhile. */
  const loseNone = (work: () => Promise<unknown>): Promise<unknown> => open.unharmedBy(() => closed.unharmedBy(work))
  const replace = async (deployment: string): Promise<void> => {
    const old = await bed.kubectl('-n', 'shop', 'get', 'pod', '-l', `app=${deployment}`, '-o', 'name')
    await bed.kubectl('-n', 'shop', 'rollout', 'restart', `deployment/${deployment}`)
    await rolledOut(bed, 'shop', deployment)
    await bed.kubectl('-n', 'shop', 'wait', '--for=delete', '--timeout=120s', ...old.trim().split('\n'))
  }

  it('loses no request while all members are replaced, and the picker chooses all the time', async () => {
    const before = await picks('closed', 'picked')
    await loseNone(() => replace('llama'))
    assert.ok((await picks('closed', 'picked')) > before)
  })

  it('loses no request while the picker is replaced', async () => {
    await loseNone(() => replace('picker'))
  })

  it('serves a pool that fails open while there is no picker, and answers 503 for one that fails closed', async () => {
    await open.unharmedBy(async () => {
      await bed.kubectl('-n', 'shop', 'delete', 'pod', '-l', 'app=picker', '--grace-period=0', '--force')
      await bed.kubectl('-n', 'shop', 'scale', 'deployment/picker', '--replicas=0')
      await eventually('it fails closed', async () => (await statusOf('/closed')) === '503', PATIENCE_MS)
      assert.equal(await statusOf('/open'), '200')
      assert.ok((await picks('open', 'fallback')) > 0)
      assert.ok((await picks('closed', 'failed')) > 0)
      const log = await bed.kubectl('-n', 'shop', 'logs', 'deployment/web')
      assert.match(log, /endpoint picker failed/)
      await bed.kubectl('-n', 'shop', 'scale', 'deployment/picker', '--replicas=1')
      await rolledOut(bed, 'shop', 'picker')
      await eventually('it is served again', async () => (await statusOf('/closed')) === '200', PATIENCE_MS)
    })
    // The failures of the pool that fails closed are expected.
    const { failures } = await closed.report()
    assert.deepEqual(
      failures.filter((failure) => !failure.endsWith('status 503')),
      [],
    )
  })

  it('says in the status of the pool that the Service of its picker is gone', async () => {
    await open.unharmedBy(async () => {
      await bed.kubectl('-n', 'shop', 'delete', 'service', 'picker')
      for (const pool of ['closed', 'open']) {
        const path = '.status.parents[*].conditions[?(@.type=="ResolvedRefs")].message'
        await eventually(
          `${pool} is told`,
          async () => /Service shop\/picker not found/.test(await valueOf('inferencepool', pool, path)),
          PATIENCE_MS,
        )
      }
      await eventually('it answers 500', async () => (await statusOf('/closed')) === '500', PATIENCE_MS)
    })
  })
})
