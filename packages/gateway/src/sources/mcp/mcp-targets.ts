import type { Path } from '../../schema/problem.ts'
import type { ConfigFile } from '../schema.ts'

type McpConfig = NonNullable<ConfigFile['backends'][number]['mcp']>
export type McpTargetConfig = McpConfig['targets'][number]

/** Returns every MCP backend of a file, at any level. */
export function mcpBackendsOf({ backends, binds }: ConfigFile): { path: Path; mcp: McpConfig }[] {
  const found: { path: Path; mcp: McpConfig }[] = []
  for (const [index, { mcp }] of backends.entries()) {
    if (mcp !== undefined) found.push({ path: ['backends', index, 'mcp'], mcp })
  }
  for (const [bind, { listeners }] of binds.entries()) {
    for (const [listener, { routes }] of listeners.entries()) {
      for (const [index, route] of routes.entries()) {
        if (!route.backends.some(({ mcp }) => mcp !== undefined)) continue
        for (const [position, { mcp }] of route.backends.entries()) {
          if (mcp === undefined) continue
          const path = ['binds', bind, 'listeners', listener, 'routes', index, 'backends', position, 'mcp']
          found.push({ path, mcp })
        }
      }
    }
  }
  return found
}
