/** Under which lists of tools are kept, with what tells their sessions apart behind it. */
export const TOOLS_KEY = 'mcp-tools'

/** The route that a list is of. */
export function toolsKey(route: string, path: string, headers: string): readonly string[] {
  return [TOOLS_KEY, route, path, headers]
}
