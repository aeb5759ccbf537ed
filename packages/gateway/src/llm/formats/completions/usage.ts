import { countAt, isObject, objectAt, textAt, withoutAbsent } from '../../../wire/json.ts'
import type { Json, JsonObject, Usage } from '../../middle.ts'

/** Usage of a body or a chunk, wherever servers of this format put it; null when there is none. */
export function usageOf(body: JsonObject): Usage | null {
  const [choice] = Array.isArray(body.choices) ? body.choices : []
  const usage =
    counted(body.usage) ?? counted(objectAt(body, 'x_groq').usage) ?? counted(isObject(choice) ? choice.usage : null)
  return usage === null ? null : decodeUsage(usage, textAt(body, 'service_tier'))
}

function counted(usage: Json | undefined): JsonObject | null {
  if (!isObject(usage)) return null
  const isCounted = countAt(usage, 'prompt_tokens') !== undefined || countAt(usage, 'completion_tokens') !== undefined
  return isCounted ? usage : null
}

function decodeUsage(usage: JsonObject, serviceTier: string | undefined): Usage {
  const input = objectAt(usage, 'prompt_tokens_details')
  const output = objectAt(usage, 'completion_tokens_details')
  const prompt = countAt(usage, 'prompt_tokens')
  const total = countAt(usage, 'total_tokens')
  return withoutAbsent({
    input: prompt,
    output: outputTokens(prompt, countAt(usage, 'completion_tokens'), total),
    cacheRead: countAt(input, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens'),
    cacheWrite: countAt(input, 'cache_write_tokens') ?? countAt(input, 'cache_creation_tokens'),
    reasoning: countAt(output, 'reasoning_tokens'),
    inputAudio: countAt(input, 'audio_tokens'),
    outputAudio: countAt(output, 'audio_tokens'),
    inputImage: countAt(input, 'image_tokens'),
    serviceTier,
    providerInput: prompt,
    providerTotal: total,
  })
}

/** Some servers count reasoning only in the total. */
function outputTokens(
  prompt: number | undefined,
  completion: number | undefined,
  total: number | undefined,
): number | undefined {
  if (total === undefined || prompt === undefined) return completion
  return Math.max(completion ?? 0, total - prompt)
}

export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, output = 0 } = usage
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
      audio_tokens: usage.inputAudio ?? 0,
      ...(usage.inputImage !== undefined && { image_tokens: usage.inputImage }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: usage.outputAudio ?? 0 },
  }
}
