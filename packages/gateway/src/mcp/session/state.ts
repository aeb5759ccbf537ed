import type { JsonObject } from '@portico/http/json'

/** What a session is, as its id carries it: any worker or replica with the same key can go on from here. */
export interface SessionState {
  /** Names it where ids are too long: in logs, in the hub, towards processes. */
  key: string
  /** Key of the backend that it was begun at. */
  backend: string
  /** Whose it is; nobody else may use it. */
  principal: string
  /** Seconds since 1970. */
  expiresAt: number
  /** Revision that was agreed on with the client. */
  version: string
  /** Params of the client's `initialize`, to begin anew with a target that forgot it. */
  initialize: JsonObject
  /** Targets that took part when it was begun. */
  targets: readonly TargetState[]
}

export interface TargetState {
  name: string
  /** What the target calls the session; empty when it does not name it. */
  session: string
  /** Revision that was agreed on with the target. */
  version: string
}
