/** The identity of a workload in a mesh: a service account of a namespace in a trust domain. */
export interface SpiffeId {
  readonly trustDomain: string
  readonly namespace: string
  readonly serviceAccount: string
}

/**
 * Parses `spiffe://<trust domain>/ns/<namespace>/sa/<service account>`. Returns null for any other text: there is one
 * spelling of an identity, so texts can be compared byte for byte.
 */
export function parseSpiffe(uri: string): SpiffeId | null {
  if (uri.length > MAX_URI) return null
  const [, trustDomain = '', namespace = '', serviceAccount = ''] = URI.exec(uri) ?? []
  if (!isTrustDomain(trustDomain) || !isNamespace(namespace) || !isServiceAccount(serviceAccount)) return null
  return { trustDomain, namespace, serviceAccount }
}

export function formatSpiffe({ trustDomain, namespace, serviceAccount }: SpiffeId): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`
}

/** Returns the SPIFFE ID among the names of a certificate, such as `URI:spiffe://…`; null unless it is the only URI. */
export function spiffeIn(names: readonly string[]): string | null {
  const [name, second] = names.filter((each) => each.startsWith(URI_NAME))
  if (name === undefined || second !== undefined) return null
  const uri = name.slice(URI_NAME.length)
  return parseSpiffe(uri) === null ? null : uri
}

/** Returns whether a text is a trust domain name of the SPIFFE standard: lower case, without port or user. */
export function isTrustDomain(text: string): boolean {
  return /^[a-z0-9._-]{1,255}$/.test(text)
}

/** Returns whether a text is the name of a Kubernetes namespace. */
export function isNamespace(text: string): boolean {
  return text.length <= 63 && LABEL.test(text)
}

/** Returns whether a text is the name of a Kubernetes service account. */
export function isServiceAccount(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label))
}

/** The longest URI of the SPIFFE standard, in bytes. */
const MAX_URI = 2_048
const URI_NAME = 'URI:'
const URI = /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/
const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
