import { clientField, lose } from '../../request/client-fields.ts'
import { budgetOf, effortOf } from '../../request/effort.ts'
import { isObject, objectAt, textAt } from '@portico/http/json'
import type { ChatRequest, JsonObject, Loss } from '../../middle.ts'
import { lacksSignedReasoning, lacksThinking } from '../../request/passes-through.ts'

interface ThinkingPlan {
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
  if (format === 'messages') return { maxTokens, ...ownPlan(request, losses) }
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
  if (lacksSignedReasoning(request.messages)) return drop(UNSIGNED)
  // Leaves room for the response when the client sets no limit.
  const limit = sampling.maxTokens ?? DEFAULT_MAX_TOKENS + wants
  const budget = Math.min(wants, limit - 1)
  if (budget < MIN_BUDGET) return drop(`${MIN_BUDGET} tokens at least must fit into the limit`)
  return { maxTokens: limit, thinking: { type: 'enabled', budget_tokens: budget } }
}

/** The client's own thinking settings, unless another vendor made the calls that await results. */
function ownPlan(request: ChatRequest, losses: Loss[]): Pick<ThinkingPlan, 'thinking' | 'config'> {
  const { thinking, effort } = request.reasoning?.rest ?? {}
  const config = effort === undefined ? {} : { config: { effort } }
  if (!isObject(thinking)) return config
  if (!lacksThinking(request)) return { thinking, ...config }
  lose(losses, { what: 'dropped', path: clientField(request.format, 'reasoning'), note: UNSIGNED })
  return config
}

/** Removes rules for earlier thinking from `context_management` when thinking is off, because they would be refused. */
export function contextRules(request: ChatRequest, losses: Loss[]): JsonObject {
  const context = objectAt(request.rest, 'context_management')
  if (!lacksThinking(request) || !Array.isArray(context.edits)) return {}
  const edits = context.edits.filter((edit) => !isObject(edit) || !textAt(edit, 'type')?.startsWith('clear_thinking'))
  if (edits.length === context.edits.length) return {}
  lose(losses, { what: 'dropped', path: 'context_management.edits[]', note: UNSIGNED })
  return { context_management: { ...context, edits } }
}

function adaptivePlan(request: ChatRequest, path: string, losses: Loss[]): Pick<ThinkingPlan, 'thinking' | 'config'> {
  const include = request.reasoning?.include
  const wanted = effortOf(request.reasoning) ?? 'high'
  const effort = EFFORTS.get(wanted) ?? wanted
  if (effort !== wanted) lose(losses, { what: 'renamed', path, note: `${wanted} became ${effort}` })
  const display: JsonObject = include === undefined ? {} : { display: include ? 'summarized' : 'omitted' }
  return { thinking: { type: 'adaptive', ...display }, config: { effort } }
}

const DEFAULT_MAX_TOKENS = 4096
const MIN_BUDGET = 1024
const UNSIGNED = 'the calls before came without their signed thinking'
const EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['xhigh', 'high'],
])
