import { createObject } from '../../../packages/controller/src/kube/objects.ts'
import { SECRETS } from '../bed/kubelet/cluster.ts'
import { type Row, row } from './numbers.ts'
import { highestMb } from './parts.ts'
import type { Scene } from './scene.ts'

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
  const after = await highestMb(scene)
  await scene.restart('controller')
  const started = await highestMb(scene)
  const all = `${count} Secrets of ${kilobytes} kB that nobody refers to`
  return [
    row('controller, resident, highest of five looks before the Secrets', before, 'MB'),
    row(`controller, after ${all} were made`, after, 'MB', 300),
    row('controller, started beside them', started, 'MB', 300),
  ]
}
