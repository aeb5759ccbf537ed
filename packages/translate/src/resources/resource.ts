/** A Kubernetes object from an API server or a file. Only its name is trusted. */
export interface Resource {
  apiVersion: string
  kind: string
  metadata: Metadata
  spec?: unknown
  /** The status of a Pod, and that of a GwPolicy with `spec.verify`; translation reads no other status. */
  status?: unknown
  /** Data of Secrets (base64) and ConfigMaps. */
  data?: unknown
  /** Plain data of Secrets in files. */
  stringData?: unknown
  /** Set while only the metadata is known; results that depend on the content are not final. */
  isPartial?: true
}

export interface Metadata {
  name: string
  /** The namespace; absent for cluster-scoped kinds such as GatewayClass. */
  namespace?: string
  labels?: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  generation?: number
  /** The time of creation, RFC 3339. */
  creationTimestamp?: string
  /** Set while the object is being deleted, RFC 3339. */
  deletionTimestamp?: string
  uid?: string
  resourceVersion?: string
}

/** `namespace/name`, or the name for cluster-scoped kinds. */
export function keyOf({ metadata: { namespace, name } }: Resource): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
