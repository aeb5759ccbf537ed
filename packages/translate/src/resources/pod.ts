import { type FieldProblem, Fields } from './fields.ts'
import { textAt } from './json.ts'
import type { Resource } from './resource.ts'
import { isAddress } from './service.ts'

interface PodSpec {
  /** Whether the mesh redirects connections of the Pod, so that it is called through HBONE. */
  isInMesh: boolean
  serviceAccount: string
}

export function readPod({ metadata, spec }: Resource): PodSpec {
  const mark = metadata.annotations?.[MESH_REDIRECTION] ?? metadata.labels?.[MESH_REDIRECTION]
  return { isInMesh: mark === 'enabled', serviceAccount: textAt(spec, 'serviceAccountName') || 'default' }
}

/** Istio sets the annotation on Pods of its ambient mode once connections are redirected. */
export const MESH_REDIRECTION = 'ambient.istio.io/redirection'

/** Returns the address of a Pod that takes requests; null while it is not ready, and while it is being deleted. */
export function readyPodAddress({ metadata, status }: Resource): string | null {
  if (metadata.deletionTimestamp !== undefined) return null
  const ignored: FieldProblem[] = []
  const fields = new Fields(status, ['status'], ignored)
  const isReady = fields
    .objects('conditions')
    .some((condition) => condition.text('type') === 'Ready' && condition.text('status') === 'True')
  const address = fields.text('podIP')
  return isReady && address !== undefined && isAddress(address) ? address : null
}
