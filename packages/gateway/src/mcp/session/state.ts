import type { JsonObject } from '@portico/http/json'

/** The state of a session, which its id contains encrypted: any worker or replica with the same key can use it. */
export interface SessionState {
  /** The short name of the session: in logs, in the hub, and towards processes. */
  key: string
  /** The key of the backend that the session belongs to. */
  backend: string
  /** The caller that the session belongs to; others may not use it. */
  principal: string
  /** Seconds since 1970. */
  expiresAt: number
  /** The revision negotiated with the client. */
  version: string
  /** The params of the client's `initialize`, to initialize a target again that lost the session. */
  initialize: JsonObject
  /** The targets that were initialized when the session began. */
  targets: readonly TargetState[]
}

export interface TargetState {
  name: string
  /** The target's own session id; empty when the target gave out none. */
  session: string
  /** The revision negotiated with the target. */
  version: string
}
