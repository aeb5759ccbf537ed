import { isEffort } from '../../effort.ts'
import type { Fields } from '../../fields.ts'
import type { Reasoning } from '../../middle.ts'

/** `thinking`, and how much of everything (`output_config.effort`). */
export function decodeReasoning(fields: Fields, config: Fields | undefined): Reasoning | null {
  const thinking = fields.fields('thinking')
  const word = config?.text('effort')
  if (thinking === undefined && word === undefined) return null
  const effort = word !== undefined && isEffort(word) ? word : undefined
  const reasoning: Reasoning = {
    rest: { ...(thinking !== undefined && { thinking: thinking.raw }), ...(word !== undefined && { effort: word }) },
  }
  const type = thinking?.text('type')
  if (type === 'disabled') return { effort: 'none', ...reasoning }
  if (type === 'enabled') {
    const budget = thinking?.number('budget_tokens')
    if (budget !== undefined) reasoning.budget = budget
  }
  if (effort !== undefined) reasoning.effort = effort
  else if (type === 'adaptive') reasoning.effort = 'high'
  const display = thinking?.text('display')
  if (display !== undefined) reasoning.include = display !== 'omitted'
  return reasoning
}
