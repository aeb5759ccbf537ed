import type { Callouts } from '../callouts.ts'
import type { RequestContext } from '../request-context.ts'
import type { Env } from '../step.ts'
import type { Decision } from './decision.ts'
import type { ForwardedBody } from './forwarded-body.ts'

/** What asking takes, whatever the protocol. */
export interface Asking {
  env: Env
  phase: 'request' | 'backend'
  callouts: Callouts
  timeoutMs: number
}

export type Ask = (rx: RequestContext, body: ForwardedBody | null) => Promise<Decision>
