import type { CallToolResult, InputRequiredResult, McpHttpHandler, ServerContext } from '@modelcontextprotocol/server'
import type { Tasks } from './tasks.ts'

/** What a tool may come back with; `resultType: 'task'` of the tasks extension is a result with more members. */
export type ToolResult = CallToolResult | InputRequiredResult

/** A tool of the reference server. */
export interface ReferenceTool {
  name: string
  description: string
  /** JSON Schema; any object when unset. */
  input?: Record<string, unknown>
  /** Unlike in `McpServer`, what it throws is the error of the JSON-RPC answer. */
  call(args: Record<string, unknown>, call: ToolCall): ToolResult | Promise<ToolResult>
}

/** What a tool can reach. */
export interface ToolCall {
  ctx: ServerContext
  /** Tells clients of a change, the way their revision wants it. */
  changed: McpHttpHandler['notify']
  tasks: Tasks
  /** Calls of the tool in this session so far, this one included; a revision without sessions counts none. */
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
