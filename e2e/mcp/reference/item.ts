import type { CallToolResult, InputRequiredResult, McpHttpHandler, ServerContext } from '@modelcontextprotocol/server'
import type { Tasks } from './tasks.ts'

/** The result of a tool. `resultType: 'task'` of the tasks extension is a result with additional fields. */
type ToolResult = CallToolResult | InputRequiredResult

/** A tool of the reference server. */
export interface ReferenceTool {
  name: string
  description: string
  /** JSON Schema; any object when unset. */
  input?: Record<string, unknown>
  /** Unlike in `McpServer`, an exception becomes the error of the JSON-RPC response. */
  call(args: Record<string, unknown>, call: ToolCall): ToolResult | Promise<ToolResult>
}

/** The context of a tool call. */
export interface ToolCall {
  ctx: ServerContext
  /** Notifies clients of a change, as their revision requires. */
  changed: McpHttpHandler['notify']
  tasks: Tasks
  /** Number of calls of the tool in this session, including this one; not counted in a revision without sessions. */
  count: number
}

export function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] }
}

/** The smallest PNG: one red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

/** The smallest WAV: a header and no samples. */
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

/** Every second of a list, for two servers whose names are disjoint; all when `part` is null. */
export function partOf<Item>(items: readonly Item[], part: 0 | 1 | null): Item[] {
  return items.filter((_, index) => part === null || index % 2 === part)
}
