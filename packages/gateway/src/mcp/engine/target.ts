import type { McpJudge } from '../authorize.ts'
import type { TargetTransport } from '../transports/transport.ts'

/** One server behind a backend. */
export interface Target {
  readonly name: string
  readonly transport: TargetTransport
  readonly judge: McpJudge
  /** Whether credentials of the client go on to it; the config must say so. */
  readonly forwardsCredentials: boolean
}
