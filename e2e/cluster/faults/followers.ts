import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { rolledOut } from '../installed.ts'
import { type Cluster, PATIENCE_MS, SYSTEM } from './cluster.ts'

/** Data planes whose leader hears of them only from other controllers. */
export function followerFaults(cluster: () => Cluster): void {
  it('data planes that only followers know: what they run is told by the leader all the same', async () => {
    const { bed, load } = cluster()
    const holder = await cluster().holder()
    const leader = holder.slice(0, holder.indexOf('_'))
    await load.unharmedBy(async () => {
      // It leads on, but no Service leads to it any more; another one takes its place there.
      await bed.kubectl('-n', SYSTEM, 'label', 'pod', leader, 'app.kubernetes.io/instance=aside', '--overwrite')
      const isSettled = async (): Promise<boolean> => {
        const ready = await cluster().ready(SYSTEM)
        return ready.length === 3 && ready.some(({ name }) => name === leader)
      }
      await eventually('two others are ready', isSettled, PATIENCE_MS)
      await bed.kubectl('-n', 'shop', 'rollout', 'restart', 'deployment/web')
      await rolledOut(bed, 'shop', 'web')
      const known = async (): Promise<number> => {
        const [one] = (await cluster().pods(SYSTEM)).filter(({ name }) => name === leader)
        return cluster().metric(one?.address ?? '', 9979, 'portico_controller_data_planes')
      }
      await eventually('the leader has no data plane', async () => (await known()) === 0, PATIENCE_MS)
      await cluster().change()
      const before = await programmed()
      const listener = { name: 'more', port: 9001, protocol: 'HTTP' }
      const patch = [{ op: 'add', path: '/spec/listeners/-', value: listener }]
      await bed.kubectl('-n', 'shop', 'patch', 'gateway', 'web', '--type=json', '-p', JSON.stringify(patch))
      const isTold = async (): Promise<boolean> => {
        const { status, generation } = await programmed()
        return status === 'True' && generation > before.generation
      }
      await eventually('it is programmed, and said so', isTold, PATIENCE_MS)
      assert.equal(await cluster().holder(), holder)
      assert.equal(await known(), 0)
    })
    await bed.kubectl('-n', SYSTEM, 'delete', 'pod', leader)
    await eventually('another leads', async () => !['', holder].includes(await cluster().holder()), PATIENCE_MS)
  })

  async function programmed(): Promise<{ status: string; generation: number }> {
    const one = '.status.conditions[?(@.type=="Programmed")]'
    const path = `jsonpath={${one}.status} {${one}.observedGeneration}`
    const [status = '', generation] = (
      await cluster().bed.kubectl('-n', 'shop', 'get', 'gateway', 'web', '-o', path)
    ).split(' ')
    return { status, generation: Number(generation) }
  }
}
