/** The choice of an endpoint of an inference pool, as records and access logs show it. */
export interface EndpointPick {
  /** Name of the backend. */
  readonly pool: string
  /** The endpoints that the picker chose, in its order; empty when it chose none. */
  readonly picked: readonly string[]
  /** The endpoints that it chose and that are no members of the pool. */
  readonly strangers: readonly string[]
  readonly outcome: 'picked' | 'answered' | 'fallback' | 'failed'
  /** Why the picker's choice was not used; null when it was used. */
  readonly cause: string | null
  /** The endpoint whose response the client got; null before there is a response. */
  served: string | null
}
