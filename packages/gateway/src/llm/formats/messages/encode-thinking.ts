import { clientField, lose } from '../../client-fields.ts'
import { budgetOf, effortOf } from '../../effort.ts'
import { isObject } from '../../json.ts'
import type { ChatRequest, JsonObject, Loss } from '../../middle.ts'
import { madeBy } from '../../provenance.ts'

export interface ThinkingPlan {
  maxTokens: number
  thinking?: JsonObject
  /** Members for `output_config`. */
  config?: JsonObject
}

/** The limit, which this format demands, and how much of it may be thought. */
export function planThinking(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): ThinkingPlan {
  const { format, reasoning, sampling } = request
  const path = clientField(format, 'reasoning')
  if (sampling.maxTokens === undefined) {
    lose(losses, { what: 'defaulted', path: clientField(format, 'maxTokens'), note: `${DEFAULT_MAX_TOKENS}` })
  }
  const maxTokens = sampling.maxTokens ?? DEFAULT_MAX_TOKENS
  if (format === 'messages') return { maxTokens, ...ownPlan(reasoning?.rest) }
  const wants = budgetOf(reasoning)
  if (wants === null) return { maxTokens }
  const drop = (note: string): ThinkingPlan => {
    lose(losses, { what: 'dropped', path, note })
    return { maxTokens }
  }
  if (quirks.has('noThinking')) return drop('this model cannot think')
  const isForced = request.toolChoice?.kind === 'required' || request.toolChoice?.kind === 'tool'
  if (isForced) return drop('a forced tool and thinking exclude each other')
  if (quirks.has('adaptiveThinking')) return { maxTokens, ...adaptivePlan(request, path, losses) }
  if (lacksSignedReasoning(request)) return drop('the calls before came without their signed thinking')
  // Room for the answer, where the limit is ours.
  const limit = sampling.maxTokens ?? DEFAULT_MAX_TOKENS + wants
  const budget = Math.min(wants, limit - 1)
  if (budget < MIN_BUDGET) return drop(`${MIN_BUDGET} tokens at least must fit into the limit`)
  return { maxTokens: limit, thinking: { type: 'enabled', budget_tokens: budget } }
}

function ownPlan(written: JsonObject | undefined): Pick<ThinkingPlan, 'thinking' | 'config'> {
  const { thinking, effort } = written ?? {}
  return { ...(isObject(thinking) && { thinking }), ...(effort !== undefined && { config: { effort } }) }
}

function adaptivePlan(request: ChatRequest, path: string, losses: Loss[]): Pick<ThinkingPlan, 'thinking' | 'config'> {
  const { include } = request.reasoning!
  const wanted = effortOf(request.reasoning) ?? 'high'
  const effort = EFFORTS.get(wanted) ?? wanted
  if (effort !== wanted) lose(losses, { what: 'renamed', path, note: `${wanted} became ${effort}` })
  const display: JsonObject = include === undefined ? {} : { display: include ? 'summarized' : 'omitted' }
  return { thinking: { type: 'adaptive', ...display }, config: { effort } }
}

/** The thinking before the last calls must be there. */
function lacksSignedReasoning({ messages }: ChatRequest): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (last === undefined || !last.parts.some((part) => part.type === 'toolCall')) return false
  return !last.parts.some(
    (part) => part.type === 'reasoning' && madeBy('anthropic', part.signature ?? part.opaque ?? '') !== null,
  )
}

const DEFAULT_MAX_TOKENS = 4096
const MIN_BUDGET = 1024
const EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['xhigh', 'high'],
])
