import type { CallAnswer } from '../remote/remote-waiter.ts'
import type { TargetFailure } from '../transport.ts'
import type { ProcessSpec } from '../hub.ts'

/** An entry about a session, valid until the session expires, in milliseconds since 1970. */
export interface Mark {
  key: string
  value: string
  expiresAt: number
}

export type HubToWorker =
  /** The entries that exist when the worker starts. */
  | { kind: 'known'; revoked: Mark[]; renamed: Mark[] }
  /** The worker replies with `acknowledge`. */
  | { kind: 'revoked'; mark: Mark; ack: number }
  | { kind: 'renamed'; mark: Mark }
  /** Sent when every worker has acknowledged the revocation. */
  | { kind: 'done'; id: number }
  /** The worker replies with `delivered`. */
  | { kind: 'mail'; mail: number; listener: number; text: string }
  | { kind: 'sent'; id: number; isTaken: boolean }
  /** The lists of these backends changed, by a config that every worker has, or because a lost target recovered. */
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
  /** The hub sends `changed` to every worker. */
  | { kind: 'announce'; backend: string }
  | { kind: 'process'; message: ProcessFromWorker }

/** The results of calls to processes. */
export type ProcessToWorker = CallAnswer | { kind: 'told'; call: number; failure: TargetFailure | null }

/** A call to a process. Each worker numbers its own specs and calls. */
export type ProcessFromWorker =
  /** Assigns a number to a spec. */
  | { kind: 'spec'; spec: number; content: ProcessSpec }
  | { kind: 'request'; spec: number; session: string; call: number; text: string }
  | { kind: 'tell'; spec: number; session: string; call: number; text: string }
  | { kind: 'listen'; spec: number; session: string; call: number }
  | { kind: 'end'; spec: number; session: string }
  | { kind: 'cancel'; call: number }
  /** Reports message bytes that the client has taken: as many more may be sent. */
  | { kind: 'took'; call: number; bytes: number }
