import type { Path } from '../schema/problem.ts'
import type { ConfigFile } from './schema.ts'

type McpConfig = NonNullable<ConfigFile['backends'][number]['mcp']>
export type McpTargetConfig = McpConfig['targets'][number]

/** Every MCP backend of a file, wherever it stands. */
export function mcpBackendsOf({ backends, binds }: ConfigFile): { path: Path; mcp: McpConfig }[] {
  const named = backends.map(({ mcp }, index) => ({ path: ['backends', index] as Path, mcp }))
  const inline = binds.flatMap(({ listeners }, bind) =>
    listeners.flatMap(({ routes }, listener) =>
      routes.flatMap((route, index) => {
        const path = ['binds', bind, 'listeners', listener, 'routes', index, 'backends']
        return route.backends.map(({ mcp }, position) => ({ path: [...path, position] as Path, mcp }))
      }),
    ),
  )
  return [...named, ...inline].flatMap(({ path, mcp }) => (mcp === undefined ? [] : { path: [...path, 'mcp'], mcp }))
}
