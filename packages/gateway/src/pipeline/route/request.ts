/** What matching reads of a request. Texts are as the client sent them: nothing is decoded or normalised. */
export interface RoutableRequest {
  method: string
  /** Normalised, see normalizeHost. */
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
