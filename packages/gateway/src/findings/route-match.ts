/** What the admin API says of which route would be taken. Types alone, as for records. */

/** Body of `POST /api/routes/match`. */
export interface MatchQuestion {
  /** `https://shop.example.com/api?x=1`, or a path: then every port is asked, for no host. */
  readonly url: string
  /** `GET` when left out. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** A route that would not be taken, with what the request lacks for it: nothing, where it would be if the other were not. */
export interface MatchCandidate {
  /** Key of the route. */
  readonly route: string
  readonly name: string
  /** Position in its `matches`. */
  readonly match: number
  readonly lacks: readonly string[]
}

/** What one port would do. */
export interface PortMatch {
  readonly bind: string
  readonly port: number
  /** Null where no listener of the port is for the host. */
  readonly listener: { readonly key: string; readonly name: string } | null
  /** Null where no route fits. */
  readonly route: { readonly key: string; readonly name: string; readonly rule: string; readonly match: number } | null
  /** Names of the routes that were compared, in order. */
  readonly compared: readonly string[]
  /** The nearest of those that are not taken. */
  readonly nearest: readonly MatchCandidate[]
  /** What this answer leaves out. */
  readonly remarks: readonly string[]
}

/** Answer of `POST /api/routes/match`. */
export interface RouteMatchView {
  readonly generation: number
  readonly method: string
  readonly host: string
  readonly path: string
  readonly ports: readonly PortMatch[]
}
