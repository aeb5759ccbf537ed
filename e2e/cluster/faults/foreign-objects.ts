import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ApiKind } from '../../../packages/controller/src/kube/kinds.ts'
import { createObject, type ObjectBody } from '../../../packages/controller/src/kube/objects.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { SECRETS, SERVICES } from '../bed/kubelet/cluster.ts'
import { type Cluster, kindOf, PATIENCE_MS, SYSTEM } from './cluster.ts'

const SLICES = kindOf('EndpointSlice')
const AT_ONCE = 24

/** Much in the cluster is no business of ours. */
export function foreignObjects(cluster: () => Cluster, count: number): void {
  it(`routes change quickly while others make ${count} Secrets, Services and EndpointSlices`, async (t) => {
    const { bed, load } = cluster()
    await bed.kubectl('create', 'namespace', 'others')
    const before = { config: await sent('config'), endpoints: await sent('endpoints') }
    let changes = 0
    await load.unharmedBy(async () => {
      const over = new AbortController()
      const making = inParts(count, async (index) => {
        const [kind, object] = foreign(index)
        await createObject(bed.client, kind, object)
      }).finally(() => over.abort())
      const times: number[] = []
      do times.push(await cluster().change())
      while (!over.signal.aborted || times.length < 5)
      await making
      const sorted = times.toSorted((one, other) => one - other)
      const [middle = 0, last = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      t.diagnostic(`${times.length} changes: ${Math.round(middle)} ms in the middle, ${Math.round(last)} ms at most`)
      assert.ok(middle < 10_000, `${middle} ms`)
      changes = times.length
    })
    // A data plane that has connected anew is told everything; nothing else is said of what is not its own.
    const few = 10
    const told = {
      config: grown(before.config, await sent('config')),
      endpoints: grown(before.endpoints, await sent('endpoints')),
    }
    assert.ok(told.config <= 2 * changes + few, `${told.config} configs for ${changes} changes`)
    assert.ok(told.endpoints <= few, `${told.endpoints} messages with addresses`)
    const [controller] = await cluster().ready(SYSTEM)
    const known = async (): Promise<number> =>
      cluster().metric(controller?.address ?? '', 9979, 'portico_controller_objects\\{kind="EndpointSlice"\\}')
    await eventually('the controllers have seen all', async () => (await known()) >= count / 2, PATIENCE_MS)
    const memory = await cluster().metric(controller?.address ?? '', 9979, 'process_resident_memory_bytes')
    t.diagnostic(`${Math.round(memory / 2 ** 20)} MB in a controller then`)
  })

  /** So many messages to data planes, by controller. */
  async function sent(type: string): Promise<Map<string, number>> {
    const metric = `portico_controller_stream_messages_total\\{type="${type}"\\}`
    const controllers = await cluster().ready(SYSTEM)
    const counts = await Promise.all(controllers.map(({ address }) => cluster().metric(address, 9979, metric)))
    return new Map(controllers.map(({ name }, index) => [name, counts[index] ?? 0]))
  }
}

/** The sum of increases over the names that were counted before. */
function grown(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): number {
  return [...before].reduce((sum, [name, count]) => sum + Math.max(0, (now.get(name) ?? count) - count), 0)
}

/** Half of them EndpointSlices, the rest Secrets and Services. */
function foreign(index: number): [ApiKind, ObjectBody] {
  const metadata = { namespace: 'others', name: `other-${index}` }
  if (index % 4 === 0) return [SECRETS, { metadata, stringData: { password: `p${index}`.repeat(100) } }]
  if (index % 4 === 1) return [SERVICES, { metadata, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }]
  const labels = { 'kubernetes.io/service-name': `other-${index - 1}`, 'service.kubernetes.io/headless': '' }
  const endpoints = [{ addresses: ['10.99.0.1'], conditions: { ready: true } }]
  return [SLICES, { metadata: { ...metadata, labels }, addressType: 'IPv4', ports: [{ port: 80 }], endpoints }]
}

async function inParts(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const take = async (): Promise<void> => {
    while (next < count) await work((next += 1) - 1)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}
