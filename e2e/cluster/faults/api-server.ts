import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { deleteObject } from '../../../packages/controller/src/kube/objects.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { compact } from '../bed/compact.ts'
import { bedFiles } from '../bed/settings.ts'
import { route } from '../shop.ts'
import { type Cluster, PATIENCE_MS, ROUTES, SYSTEM } from './cluster.ts'

/** Faults of the API server, and of the connections to it. */
export function apiServerFaults(cluster: () => Cluster, awaySeconds: number): void {
  it('watches that are cut in the middle of a line miss nothing', async () => {
    const { proxy, load } = cluster()
    await load.unharmedBy(async () => {
      await proxy.order({ cuts: 40 })
      for (let turn = 0; turn < 6; turn += 1) await cluster().change()
      const { cut } = await proxy.order({ cuts: 0 })
      assert.ok(cut > 10, `${cut} events were cut`)
      await cluster().told()
    })
  })

  it(`no API server for ${awaySeconds} s, and then every token is worth nothing until there are new ones`, async () => {
    const { bed, load, proxy } = cluster()
    await load.unharmedBy(async () => {
      await bed.kill('kube-apiserver')
      replaceSigningKey(bed.folder)
      await wait(awaySeconds * 1000)
      await proxy.order({})
      bed.start('kube-apiserver')
      await cluster().apiServes()
      const refusals = async (): Promise<number> => (await proxy.order({})).refused['401'] ?? 0
      await eventually('the old tokens are refused', async () => (await refusals()) > 0, PATIENCE_MS)
      // The kubelet writes all of a Pod's volumes anew, with tokens that it has to ask for.
      for (const [namespace, name] of [
        [SYSTEM, 'kube-root-ca.crt'],
        ['shop', 'web'],
      ] as const) {
        await bed.kubectl('-n', namespace, 'annotate', 'configmap', name, `test=${Date.now()}`, '--overwrite')
      }
      await cluster().change()
      await cluster().told()
    })
  })

  it('changes that were missed while history was compacted are read again (410)', async () => {
    const { bed, load, proxy } = cluster()
    const leadsTo = (service: string) => async (): Promise<boolean> =>
      (await cluster().ask('/doomed')).pod.startsWith(`${service}-`)
    await cluster().apply(ROUTES, route('doomed', '/doomed', 'other'))
    await eventually('it is served', leadsTo('other'), PATIENCE_MS)
    await load.unharmedBy(async () => {
      await proxy.order({ isClosed: true })
      await deleteObject(bed.client, ROUTES, { namespace: 'shop', name: 'doomed' })
      await compact(bed)
      // A server that was started anew remembers nothing from before.
      await bed.kill('kube-apiserver')
      bed.start('kube-apiserver')
      await cluster().apiServes()
      await proxy.order({ isClosed: false })
      await cluster().change()
      await eventually('the route that is gone leads nowhere', leadsTo('cart'), PATIENCE_MS)
      const { refused } = await proxy.order({})
      assert.ok((refused['410'] ?? 0) > 0, `refused: ${JSON.stringify(refused)}`)
    })
  })
}

/** Replaces the key that signs service account tokens: older tokens are invalid from the next start on. */
function replaceSigningKey(folder: string): void {
  const { accounts } = bedFiles(folder)
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(accounts.public, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(accounts.private, privateKey.export({ type: 'pkcs1', format: 'pem' }))
}
