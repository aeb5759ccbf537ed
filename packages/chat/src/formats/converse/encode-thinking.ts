import { clientField, lose } from '../../request/carry-over.ts'
import { budgetOf, effortOf } from '../../request/effort.ts'
import { isObject } from '@portico/http/json'
import type { ChatRequest, JsonObject, Sampling } from '../../middle.ts'
import { isReadable } from './encode-reasoning.ts'
import type { ConverseEncoder } from './encoder.ts'
import { familyOf, isNova2, thinkingOf } from './model.ts'

export interface ThinkingPlan {
  /** For `additionalModelRequestFields`, because Converse has no field for thinking. */
  fields: JsonObject
  /** Tokens of the output limit that thinking may use. */
  budget: number
  /** Sampling fields that must not be set together with thinking. */
  excludes: readonly (keyof Sampling)[]
}

export function planThinking(request: ChatRequest, encoder: ConverseEncoder): ThinkingPlan {
  const wanted = budgetOf(request.reasoning)
  if (wanted === null || wanted === 0) return NO_THINKING
  const plan = planFor(request, wanted, encoder)
  if (typeof plan !== 'string') return plan
  lose(encoder.losses, { what: 'dropped', path: clientField(request.format, 'reasoning'), note: plan })
  return NO_THINKING
}

/** The plan, or the reason why the model cannot think. */
function planFor(request: ChatRequest, wanted: number, encoder: ConverseEncoder): ThinkingPlan | string {
  const { model, quirks } = encoder.target
  const family = familyOf(model)
  if (quirks.has('noThinking') || family === 'other') return 'this model cannot be told to think'
  if (family === 'claude') return planClaude(request, wanted, encoder)
  if (family === 'nova' && !isNova2(model)) return 'this model does not support thinking'
  const effort = nearestEffort(request, encoder)
  return family === 'nova' ? planNova(effort) : { fields: { reasoning_effort: effort }, budget: wanted, excludes: [] }
}

const NO_THINKING: ThinkingPlan = { fields: {}, budget: 0, excludes: [] }

/** The nearest of the three efforts that all models know. */
function nearestEffort({ reasoning, format }: ChatRequest, { losses }: ConverseEncoder): string {
  const wanted = effortOf(reasoning) ?? 'medium'
  const nearest = NEAREST_EFFORTS.get(wanted) ?? wanted
  if (nearest !== wanted && reasoning?.budget === undefined) {
    lose(losses, { what: 'renamed', path: clientField(format, 'reasoning'), note: `${wanted} became ${nearest}` })
  }
  return nearest
}

const NEAREST_EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['xhigh', 'high'],
  ['max', 'high'],
])

function planNova(effort: string): ThinkingPlan {
  const fields = { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } }
  return { fields, budget: 0, excludes: effort === 'high' ? ['temperature', 'topP', 'topK', 'maxTokens'] : [] }
}

function planClaude(request: ChatRequest, wanted: number, encoder: ConverseEncoder): ThinkingPlan | string {
  const { reasoning, sampling, toolChoice } = request
  const { model, quirks } = encoder.target
  const excludes = ['temperature', 'topP', 'topK'] as const
  if (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool') {
    return 'a forced tool and thinking exclude each other'
  }
  const own = ownFields(request)
  const isUnsigned = lacksSignedThinking(request)
  if (isObject(own?.thinking) && own.thinking.type === 'enabled' && isUnsigned) {
    lose(encoder.losses, { what: 'dropped', path: clientField(request.format, 'reasoning'), note: UNSIGNED })
    const { thinking: _refused, ...others } = own
    return { ...NO_THINKING, fields: others }
  }
  if (own !== null) return { fields: own, budget: wanted, excludes: own.thinking === undefined ? [] : excludes }
  const kind = quirks.has('adaptiveThinking') ? 'adaptive' : thinkingOf(model)
  if (kind === 'never') return 'this model does not support thinking'
  if (kind === 'adaptive') {
    const effort = effortOf(reasoning) === 'max' ? 'max' : nearestEffort(request, encoder)
    return { fields: { thinking: { type: 'adaptive' }, output_config: { effort } }, budget: wanted, excludes }
  }
  if (isUnsigned) return UNSIGNED
  const budget = Math.min(wanted, (sampling.maxTokens ?? Infinity) - 1)
  if (budget < MIN_BUDGET) return `the token limit has no room for ${MIN_BUDGET} tokens of thinking`
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, budget, excludes }
}

const MIN_BUDGET = 1024
const UNSIGNED = 'the last tool calls came without signed thinking'

/** The thinking fields of a Messages client, which Claude reads unchanged. */
function ownFields({ format, reasoning }: ChatRequest): JsonObject | null {
  const written = reasoning?.rest
  if (format !== 'messages' || written === undefined) return null
  return {
    ...(isObject(written.thinking) && { thinking: written.thinking }),
    ...(written.effort !== undefined && { output_config: { effort: written.effort } }),
  }
}

/**
 * Whether the last assistant message lacks signed thinking although its tool calls have results now: Claude requires
 * the thinking before those calls.
 */
function lacksSignedThinking({ messages }: ChatRequest): boolean {
  const isAnswered = messages.at(-1)?.parts.some((part) => part.type === 'toolResult') ?? false
  const last = messages.findLast((message) => message.role === 'assistant')
  if (!isAnswered || last === undefined) return false
  return !last.parts.some((part) => part.type === 'reasoning' && isReadable(part))
}
