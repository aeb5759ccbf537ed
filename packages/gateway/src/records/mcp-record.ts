export type McpItemKind = 'tool' | 'prompt' | 'resource' | 'task'

/** A tool, prompt, resource or task of a target, under the target's own name for it. */
export interface McpItem {
  kind: McpItemKind
  /** The URI of a resource, the id of a task, otherwise the name. */
  name: string
  target: string
}

/** The outcome of a message: `tool_error` is a result with `isError`, `denied` means that a rule denied the message. */
export type McpOutcome = 'ok' | 'error' | 'tool_error' | 'denied' | 'unavailable' | 'cancelled'

/** The record of the JSON-RPC message behind one request. Expressions read it as `mcp`; metrics count by it. */
export class McpRecord {
  /** `tools/call`; empty on responses, and on requests that open or end a stream. */
  method = ''
  /** Name of the called target; empty when there were several targets, or none. */
  target = ''
  /** The item that the message names; null for lists and for messages that name no item. */
  item: McpItem | null = null
  /** The item that a rule is evaluated for, when it differs from the item of the message. */
  judged: McpItem | null = null
  /** The gateway's own name of the session. The session id that clients hold is a credential and is never exposed. */
  session = ''
  /** Protocol revision used with the client. */
  version = ''
  /** Null until there is a response. */
  outcome: McpOutcome | null = null
  errorCode: number | null = null
  errorMessage = ''
  /** Milliseconds on the clock of `rx.startedAt`; -1 until the target was called. */
  askedAt = -1
  answeredAt = -1

  /** How long the targets took, in milliseconds; null until they have responded. */
  get targetMillis(): number | null {
    return this.askedAt === -1 || this.answeredAt === -1 ? null : this.answeredAt - this.askedAt
  }

  fail(outcome: McpOutcome, code: number, message: string): void {
    this.outcome = outcome
    this.errorCode = code
    this.errorMessage = message
  }
}
