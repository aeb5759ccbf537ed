import { textAt } from './json.ts'
import type { Resource } from './resource.ts'

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
