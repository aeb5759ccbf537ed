import { explainRules, placesOf } from '../../../findings/rules.ts'
import type { Explainer } from '../../../findings/subject.ts'
import { cut } from '../../../findings/words.ts'

export const mcpAuthorization: Explainer = (subject) => {
  const { record, view } = subject
  const configs = view.said('backend', 'mcp', record.keys, null).flatMap(({ config }) => {
    const own = 'authorization' in config ? config.authorization : null
    return typeof own === 'object' && own !== null ? [own] : []
  })
  const found = explainRules(subject, 'mcp', placesOf(view, configs), 'MCP authorization')
  const { spelling } = subject.reason.values
  const headline = typeof spelling === 'string' ? `MCP authorization denied the request: ${spelling}` : found.headline
  const { mcp } = record
  if (mcp === null || mcp.kind === null) return { ...found, headline }
  return { ...found, headline: `${headline} (${mcp.kind} ${cut(mcp.name ?? '', 80)} of ${mcp.target})` }
}
