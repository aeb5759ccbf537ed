import { clientField, lose } from '../../request/carry-over.ts'
import { budgetOf, effortOf } from '../../request/effort.ts'
import { isObject, objectAt, textAt } from '@portico/http/json'
import type { ChatRequest, JsonObject, Loss } from '../../middle.ts'
import { lacksSignedReasoning, lacksThinking } from '../../request/passes-through.ts'

export interface ThinkingPlan {
  /** A limit that leaves room for thinking and the response; absent when the limit stays as it is. */
  maxTokens?: number
  thinking?: JsonObject
  /** Members for `output_config`. */
  config?: JsonObject
}

/**
 * Plans the thinking of a request that asks for reasoning. `maxTokens` is the limit of the response, thinking included.
 */
export function planThinking(
  request: ChatRequest,
  maxTokens: number,
  quirks: ReadonlySet<string>,
  losses: Loss[],
): ThinkingPlan {
  const { format, reasoning, sampling } = request
  const path = clientField(format, 'reasoning')
  if (format === 'messages') return ownPlan(request, losses)
  const wanted = budgetOf(reasoning)
  if (wanted === null) return {}
  const drop = (note: string): ThinkingPlan => {
    lose(losses, { what: 'dropped', path, note })
    return {}
  }
  if (quirks.has('noThinking')) return drop('this model does not support thinking')
  const isForced = request.toolChoice?.kind === 'required' || request.toolChoice?.kind === 'tool'
  if (isForced) return drop('a forced tool and thinking exclude each other')
  if (quirks.has('adaptiveThinking')) return adaptivePlan(request, path, losses)
  if (lacksSignedReasoning(request.messages)) return drop(UNSIGNED)
  // Leaves room for the response when the client sets no limit.
  const limit = sampling.maxTokens ?? maxTokens + wanted
  const budget = Math.min(wanted, limit - 1)
  if (budget < MIN_BUDGET) return drop(`the token limit has no room for ${MIN_BUDGET} tokens of thinking`)
  return { maxTokens: limit, thinking: { type: 'enabled', budget_tokens: budget } }
}

/** The client's own thinking settings, unless another vendor made the calls that await results. */
function ownPlan(request: ChatRequest, losses: Loss[]): ThinkingPlan {
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

function adaptivePlan(request: ChatRequest, path: string, losses: Loss[]): ThinkingPlan {
  const include = request.reasoning?.include
  const wanted = effortOf(request.reasoning) ?? 'high'
  const effort = EFFORTS.get(wanted) ?? wanted
  if (effort !== wanted) lose(losses, { what: 'renamed', path, note: `${wanted} became ${effort}` })
  const display: JsonObject = include === undefined ? {} : { display: include ? 'summarized' : 'omitted' }
  return { thinking: { type: 'adaptive', ...display }, config: { effort } }
}

const MIN_BUDGET = 1024
const UNSIGNED = 'the last tool calls came without signed thinking'
const EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['xhigh', 'high'],
])
