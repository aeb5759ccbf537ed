/** An object of Kubernetes, as its API server or a file gives it. Nothing of it is trusted beyond its name. */
export interface Resource {
  apiVersion: string
  kind: string
  metadata: Metadata
  spec?: unknown
  /** Of Secrets (base64) and ConfigMaps. */
  data?: unknown
  /** Of Secrets in files. */
  stringData?: unknown
  /** Only its metadata is known so far: nothing that is made of it counts. */
  isPartial?: true
}

export interface Metadata {
  name: string
  /** Not there for kinds without one, such as GatewayClass. */
  namespace?: string
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  generation?: number
  /** RFC 3339. */
  creationTimestamp?: string
  uid?: string
  resourceVersion?: string
}

/** `namespace/name`, or the name alone for kinds without a namespace. */
export function keyOf({ metadata: { namespace, name } }: Resource): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
