import type { GwParametersSpec } from '@portico/translate'

export type Parameters = GwParametersSpec

/** Changes to a deployed object; its `spec` is a strategic merge patch. */
export type Overlay = NonNullable<Parameters['deployment']>

export type Autoscaling = NonNullable<Parameters['autoscaling']>

export type ImageParts = NonNullable<Parameters['image']>

/** An environment variable of a container; Kubernetes resolves `valueFrom`. */
export type EnvVar = NonNullable<Parameters['env']>[number]

/** Parameters, and the `namespace/name` of their resource. */
export interface Level {
  from: string
  spec: Parameters
}

/** The fields of all levels that are not overlays; later levels win. */
export type TypedParameters = Pick<
  Parameters,
  'logging' | 'rawConfig' | 'image' | 'env' | 'resources' | 'shutdown' | 'mesh' | 'workload' | 'autoscaling'
>

export function mergeTyped(levels: readonly Level[]): TypedParameters {
  return levels.map(({ spec }): TypedParameters => spec).reduce(merge, {})
}

function merge(below: TypedParameters, above: TypedParameters): TypedParameters {
  const resources = mergeResources(below.resources, above.resources)
  return {
    logging: { ...below.logging, ...above.logging },
    rawConfig: above.rawConfig ?? below.rawConfig ?? {},
    image: { ...below.image, ...above.image },
    env: mergeEnv(below.env ?? [], above.env ?? []),
    ...(resources !== undefined && { resources }),
    workload: { ...below.workload, ...above.workload },
    ...((above.mesh ?? below.mesh) && { mesh: { ...below.mesh, ...above.mesh } }),
    ...((above.autoscaling ?? below.autoscaling) && { autoscaling: above.autoscaling ?? below.autoscaling }),
    ...((above.shutdown ?? below.shutdown) && { shutdown: above.shutdown ?? below.shutdown }),
  }
}

/** Stays undefined when no level has `resources`, because the container then gets the default requests. */
function mergeResources(
  below: TypedParameters['resources'],
  above: TypedParameters['resources'],
): TypedParameters['resources'] {
  if (below === undefined || above === undefined) return above ?? below
  const claims = above.claims ?? below.claims
  return {
    limits: { ...below.limits, ...above.limits },
    requests: { ...below.requests, ...above.requests },
    ...(claims !== undefined && { claims }),
  }
}

/** Merges by name: the last value of a name wins, at the position of the first. */
function mergeEnv(below: readonly EnvVar[], above: readonly EnvVar[]): EnvVar[] {
  return [...new Map([...below, ...above].map((variable) => [variable.name, variable])).values()]
}
