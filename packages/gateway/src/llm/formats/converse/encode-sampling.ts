import { clientField, lose } from '../../client-fields.ts'
import type { ChatRequest, JsonObject, Sampling } from '../../middle.ts'
import type { ThinkingPlan } from './encode-thinking.ts'
import type { ConverseEncoder } from './encoder.ts'
import { familyOf } from './model.ts'

export interface EncodedSampling {
  inferenceConfig: JsonObject
  /** For `additionalModelRequestFields`. */
  fields: JsonObject
}

export function encodeSampling(request: ChatRequest, plan: ThinkingPlan, encoder: ConverseEncoder): EncodedSampling {
  const { format, target, losses } = encoder
  const sampling = { ...request.sampling }
  const drop = (field: keyof Sampling, note?: string): void => {
    if (sampling[field] === undefined) return
    delete sampling[field]
    lose(losses, { what: 'dropped', path: clientField(format, field), ...(note !== undefined && { note }) })
  }
  for (const field of ['frequencyPenalty', 'presencePenalty', 'seed'] as const) drop(field)
  if (target.quirks.has('noSampling')) for (const field of ['temperature', 'topP', 'topK'] as const) drop(field)
  // The one temperature that may stand beside thinking is the default.
  if (sampling.temperature === 1 && plan.excludes.includes('temperature')) delete sampling.temperature
  for (const field of plan.excludes) drop(field, 'not while thinking')
  if (target.quirks.has('temperatureOrTopP') && sampling.temperature !== undefined)
    drop('topP', 'temperature is given too')
  if (sampling.temperature !== undefined && sampling.temperature > 1) {
    lose(losses, { what: 'renamed', path: clientField(format, 'temperature'), note: 'the highest here is 1' })
    sampling.temperature = 1
  }
  return {
    inferenceConfig: {
      ...encodeLimit(request, plan, encoder),
      ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
      ...(sampling.topP !== undefined && { topP: sampling.topP }),
      ...(sampling.stop !== undefined && sampling.stop.length > 0 && { stopSequences: sampling.stop }),
    },
    fields: encodeTopK(sampling.topK, target.model),
  }
}

function encodeLimit(
  { sampling }: ChatRequest,
  { excludes, budget }: ThinkingPlan,
  { format, losses }: ConverseEncoder,
): JsonObject {
  if (excludes.includes('maxTokens')) return {}
  if (sampling.maxTokens !== undefined) return { maxTokens: sampling.maxTokens }
  // Room for the answer beside the thinking.
  const maxTokens = DEFAULT_MAX_TOKENS + budget
  lose(losses, { what: 'defaulted', path: clientField(format, 'maxTokens'), note: `${maxTokens}` })
  return { maxTokens }
}

const DEFAULT_MAX_TOKENS = 4096

function encodeTopK(topK: number | undefined, model: string): JsonObject {
  if (topK === undefined) return {}
  return familyOf(model) === 'nova' ? { inferenceConfig: { topK } } : { top_k: topK }
}
