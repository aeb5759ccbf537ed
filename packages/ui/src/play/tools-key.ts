/** The first part of the query keys of lists of tools. */
export const TOOLS_KEY = 'mcp-tools'

/** The query key of a list of tools: its route and its session. */
export function toolsKey(route: string, path: string, headers: string): readonly string[] {
  return [TOOLS_KEY, route, path, headers]
}
