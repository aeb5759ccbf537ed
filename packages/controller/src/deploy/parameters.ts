import type { GwParametersSpec } from '@portico/translate'

export type Parameters = GwParametersSpec

/** Changes to an object that is deployed: its `spec` is a strategic merge patch. */
export type Overlay = NonNullable<Parameters['deployment']>

export type ImageParts = NonNullable<Parameters['image']>

/** A variable of a container; `valueFrom` is for Kubernetes to read. */
export type EnvVar = NonNullable<Parameters['env']>[number]

/** Parameters with the resource that they are from, `namespace/name`. */
export interface Level {
  from: string
  spec: Parameters
}

/** Fields that are not overlays, of all levels; what a later one says wins. */
export type Typed = Pick<Parameters, 'logging' | 'rawConfig' | 'image' | 'env' | 'resources' | 'shutdown'>

export function mergeTyped(levels: readonly Level[]): Typed {
  return levels.map(({ spec }): Typed => spec).reduce(merge, {})
}

function merge(below: Typed, above: Typed): Typed {
  const claims = above.resources?.claims ?? below.resources?.claims
  return {
    logging: { ...below.logging, ...above.logging },
    rawConfig: above.rawConfig ?? below.rawConfig ?? {},
    image: { ...below.image, ...above.image },
    env: mergeEnv(below.env ?? [], above.env ?? []),
    resources: {
      limits: { ...below.resources?.limits, ...above.resources?.limits },
      requests: { ...below.resources?.requests, ...above.resources?.requests },
      ...(claims !== undefined && { claims }),
    },
    ...((above.shutdown ?? below.shutdown) && { shutdown: above.shutdown ?? below.shutdown }),
  }
}

/** By name: the last of a name counts, at the place of the first. */
function mergeEnv(below: readonly EnvVar[], above: readonly EnvVar[]): EnvVar[] {
  return [...new Map([...below, ...above].map((variable) => [variable.name, variable])).values()]
}
