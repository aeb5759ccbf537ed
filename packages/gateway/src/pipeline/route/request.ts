/** The fields of a request that route matching reads. Except for `host`, texts are as the client sent them. */
export interface RoutableRequest {
  method: string
  /** Normalized by `normalizeHost`. */
  host: string
  /** As sent, with its port. */
  authority: string
  scheme: string
  /** Without the query. */
  path: string
  /** Without the question mark; empty when there is none. */
  query: string
  /** The nth line (from 0) with this lower-case name. */
  header(name: string, occurrence: number): string | undefined
}
