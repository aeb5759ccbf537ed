import type { McpTool } from '../play/mcp-session.ts'

/**
 * The tool of that name, or the first where none is asked for. Requests tell of tools by the names that their servers use, and
 * clients may know them as `{server}_{name}`.
 */
export function findTool(tools: readonly McpTool[], chosen: string | undefined): McpTool | undefined {
  if (chosen === undefined) return tools[0]
  return tools.find(({ name }) => name === chosen) ?? tools.find(({ name }) => name.endsWith(`_${chosen}`))
}
