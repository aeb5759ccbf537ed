/** The admin API that tells which route a request would take. Types only, as for records. */

/** Body of `POST /api/routes/match`. */
export interface MatchQuestion {
  /** A URL such as `https://shop.example.com/api?x=1`, or a path, which is matched at every port without a host. */
  readonly url: string
  /** `GET` by default. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/**
 * A route that would not be taken, with the conditions that the request does not meet; none when another route only
 * takes precedence.
 */
export interface MatchCandidate {
  /** Key of the route. */
  readonly route: string
  readonly name: string
  /** The position in `matches` of the route. */
  readonly match: number
  readonly lacks: readonly string[]
}

/** The match at one port. */
export interface PortMatch {
  readonly bind: string
  readonly port: number
  /** Null when no listener of the port accepts the host. */
  readonly listener: { readonly key: string; readonly name: string } | null
  /** Null when no route matches. */
  readonly route: { readonly key: string; readonly name: string; readonly rule: string; readonly match: number } | null
  /** The names of the compared routes, in order. */
  readonly compared: readonly string[]
  /** The nearest routes that are not taken. */
  readonly nearest: readonly MatchCandidate[]
  /** Limits of this result, such as policies that were not evaluated. */
  readonly remarks: readonly string[]
}

/** Response of `POST /api/routes/match`. */
export interface RouteMatchView {
  readonly generation: number
  readonly method: string
  readonly host: string
  readonly path: string
  readonly ports: readonly PortMatch[]
}
