import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import type { Bed } from '../bed/bed.ts'
import { GATEWAY_API } from '../bed/programs.ts'
import { grant, pods, route } from '../shop.ts'
import { type Cluster, PATIENCE_MS, WEB } from './cluster.ts'

const TCP_ROUTES = 'tcproutes.gateway.networking.k8s.io'
const GRANTS = 'referencegrants.gateway.networking.k8s.io'

/** Before the controllers are there. */
export async function takeDefinitionAway(bed: Bed): Promise<void> {
  await bed.kubectl('delete', 'crd', TCP_ROUTES)
}

/** Kinds that come, and kinds that are served in another version. */
export function definitionFaults(cluster: () => Cluster): void {
  it('a kind that is missing when the controllers start is read when it comes', async () => {
    const { bed, load, address } = cluster()
    await load.unharmedBy(async () => {
      const file = join(GATEWAY_API, 'crds', 'experimental', 'gateway.networking.k8s.io_tcproutes.yaml')
      await bed.apply(readFileSync(file, 'utf8'))
      await bed.kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', TCP_ROUTES)
      await eventually('it takes the route', () => bed.apply(TCP_ROUTE).then(yes, no), PATIENCE_MS)
      const port = await bed.reach(address, 9000)
      await eventually('the route is served', async () => (await answerOf(port)).includes('"pod":"cart-'), PATIENCE_MS)
    })
    // One that dies by itself closes its port for a moment, which few requests may meet.
    assert.deepEqual(
      (await cluster().pods('shop', WEB)).map(({ restarts }) => restarts),
      [0, 0],
    )
  })

  it('a kind that is served in another version, and back, loses nothing on the way', async () => {
    const { bed, load } = cluster()
    const served = async (v1: boolean, v1beta1: boolean): Promise<void> => {
      const patch = [v1, v1beta1].map((value, index) => ({
        op: 'replace',
        path: `/spec/versions/${index}/served`,
        value,
      }))
      await bed.kubectl('patch', 'crd', GRANTS, '--type=json', '-p', JSON.stringify(patch))
    }
    const names = await bed.kubectl('get', 'crd', GRANTS, '-o', 'jsonpath={.spec.versions[*].name}')
    assert.equal(names, 'v1 v1beta1')
    await bed.kubectl('create', 'namespace', 'vault')
    await bed.apply(
      ...pods('safe', { namespace: 'vault', replicas: 1 }),
      route('safe', '/safe', 'safe', { in: 'vault' }),
    )
    await load.unharmedBy(async () => {
      const isServed = async (): Promise<boolean> => (await cluster().ask('/safe')).status === 200
      await served(false, true)
      await eventually(
        'a grant can be made',
        () => bed.apply(grant('shop', 'vault', 'v1beta1')).then(yes, no),
        PATIENCE_MS,
      )
      await eventually('the new grant counts', isServed, PATIENCE_MS)
      await served(true, false)
      await eventually('the grant can be taken back', () => bed.kubectl(...TAKE_BACK).then(yes, no), PATIENCE_MS)
      await eventually('it counts no more', async () => (await cluster().ask('/safe')).status === 500, PATIENCE_MS)
      await served(true, true)
    })
  })
}

const TAKE_BACK = ['-n', 'vault', 'delete', `${GRANTS}/from-shop`]
const yes = (): boolean => true
const no = (): boolean => false

const TCP_ROUTE = {
  apiVersion: 'gateway.networking.k8s.io/v1alpha2',
  kind: 'TCPRoute',
  metadata: { name: 'raw', namespace: 'shop' },
  spec: {
    parentRefs: [{ name: 'web', sectionName: 'tcp' }],
    rules: [{ backendRefs: [{ name: 'cart', port: 8080 }] }],
  },
}

/** The response to an HTTP request over a TCP route, which forwards its bytes unread. */
function answerOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: raw\r\nconnection: close\r\n\r\n'),
    )
    socket.on('data', (bytes: Buffer) => (text += bytes.toString())).on('error', () => resolve(text))
    socket.on('close', () => resolve(text)).setTimeout(5_000, () => socket.destroy())
  })
}
