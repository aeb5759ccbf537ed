import type { RequestSummary } from '@portico/gateway/admin-api'
import { knownModels } from '../models/known-models.ts'
import type { ToolList } from '../play/mcp-session.ts'
import type { PlayTarget } from '../play/targets.ts'
import { routeTitle } from '../format/print-match.ts'
import type { PaletteEntry } from './palette-entries.ts'

/** Models that the config or earlier requests name; each leads to the playground with it chosen. */
export function modelEntries(targets: readonly PlayTarget[], calls: readonly RequestSummary[]): PaletteEntry[] {
  return targets.flatMap((target) =>
    knownModels(target, calls).map((model) => ({
      ...{ kind: 'model', name: model, where: routeTitle(target.route), isMono: true },
      action: { kind: 'model', route: target.route.key, model } as const,
    })),
  )
}

/** Lists of tools from the query cache; the second part of a key is the route. */
type CachedLists = readonly (readonly [readonly unknown[], ToolList | undefined])[]

/** Tools that this page listed or that were called lately. A search does not call MCP servers. */
export function toolEntries(
  targets: readonly PlayTarget[],
  calls: readonly RequestSummary[],
  lists: CachedLists,
): PaletteEntry[] {
  return targets.flatMap(({ route }) => {
    const listed = lists.flatMap(([[, of], list]) => (of === route.key ? (list?.tools ?? []) : []))
    const names = new Set(listed.map(({ name }) => name))
    for (const { mcp, route: by } of calls) {
      if (mcp?.kind !== 'tool' || mcp.name === null || by !== route.name) continue
      // By the name that clients see, where that is known.
      const isListed = [...names].some((name) => name === mcp.name || name.endsWith(`_${mcp.name}`))
      if (!isListed) names.add(mcp.name)
    }
    return [...names].map((tool) => ({
      ...{ kind: 'tool', name: tool, where: routeTitle(route), isMono: true },
      action: { kind: 'tool', route: route.key, tool } as const,
    }))
  })
}
