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

/** How a target failed. Explanations are chosen by it, because the text of an error may come from the target. */
export type TargetFailureCause =
  | 'unreachable' // No connection to the target could be opened.
  | 'timeout' // The target did not answer in time.
  | 'lost' // The connection or the stream ended before the response was complete.
  | 'invalid_response' // The response is not valid MCP.
  | 'http_error' // The target responded with an HTTP error or a redirect.
  | 'error_response' // The target responded with a JSON-RPC error.
  | 'process_not_started' // The program of the target cannot be started.
  | 'process_ended' // The program of the target ended.
  | 'other' // A limit was reached, a policy of the target denied the call, or the gateway failed.

/** The failure of one target. */
export interface RecordedTargetFailure {
  /** Empty when several targets were called, and no single target caused the failure. */
  readonly target: string
  readonly cause: TargetFailureCause
  /** The status of an `http_error`; null otherwise. */
  readonly status: number | null
}

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
  /** Null unless a target failed: errors of the gateway itself have none. */
  failure: RecordedTargetFailure | null = null
  /** Milliseconds on the clock of `rx.startedAt`; -1 until the target was called. */
  askedAt = -1
  answeredAt = -1

  /** How long the targets took, in milliseconds; null until they have responded. */
  get targetMillis(): number | null {
    return this.askedAt === -1 || this.answeredAt === -1 ? null : this.answeredAt - this.askedAt
  }

  fail(outcome: McpOutcome, code: number, message: string, failure: RecordedTargetFailure | null = null): void {
    this.outcome = outcome
    this.errorCode = code
    this.errorMessage = message
    this.failure = failure
  }
}
