import type { Deadlines } from '@portico/http'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { McpItem } from '../../records/mcp-record.ts'
import type { McpJudge } from '../authorize.ts'
import type { TargetTransport } from '../transport.ts'

/** How long a target may take before it counts as failed. */
export interface TargetLimits {
  /** The limit for `initialize` and `server/discover`; it includes the start of a process. */
  readonly beginMs: number
  /** The limit for all pages of a list. */
  readonly listMs: number
  readonly deadlines: Deadlines
}

/** One MCP server of a backend. */
export interface Target {
  readonly name: string
  readonly transport: TargetTransport
  readonly judge: McpJudge
  /** Records the decision of shadow rules about an item with a request; null without shadow rules. */
  readonly shadow: ((rx: RequestContext, item: McpItem) => void) | null
  readonly limits: TargetLimits
  /** Whether the client's credentials are forwarded to the target, as `passthrough` in the config says. */
  readonly forwardsCredentials: boolean
}
