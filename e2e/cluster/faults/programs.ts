import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { ConstantLoad } from '../load/constant-load.ts'
import { type Cluster, PATIENCE_MS, SYSTEM, WEB } from './cluster.ts'

/** Controllers and data planes that die. */
export function programFaults(cluster: () => Cluster): void {
  it('the leader dies without a word: routes still change, and another one takes over', async () => {
    const { load } = cluster()
    await load.unharmedBy(async () => {
      const first = await cluster().holder()
      const pod = first.slice(0, first.indexOf('_'))
      await cluster().kill(pod)
      await cluster().change()
      await eventually('another leads', async () => !['', first].includes(await cluster().holder()), PATIENCE_MS)
      await cluster().told()
      await eventually('it is there again', async () => (await restartsOf(SYSTEM, pod)) > 0, PATIENCE_MS)
      await eventually('both are ready', async () => (await cluster().ready(SYSTEM)).length === 2, PATIENCE_MS)
      await eventually('all data planes hear of them', () => cluster().isConnected(), PATIENCE_MS)
    })
  })

  it('a data plane dies: the other loses nothing, and it comes back, also with no controller there', async () => {
    const { bed } = cluster()
    const [victim, other] = await cluster().ready('shop', WEB)
    assert.ok(victim !== undefined && other !== undefined)
    const toOther = new ConstantLoad(bed, { urls: [`http://${other.address}/`, `http://${other.address}/ledger`] })
    const dies = async (): Promise<void> => {
      const before = await restartsOf('shop', victim.name)
      await cluster().kill(victim.name)
      await eventually('it is started anew', async () => (await restartsOf('shop', victim.name)) > before, PATIENCE_MS)
      for (const path of ['/', '/ledger', '/flip']) {
        const serves = async (): Promise<boolean> => (await cluster().ask(path, victim.address)).status === 200
        await eventually(`it serves ${path}`, serves, PATIENCE_MS)
      }
    }
    try {
      await toOther.unharmedBy(async () => {
        await dies()
        await cluster().change()
        await bed.kubectl('-n', SYSTEM, 'scale', 'deployment/portico-controller', '--replicas=0')
        await eventually('there is none', async () => (await cluster().pods(SYSTEM)).length === 0, PATIENCE_MS)
        await dies()
        assert.equal(await cluster().metric(victim.address, 15_020, 'portico_controller_connected'), 0)
        assert.match(await bed.kubectl('-n', 'shop', 'logs', victim.name), /serving the stored config/)
        await bed.kubectl('-n', SYSTEM, 'scale', 'deployment/portico-controller', '--replicas=2')
        await eventually('both are ready', async () => (await cluster().ready('shop', WEB)).length === 2, PATIENCE_MS)
        await eventually('all data planes hear of them', () => cluster().isConnected(), PATIENCE_MS)
        await cluster().change()
      })
    } finally {
      await toOther.stop()
      // Requests through the load balancer have met the one that died.
      await cluster().load.report()
    }
  })

  async function restartsOf(namespace: string, pod: string): Promise<number> {
    return (await cluster().pods(namespace)).find(({ name }) => name === pod)?.restarts ?? 0
  }
}
