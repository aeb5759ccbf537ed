export type McpItemKind = 'tool' | 'prompt' | 'resource' | 'task'

/** Something that a target offers, by the names that the target itself uses. */
export interface McpItem {
  kind: McpItemKind
  /** Of a resource its URI, of a task its id. */
  name: string
  target: string
}

/** What became of a message: `tool_error` is an answer that says `isError`, `denied` the work of a rule. */
export type McpOutcome = 'ok' | 'error' | 'tool_error' | 'denied' | 'unavailable' | 'cancelled'

/** What is known of the JSON-RPC message behind one request; expressions read it as `mcp`, metrics count by it. */
export class McpRecord {
  /** `tools/call`; empty on responses, and on requests that open or end a stream. */
  method = ''
  /** Name of the target that was asked; empty when it was several, or none. */
  target = ''
  /** What the message is about; null for lists, and for whatever names nothing. */
  item: McpItem | null = null
  /** The item that a rule is being asked about, where it is not the one of the message. */
  judged: McpItem | null = null
  /** What the gateway itself calls the session: the id that clients have is a credential, and appears nowhere. */
  session = ''
  /** Revision that is spoken with the client. */
  version = ''
  /** Null until there is an answer. */
  outcome: McpOutcome | null = null
  errorCode: number | null = null
  errorMessage = ''
  /** Milliseconds of the clock of `rx.startedAt`; -1 before. */
  askedAt = -1
  answeredAt = -1

  /** How long the targets took, in milliseconds; null while they have not answered. */
  get targetMillis(): number | null {
    return this.askedAt === -1 || this.answeredAt === -1 ? null : this.answeredAt - this.askedAt
  }

  fail(outcome: McpOutcome, code: number, message: string): void {
    this.outcome = outcome
    this.errorCode = code
    this.errorMessage = message
  }
}
