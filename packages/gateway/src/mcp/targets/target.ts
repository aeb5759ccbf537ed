import type { Deadlines } from '@portico/http'
import type { McpJudge } from '../authorize.ts'
import type { TargetTransport } from '../transport.ts'

/** How long a target may take before it counts as failed. */
export interface TargetLimits {
  /** To be told of a session, or to say who it is; the start of a program is part of it. */
  readonly beginMs: number
  /** For all pages of a list. */
  readonly listMs: number
  readonly deadlines: Deadlines
}

/** One server behind a backend. */
export interface Target {
  readonly name: string
  readonly transport: TargetTransport
  readonly judge: McpJudge
  readonly limits: TargetLimits
  /** Whether credentials of the client go on to it; the config must say so. */
  readonly forwardsCredentials: boolean
}
