import { createObject } from '../../../packages/controller/src/kube/objects.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { SECRETS } from '../bed/kubelet/cluster.ts'
import { type Row, row } from './numbers.ts'
import { highestMb } from './parts.ts'
import { PATIENCE_MS, type Scene } from './scene.ts'

const NAMESPACE = 'vault'

/** Secrets of others, large and many: none of them is referred to, so nothing of what they hold is kept. */
export async function secrets(
  scene: Scene,
  { count, kilobytes }: { count: number; kilobytes: number },
): Promise<Row[]> {
  const before = await highestMb(scene)
  await scene.bed.kubectl('create', 'namespace', NAMESPACE)
  await scene.each(0, count, (index) =>
    createObject(scene.bed.client, SECRETS, {
      metadata: { namespace: NAMESPACE, name: `secret-${index}` },
      // Base64 makes three bytes four.
      data: { value: Buffer.alloc((kilobytes * 1000 * 3) / 4, index % 251).toString('base64') },
    }),
  )
  await seen(scene, count)
  const after = await highestMb(scene)
  await scene.restart('controller')
  await seen(scene, count)
  const started = await highestMb(scene)
  const all = `${count} Secrets of ${kilobytes} kB that nobody refers to`
  // A quarter of what they hold.
  const most = (count * kilobytes) / 1000 / 4
  return [
    row('controller, resident, highest of five looks before the Secrets', before, 'MB'),
    row(`controller, more after ${all} were made`, after - before, 'MB', most),
    row('controller, more when it has started beside them', started - before, 'MB', most),
  ]
}

/** That there are so many is known to the controller. */
async function seen(scene: Scene, count: number): Promise<void> {
  const know = async (): Promise<boolean> =>
    (await scene.metric('controller', 'portico_controller_objects{kind="Secret"}')) >= count
  await eventually('the controller has seen all Secrets', know, PATIENCE_MS)
}
