import { clientField, lose } from '../../client-fields.ts'
import { budgetOf } from '../../effort.ts'
import type { ChatRequest, JsonObject } from '../../middle.ts'
import type { GeminiEncoder } from './encoder.ts'
import { isGemini3, levelOf, versionOf } from './model.ts'

/** `thinkingConfig`; empty when the client says nothing about thinking, or the model does not think. */
export function encodeThinking({ reasoning, format }: ChatRequest, { model, losses }: GeminiEncoder): JsonObject {
  if (reasoning === null) return {}
  const path = clientField(format, 'reasoning')
  if ((versionOf(model) ?? Infinity) < 2.5) {
    lose(losses, { what: 'dropped', path, note: `${model} does not think` })
    return {}
  }
  const { effort, budget } = reasoning
  const isOff = effort === 'none' || budget === 0
  const included = { includeThoughts: !isOff && (reasoning.include ?? true) }
  if (effort === undefined && budget === undefined) return included
  if (isGemini3(model) && effort !== undefined) {
    const thinkingLevel = levelOf(effort, model)
    if (thinkingLevel !== effort) lose(losses, { what: 'renamed', path, note: `${effort} became ${thinkingLevel}` })
    return { thinkingLevel, ...included }
  }
  if (isOff && /gemini-2\.5-pro/.test(model)) {
    lose(losses, { what: 'defaulted', path, note: `${model} thinks at least ${SMALLEST_BUDGET} tokens long` })
    return { thinkingBudget: SMALLEST_BUDGET, ...included }
  }
  return { thinkingBudget: budgetOf(reasoning) ?? 0, ...included }
}

const SMALLEST_BUDGET = 128
