import type { JsonObject } from './json.ts'

/** The spec of GwParameters, read and checked. */
export interface Parameters {
  logging?: { level?: string; format?: 'json' | 'text' }
  /** Contents of a config file. */
  rawConfig?: JsonObject
  image?: ImageParts
  env?: readonly EnvVar[]
  resources?: { limits?: Quantities; requests?: Quantities; claims?: readonly JsonObject[] }
  /** Seconds. */
  shutdown?: { min: number; max: number }
  deployment?: Overlay
  service?: Overlay
  serviceAccount?: Overlay
  podDisruptionBudget?: Overlay
  horizontalPodAutoscaler?: Overlay
}

/** Changes to an object that is deployed. */
export interface Overlay {
  metadata?: { labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>> }
  /** A strategic merge patch of its spec. */
  spec?: JsonObject
}

export interface ImageParts {
  registry?: string
  repository?: string
  tag?: string
  digest?: string
  pullPolicy?: string
}

/** A variable of a container; `valueFrom` is for Kubernetes to read. */
export interface EnvVar {
  name: string
  value?: string
  valueFrom?: JsonObject
}

type Quantities = Readonly<Record<string, string | number>>

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
