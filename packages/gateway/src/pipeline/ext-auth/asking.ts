import type { Callouts } from '../callouts/callouts.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Env } from '../context/step.ts'
import type { Decision } from './decision.ts'
import type { ForwardedBody } from './forwarded-body.ts'

/** The parts of a check that HTTP and gRPC share. */
export interface Asking {
  env: Env
  phase: 'request' | 'backend'
  callouts: Callouts
  timeoutMs: number
}

export type Ask = (rx: RequestContext, body: ForwardedBody | null) => Promise<Decision>
