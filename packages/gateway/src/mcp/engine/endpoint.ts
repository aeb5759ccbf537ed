import type { Deadlines } from '@portico/http'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { Hub } from '../hub.ts'
import type { WaitingCalls } from '../input/waiting-calls.ts'
import type { Namer } from '../names.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Outages } from './outages.ts'
import type { Target } from '../targets/target.ts'

/** One backend of MCP servers, ready to serve requests. */
export interface Endpoint {
  /** The key of the backend; sessions are valid for one backend. */
  readonly backend: string
  /** At least one target: a backend without servers has no endpoint. */
  readonly targets: readonly [Target, ...Target[]]
  readonly namer: Namer
  /** Whether clients get session ids. */
  readonly isStateful: boolean
  /** Whether failed targets are left out. */
  readonly failsOpen: boolean
  /** Outages of targets that hang, which are then left out; null for a single target, which has no substitute. */
  readonly outages: Outages | null
  readonly lifetimeMs: number
  /** Returns the reason for refusing a request because of its host or origin; null when it is allowed. */
  readonly guard: (rx: RequestContext) => string | null
  readonly sessions: Sessions
  readonly hub: Hub
  readonly waiting: WaitingCalls
  readonly deadlines: Deadlines
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Milliseconds of the worker's own clock, as `rx.startedAt`. */
  readonly now: () => number
  /** Returns a random key that cannot be guessed. */
  readonly newKey: () => string
  /** The most bytes of a client's message. */
  readonly maxBytes: number
  /** The most bytes of a target's message that the gateway parses. */
  readonly maxAnswerBytes: number
  readonly bug: (error: unknown) => void
  readonly log: Logger
}
