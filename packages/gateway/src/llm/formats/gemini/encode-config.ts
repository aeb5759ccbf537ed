import { clientField, lose } from '../../client-fields.ts'
import type { ChatRequest, JsonObject } from '../../middle.ts'
import { encodeThinking } from './encode-thinking.ts'
import type { GeminiEncoder } from './encoder.ts'
import { normaliseSchema } from './normalise-schema.ts'

/** `generationConfig`: sampling, the form of the answer, thinking. */
export function encodeConfig(request: ChatRequest, encoder: GeminiEncoder): JsonObject {
  const { sampling } = request
  const thinkingConfig = encodeThinking(request, encoder)
  return present({
    maxOutputTokens: sampling.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    seed: sampling.seed,
    stopSequences: sampling.stop,
    ...encodeOutput(request, encoder),
    thinkingConfig: Object.keys(thinkingConfig).length > 0 ? thinkingConfig : undefined,
  })
}

function encodeOutput({ output, format }: ChatRequest, { budget, losses }: GeminiEncoder): JsonObject {
  if (output.kind === 'text') return {}
  const responseMimeType = 'application/json'
  if (output.kind === 'json') return { responseMimeType }
  const dropped = new Set<string>()
  const responseSchema = normaliseSchema({ root: output.schema, budget, dropped, isOrdered: true })
  if (dropped.size > 0) {
    lose(losses, { what: 'dropped', path: clientField(format, 'output'), note: [...dropped].toSorted().join(', ') })
  }
  return { responseMimeType, responseSchema }
}

function present(config: Record<string, JsonObject[string] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
