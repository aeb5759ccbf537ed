/** Edits of the config in the admin API. Types only, which programs and pages outside of the gateway share. */

/** Body of `POST /api/config/check`. */
export interface CheckRequest {
  readonly text: string
  /** The generation of the history from which redacted values are restored; the file when unset. */
  readonly generation?: number
}

/** Body of `POST /api/config/apply`. */
export interface ApplyRequest extends CheckRequest {
  /** `version` of the file that was edited. */
  readonly basedOn: string
}

/** Answer of `POST /api/config/check`, and of `POST /api/config/apply` where it was refused for what the text says. */
export interface CheckedConfig {
  /** The version of the file that the text was compared with. */
  readonly version: string
  /** Problems that keep the text from going live. */
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigProblem[]
  /** Edits that need write access to the file itself. */
  readonly refused: readonly RefusedEdit[]
  /** The changes that the text would make; null when it cannot go live. */
  readonly effect: ConfigEffect | null
}

/** Answer of `POST /api/config/apply`. */
export interface AppliedConfig {
  readonly generation: number
  /** The version of the file as it is now. */
  readonly version: string
}

export interface ConfigProblem {
  readonly text: string
  /** Null where it is about no place of the file. */
  readonly line: number | null
  readonly column: number | null
}

export interface RefusedEdit {
  readonly kind: 'stdio' | 'file' | 'variable' | 'config'
  /** `binds[0].listeners[0]` */
  readonly path: string
  readonly line: number
  readonly column: number
  readonly text: string
}

/** The changes that a config makes to the live one. */
export interface ConfigEffect {
  readonly binds: PartChanges
  readonly listeners: PartChanges
  /** `changed` has those too that a policy or a backend of theirs changes. */
  readonly routes: PartChanges
  readonly backends: PartChanges
  readonly policies: PartChanges
  readonly ports: { readonly opened: readonly string[]; readonly closed: readonly string[] }
  readonly limits: LimitChanges
  /** Connections that are open on the ports that close. */
  readonly connections: number
  readonly streams: OpenStreams
}

/**
 * Open work at the time of the request: requests whose response is incomplete, WebSockets and other upgraded connections,
 * connections without HTTP.
 */
export interface OpenStreams {
  readonly open: number
  /** On routes that change or are dropped. */
  readonly onThem: number
  /** Workers that were too busy to say. */
  readonly unheard: number
}

/** Keys, as in `/config_dump`; of many the first hundred. */
export interface PartChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly dropped: readonly string[]
  readonly counts: { readonly added: number; readonly changed: number; readonly dropped: number }
  /** How many there are after it. */
  readonly total: number
}

export interface LimitChanges {
  /** Limits that stay in the config, but start with a full budget. */
  readonly reset: readonly string[]
  readonly added: readonly string[]
  readonly dropped: readonly string[]
}

/** Answer of `GET /api/config/history`, newest first. */
export interface ConfigHistory {
  readonly live: number
  readonly generations: readonly PastConfig[]
}

export interface PastConfig {
  readonly generation: number
  /** When it went live, in milliseconds since 1970. */
  readonly at: number
  readonly characters: number
}

/** Answer of `GET /api/config/history/{generation}`. */
export interface PastConfigText extends PastConfig {
  /** Without secrets; null where it cannot be shown. */
  readonly text: string | null
  readonly reason: string | null
}
