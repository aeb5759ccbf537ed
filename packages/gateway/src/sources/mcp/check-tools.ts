import { matchesGlob } from '../../formats/glob.ts'
import { OfferedTools } from '../../mcp/offered-tools.ts'
import type { Path, Problem } from '../../schema/problem.ts'
import { type McpTargetConfig, mcpBackendsOf } from './mcp-targets.ts'
import type { ReadApis } from './read-apis.ts'
import type { ConfigFile } from '../schema.ts'

/** Checks `tools` of MCP targets. The tools of OpenAPI documents are known now, those of other targets only at runtime. */
export function checkTools(
  config: ConfigFile,
  toolsOf: ReadApis['toolsOf'],
): { problems: Problem[]; warnings: Problem[] } {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  for (const { path, mcp } of mcpBackendsOf(config)) {
    const isShared = mcp.prefixMode === 'Never'
    const taken = new Map<string, string>()
    for (const [index, target] of mcp.targets.entries()) {
      if (!isShared) taken.clear()
      const at = [...path, 'targets', index, 'tools']
      problems.push(...clashesOf(target, at, taken, namesOf(target, toolsOf)))
      warnings.push(...idleOf(target, at, namesOf(target, toolsOf)))
    }
  }
  return { problems, warnings }
}

/** The tools of an OpenAPI document; null when only the target itself knows its tools. */
function namesOf({ openapi }: McpTargetConfig, toolsOf: ReadApis['toolsOf']): string[] | null {
  const tools = openapi === undefined ? undefined : toolsOf.get(openapi)
  return tools?.operations.map(({ tool }) => tool.name) ?? null
}

/** Reports names that two tools would share. `taken` maps assigned names to their tools. */
function clashesOf(
  { name, tools }: McpTargetConfig,
  at: Path,
  taken: Map<string, string>,
  known: readonly string[] | null,
): Problem[] {
  if (tools === undefined) return []
  const offered = new OfferedTools(tools)
  return Object.entries(tools.rename).flatMap(([own, shown]) => {
    const displaced = known?.includes(shown) === true && offered.isChosen(shown) && offered.isDisplaced(shown)
    const other = taken.get(shown) ?? (displaced ? shown : undefined)
    taken.set(shown, `${own}\` of \`${name}`)
    if (other === undefined) return []
    return problemAt([...at, 'rename', own], 'conflict', {
      found: `found the name \`${shown}\`, which \`${other}\` has`,
      expected: 'a name that no other tool has',
    })
  })
}

/** Warnings for settings of tools that are not offered, or that an API does not have. */
function idleOf({ tools }: McpTargetConfig, at: Path, known: readonly string[] | null): Problem[] {
  if (tools === undefined) return []
  const offered = new OfferedTools(tools)
  const isKnown = (own: string): boolean => known === null || known.includes(own)
  const named = (['rename', 'description'] as const).flatMap((key) =>
    Object.keys(tools[key]).flatMap((own) =>
      isKnown(own) && offered.isChosen(own) ? [] : { path: [...at, key, own], name: own },
    ),
  )
  const patterns = (['include', 'exclude'] as const).flatMap((key) =>
    (tools[key] ?? []).flatMap((pattern, index) =>
      known === null || known.some((own) => matchesGlob(pattern, own))
        ? []
        : { path: [...at, key, index], name: pattern },
    ),
  )
  return [...named, ...patterns].flatMap(({ path, name }) =>
    problemAt(path, 'no_effect', {
      found: `found \`${name}\`, which is not an offered tool`,
      expected: 'the own name of a tool',
    }),
  )
}

function problemAt(path: Path, code: Problem['code'], texts: { found: string; expected: string }): Problem[] {
  return [{ code, path, at: 'value', suggestion: null, ...texts }]
}
