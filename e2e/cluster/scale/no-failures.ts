import { setTimeout as wait } from 'node:timers/promises'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { getObject, updateObject } from '../../../packages/controller/src/kube/objects.ts'
import {
  LIFETIMES,
  type Lifetimes,
  readAuthorities,
  settleAuthorities,
  writeAuthorities,
} from '../../../packages/controller/src/publish/authorities.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { SECRETS } from '../bed/kubelet/cluster.ts'
import { rolledOut } from '../installed.ts'
import type { ChangesOrder } from './changes.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import type { Row } from './numbers.ts'
import { COLOURS, GATEWAY, hostOf, NAMESPACE, pathOfRoute, ROLLED } from './objects.ts'
import { PATIENCE_MS, type Scene } from './scene.ts'

const RATE = 200
const AUTHORITIES = { namespace: 'portico-system', name: 'portico-controller-ca' }
const CHANGED_ROUTES = 50

/** Everyday events of a cluster, each under a separate load. */
export async function noFailures(scene: Scene): Promise<Row[]> {
  const changed = Array.from({ length: CHANGED_ROUTES }, (_, index) => ({
    host: hostOf(index),
    path: pathOfRoute(index),
  }))
  const changes: ChangesOrder = { address: scene.address, routes: CHANGED_ROUTES, count: 100, pauseMs: 20 }
  return [
    await underLoad(scene, '100 changed routes', changed, () => scene.inside('changes.ts', changes).output),
    await underLoad(scene, 'Pods behind a Service replaced', [ROLLED], () => rollPods(scene)),
    await underLoad(scene, 'the authority of the streams rotated', [ROLLED], () => rotate(scene)),
    await underLoad(scene, 'the controller restarted', [ROLLED], () => scene.restart('controller')),
    await underLoad(scene, 'the data plane replaced', [ROLLED], () => scene.restart('dataPlane')),
  ]
}

async function underLoad(
  scene: Scene,
  what: string,
  targets: LoadOrder['targets'],
  happen: () => Promise<unknown>,
): Promise<Row> {
  const load = scene.inside('load.ts', { address: scene.address, rate: RATE, targets } satisfies LoadOrder)
  await wait(2_000)
  await happen()
  await wait(2_000)
  load.end()
  const { asked, replaced, failures } = JSON.parse(await load.output) as LoadResult
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const causes = Object.entries(failures).map(([cause, count]) => `${count} ${cause}`)
  const notes = [`of ${asked}`, ...(replaced > 0 ? [`${replaced} kept connections replaced`] : []), ...causes]
  const measured = `${failed} (${notes.join(', ')})`
  console.log(`${what}: ${measured} failed`)
  return {
    what: `failed requests: ${what}`,
    measured,
    bar: '0',
    isMet: failed === 0 && asked > 0,
  }
}

async function rollPods({ bed }: Scene): Promise<void> {
  await bed.kubectl('-n', NAMESPACE, 'rollout', 'restart', `deployment/${COLOURS[0]}`)
  await rolledOut(bed, NAMESPACE, COLOURS[0])
}

/** As it comes with time: a successor is made known, then it signs, and then every data plane has to trust it. */
async function rotate(scene: Scene): Promise<void> {
  const before = await issuerOf(scene)
  const known = await settleAs(scene, { authorityRenewalMs: 2 * LIFETIMES.authorityMs })
  const spread = async (): Promise<boolean> => {
    const path = 'jsonpath={.data.controller-ca\\.crt}'
    const bundle = await scene.bed.kubectl('-n', NAMESPACE, 'get', 'configmap', GATEWAY, '-o', path)
    return bundle.includes(known.trim())
  }
  await eventually('data planes are told of the next authority', spread, PATIENCE_MS)
  await settleAs(scene, { spreadMs: 0 })
  await eventually('it signs', async () => (await issuerOf(scene)) !== before, PATIENCE_MS)
  // Nobody who is connected has to look at a certificate: a new controller has them all connect anew.
  await scene.restart('controller')
  await eventually(
    'the data plane is connected',
    async () => (await scene.metric('dataPlane', 'portico_controller_connected')) === 1,
    PATIENCE_MS,
  )
}

/** Rotates authorities as the leader does, with other lifetimes; returns the newest certificate. */
async function settleAs({ bed }: Scene, lifetimes: Partial<Lifetimes>): Promise<string> {
  const secret = await getObject(bed.client, SECRETS, AUTHORITIES)
  const read = readAuthorities((secret?.data ?? {}) as Record<string, unknown>)
  if (secret === undefined || !read.ok) throw new Error('there are no authorities')
  const wanted = settleAuthorities(read.authorities, Date.now(), { ...LIFETIMES, ...lifetimes })
  await updateObject(bed.client, SECRETS, { ...secret, data: writeAuthorities(wanted) })
  return (wanted.next ?? wanted.current).cert
}

/** The issuer of the certificate that the controller presents. */
async function issuerOf(scene: Scene): Promise<string> {
  const port = await scene.bed.reach(await scene.addressOf('controller'), 9978)
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const { issuer } = socket.getPeerCertificate()
  socket.destroy()
  return JSON.stringify(issuer)
}
