import type { RequestSummary } from '@portico/gateway/admin-api'
import type { PlayTarget } from '../play/targets.ts'

/** Model names of a route, from aliases in the config and from earlier requests. */
export function knownModels({ entry, route }: PlayTarget, recent: readonly RequestSummary[]): string[] {
  const names = new Set<string>()
  for (const { name, configs } of entry.policies) {
    if (name !== 'ai') continue
    for (const config of configs) for (const alias of aliasesOf(config)) names.add(alias)
  }
  for (const { llm, route: by } of recent)
    if (llm !== null && by === route.name && llm.requestModel !== '') names.add(llm.requestModel)
  return [...names]
}

function aliasesOf(config: unknown): string[] {
  const { modelAliases } = (config ?? {}) as { modelAliases?: Record<string, unknown> }
  return Object.keys(modelAliases ?? {}).filter((name) => !name.includes('*'))
}

/** The ids of an answer of `GET …/models`. */
export function listedModels(text: string): string[] {
  try {
    const { data } = JSON.parse(text) as { data?: { id?: unknown }[] }
    return (data ?? []).flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
  } catch {
    return []
  }
}
