import type { CallAnswer } from '../remote/remote-waiter.ts'
import type { TargetFailure } from '../transport.ts'
import type { ProcessSpec } from '../hub.ts'

/** Something to be known of a session until its id expires, in milliseconds since 1970. */
export interface Mark {
  key: string
  value: string
  expiresAt: number
}

export type HubToWorker =
  /** All that was known when the worker was born. */
  | { kind: 'known'; revoked: Mark[]; renamed: Mark[] }
  /** Answered by `acknowledge`. */
  | { kind: 'revoked'; mark: Mark; ack: number }
  | { kind: 'renamed'; mark: Mark }
  /** Every worker knows of the revocation. */
  | { kind: 'done'; id: number }
  /** Answered by `delivered`. */
  | { kind: 'mail'; mail: number; listener: number; text: string }
  | { kind: 'sent'; id: number; isTaken: boolean }
  /** These backends offer something else by now: by a config that every worker has, or because a target is back. */
  | { kind: 'changed'; backends: string[] }
  | ProcessToWorker

export type HubFromWorker =
  | { kind: 'revoke'; id: number; session: string; expiresAt: number }
  | { kind: 'acknowledge'; ack: number }
  | { kind: 'rename'; mark: Mark }
  | { kind: 'listen'; address: string; listener: number }
  | { kind: 'unlisten'; address: string; listener: number }
  | { kind: 'send'; id: number; address: string; text: string }
  | { kind: 'delivered'; mail: number; isTaken: boolean }
  /** Answered by `changed`, to every worker. */
  | { kind: 'announce'; backend: string }
  | { kind: 'process'; message: ProcessFromWorker }

/** What comes of calls to processes. */
export type ProcessToWorker = CallAnswer | { kind: 'told'; call: number; failure: TargetFailure | null }

/** Numbers of specs and calls are the worker's own. */
export type ProcessFromWorker =
  /** What the number stands for from now on. */
  | { kind: 'spec'; spec: number; content: ProcessSpec }
  | { kind: 'request'; spec: number; session: string; call: number; text: string }
  | { kind: 'tell'; spec: number; session: string; call: number; text: string }
  | { kind: 'listen'; spec: number; session: string; call: number }
  | { kind: 'end'; spec: number; session: string }
  | { kind: 'cancel'; call: number }
  /** So many bytes of messages have found their way: as many may follow. */
  | { kind: 'took'; call: number; bytes: number }
