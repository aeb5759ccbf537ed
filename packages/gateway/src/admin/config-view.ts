/** The live config in the admin API. Types only, which programs and pages outside of the gateway share. */

import type { ConfigProblem } from './config-edit-view.ts'

export type * from './backtest/backtest-view.ts'
export type * from './config-edit-view.ts'

/** The origin of a policy. */
export interface PolicyOrigin {
  /** Key of the attachment, as in a dump of the config. */
  readonly key: string
  readonly on: 'gateway' | 'bind' | 'listenerSet' | 'listener' | 'route' | 'rule' | 'backend'
}

/** A policy as it holds at one place. */
export interface HeldPolicy {
  readonly name: string
  /** Without secrets. One, unless all of them count: then from the farthest to the nearest. */
  readonly configs: readonly unknown[]
  readonly from: PolicyOrigin
  /** Attachments farther away that say something of it, too: it took their place, or counts beside them. */
  readonly others: readonly PolicyOrigin[]
  readonly isJoined: boolean
}

export interface ViewedMatch {
  /** `pathPrefix /api` */
  readonly path: { readonly kind: 'exact' | 'pathPrefix' | 'regex'; readonly value: string }
  readonly method: string | null
  readonly headers: readonly ViewedValueMatch[]
  readonly query: readonly ViewedValueMatch[]
}

export interface ViewedValueMatch {
  readonly name: string
  readonly kind: 'exact' | 'regex'
  readonly value: string
}

export interface ViewedRoute {
  readonly key: string
  readonly name: string
  /** Empty where a route is one rule. */
  readonly rule: string
  readonly hostnames: readonly string[]
  readonly matches: readonly ViewedMatch[]
  /** In the order in which requests meet them. */
  readonly policies: readonly HeldPolicy[]
  readonly backends: readonly ViewedRouteBackend[]
}

export interface ViewedRouteBackend {
  /** Key of the backend. */
  readonly backend: string
  readonly name: string
  readonly weight: number
  readonly policies: readonly HeldPolicy[]
}

export interface ViewedListener {
  readonly key: string
  readonly name: string
  readonly protocol: string
  /** Empty for every host. */
  readonly hostname: string
  /** Before a route is chosen. */
  readonly policies: readonly HeldPolicy[]
  readonly routes: readonly ViewedRoute[]
}

export interface ViewedBind {
  readonly key: string
  /** The real one, where the config leaves it open. */
  readonly port: number
  /** Empty for every address of the machine. */
  readonly address: string
  /** Policies for connections, when some hold for this port alone. */
  readonly frontend?: readonly HeldPolicy[]
  readonly listeners: readonly ViewedListener[]
}

/** Answer of `GET /api/routes`. */
export interface RoutesView {
  readonly generation: number
  /** Policies for connections and for every request. */
  readonly frontend: readonly HeldPolicy[]
  readonly binds: readonly ViewedBind[]
}

export interface ViewedBackend {
  readonly key: string
  readonly name: string
  /** `static`, `service`, `ai`, `mcp`, `dynamicForwardProxy`, … */
  readonly kind: string
  /** In a line: `127.0.0.1:9000`; empty where it has parts. */
  readonly at: string
  /** Providers of a model backend in order of priority, targets of an MCP backend in one group. */
  readonly groups: readonly (readonly ViewedPart[])[]
  /** Which of the groups of a model backend gets the next request; null for other kinds. */
  readonly activeGroup: number | null
  /** Addresses that were called; parts have their own. */
  readonly endpoints: readonly ViewedEndpoint[]
}

/** The current health of an address, or of a provider of models as a whole. */
export interface ViewedEndpoint {
  /** `127.0.0.1:9000`, or the name of the provider. */
  readonly name: string
  /** `failing`: its last answer was unhealthy. */
  readonly state: 'healthy' | 'failing' | 'evicted'
  /**
   * Whether a `health` policy applies, so that all workers share the health of the endpoint. Without the policy it is
   * never evicted.
   */
  readonly isJudged: boolean
  /** Milliseconds since 1970; null unless it is evicted. */
  readonly evictedUntil: number | null
  /** Evictions, and unhealthy answers, since the last healthy one. */
  readonly evictions: number
  readonly failures: number
  /** From 0 to 1, of the last answers. */
  readonly health: number
  /** Milliseconds to the head of an answer, as a moving average; null until the first. */
  readonly latency: number | null
  /** Calls under way. */
  readonly pending: number
  /** Why it was found unhealthy last: `status 503`, `connect_failed`. */
  readonly lastFailure: { readonly at: number; readonly cause: string } | null
}

/** The last error of an MCP target, among the requests that are kept. */
export interface ViewedError {
  readonly at: number
  /** Id of the record. */
  readonly request: string
  /** `error`, `tool_error`, `unavailable`. */
  readonly outcome: string
  readonly message: string
}

export interface ViewedPart {
  readonly name: string
  /** `openai`, `http`, `stdio` */
  readonly kind: string
  readonly at: string
  /** The health of a provider as a whole; null before its first request, and for MCP targets. */
  readonly health: ViewedEndpoint | null
  /** Addresses that were called. */
  readonly endpoints: readonly ViewedEndpoint[]
  /** The last error of an MCP target; null for providers, and without an error. */
  readonly lastError: ViewedError | null
}

/** Answer of `GET /api/backends`. */
export interface BackendsView {
  readonly generation: number
  /** Workers that were too busy to say how their endpoints do. */
  readonly unheard: number
  readonly backends: readonly ViewedBackend[]
}

/** Whether the config may be changed from here. */
export interface EditLeave {
  readonly isAllowed: boolean
  /** Why not, and what to do. */
  readonly reason: string | null
  /** Which token it asks for: `ADMIN_TOKEN`, or the one that the quick start printed on its terminal. */
  readonly token: 'variable' | 'terminal'
}

/** Answer of `GET /api/config`. */
export interface ConfigView {
  readonly generation: number
  /** When it went live, in milliseconds since 1970. */
  readonly since: number | null
  /** Path of the file; empty where there is none. */
  readonly file: string
  /** The text came from no file, and changes of it end with the process: the quick start. */
  readonly isInMemory: boolean
  /** The file as it is now, without secrets; null where there is none, or it cannot be shown. */
  readonly text: string | null
  /** Why there is no text; null where there is. */
  readonly reason: string | null
  /** Tells whether the file has changed since; null where there is no text. */
  readonly version: string | null
  readonly edit: EditLeave
  /** Problems of the last reload, when it was rejected: then the text is not live. */
  readonly problems: readonly ConfigProblem[]
}
