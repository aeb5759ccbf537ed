import type { Deadlines } from '@portico/http'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { RequestGuard } from '../guard.ts'
import type { Hub } from '../hub.ts'
import type { WaitingCalls } from '../input/waiting-calls.ts'
import type { Namer } from '../names.ts'
import type { Sessions } from '../session/sessions.ts'
import type { Outages } from './outages.ts'
import type { Target } from '../targets/target.ts'

/** One backend of MCP servers, ready to be asked. */
export interface Endpoint {
  /** Key of the backend: sessions of another one are not known here. */
  readonly backend: string
  /** At least one: a backend without servers has no endpoint. */
  readonly targets: readonly [Target, ...Target[]]
  readonly namer: Namer
  /** Clients get session ids. */
  readonly isStateful: boolean
  /** A target that fails is left out. */
  readonly failsOpen: boolean
  /** Null unless targets that hang are left out: one target has nobody to go on with. */
  readonly outages: Outages | null
  readonly lifetimeMs: number
  readonly guard: RequestGuard
  readonly sessions: Sessions
  readonly hub: Hub
  readonly waiting: WaitingCalls
  readonly deadlines: Deadlines
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Milliseconds of the worker's own clock, as `rx.startedAt`. */
  readonly now: () => number
  /** A name that nobody can guess. */
  readonly newKey: () => string
  /** Most bytes of a client's message. */
  readonly maxBytes: number
  /** Most bytes of a message of a target that is looked into. */
  readonly maxAnswerBytes: number
  readonly bug: (error: unknown) => void
  readonly log: Logger
}

export function targetNamed({ targets }: Pick<Endpoint, 'targets'>, name: string): Target {
  const found = targets.find((target) => target.name === name)
  if (found === undefined) throw new Error(`no MCP target ${name}`)
  return found
}
