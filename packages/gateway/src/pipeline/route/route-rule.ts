/** A route as the route table reads it. */
export interface RouteRule {
  key: string
  /** Empty for every host. */
  hostnames: readonly string[]
  /** ORed; empty on TCP and TLS listeners. */
  matches: readonly RouteMatch[]
  /** Present when other routes, which name this one in `within`, serve its requests. */
  delegates?: true
  /** The key of the route that delegates to this one. */
  within?: string
}

/** ANDed conditions. */
export interface RouteMatch {
  path: { kind: 'exact' | 'pathPrefix' | 'regex'; value: string }
  method: string | null
  headers: ValueMatch[]
  query: ValueMatch[]
}

export interface ValueMatch {
  /** Header names are lower case. */
  name: string
  kind: 'exact' | 'regex'
  value: string
}
