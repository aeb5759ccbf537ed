import type { JsonObject } from '@portico/translate/json'
import type { DeployedObject } from './objects.ts'
import type { Level, Overlay } from './parameters.ts'
import type { PatchedKind } from './patch/rules.ts'
import { strategicMerge } from './patch/strategic-merge.ts'

/** For each deployed kind, the field of GwParameters that patches its objects. */
export const overlayByKind = {
  Deployment: 'deployment',
  DaemonSet: 'daemonSet',
  Service: 'service',
  ServiceAccount: 'serviceAccount',
  PodDisruptionBudget: 'podDisruptionBudget',
  HorizontalPodAutoscaler: 'horizontalPodAutoscaler',
} as const satisfies Record<PatchedKind, string>

/** Returns the object with the overlays of every level applied in order. */
export function applyOverlays(
  object: DeployedObject,
  kind: PatchedKind,
  levels: readonly Level[],
  problems: string[],
): DeployedObject {
  const field = overlayByKind[kind]
  return levels.reduce((object, { from, spec }) => {
    const overlay = spec[field]
    if (overlay === undefined) return object
    const patched = patch(object, kind, overlay)
    if (patched.ok) return { ...object, ...patched.value }
    problems.push(...patched.problems.map((problem) => `GwParameters ${from}: ${field}.${problem}`))
    return object
  }, object)
}

function patch(
  object: DeployedObject,
  kind: PatchedKind,
  { metadata = {}, spec }: Overlay,
): ReturnType<typeof strategicMerge> {
  if (kind === 'ServiceAccount' && spec !== undefined && Object.keys(spec).length > 0)
    return { ok: false, problems: ['spec: a ServiceAccount has no spec'] }
  const described: JsonObject = {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, ...metadata.labels },
      annotations: { ...object.metadata.annotations, ...metadata.annotations },
    },
  }
  return spec === undefined ? { ok: true, value: described } : strategicMerge(kind, described, { spec })
}
