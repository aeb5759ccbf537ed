import type { McpTool } from '../play/mcp-session.ts'

/** What a tool costs a model with each question, roughly: four bytes of JSON are about a token. */
export function estimatedTokens({ name, description, inputSchema }: McpTool): number {
  const bytes = new TextEncoder().encode(JSON.stringify({ name, description, parameters: inputSchema })).length
  return Math.ceil(bytes / 4)
}
