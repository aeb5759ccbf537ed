import type { McpTool } from '../play/mcp-session.ts'

/** The tokens that a tool adds to each model call, estimated: four bytes of JSON are about one token. */
export function estimatedTokens({ name, description, inputSchema }: McpTool): number {
  const bytes = new TextEncoder().encode(JSON.stringify({ name, description, parameters: inputSchema })).length
  return Math.ceil(bytes / 4)
}
