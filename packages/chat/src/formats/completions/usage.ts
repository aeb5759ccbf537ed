import { countAt, isObject, objectAt, put, textAt } from '@portico/http/json'
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
  const reported: Usage = {}
  put(reported, 'input', prompt)
  put(reported, 'output', outputTokens(prompt, countAt(usage, 'completion_tokens'), total))
  put(reported, 'cacheRead', cachedTokens(usage, input))
  put(reported, 'cacheWrite', countAt(input, 'cache_write_tokens') ?? countAt(input, 'cache_creation_tokens'))
  put(reported, 'reasoning', countAt(output, 'reasoning_tokens'))
  put(reported, 'inputAudio', countAt(input, 'audio_tokens'))
  put(reported, 'outputAudio', countAt(output, 'audio_tokens'))
  put(reported, 'inputImage', countAt(input, 'image_tokens'))
  put(reported, 'serviceTier', serviceTier)
  put(reported, 'providerInput', prompt)
  put(reported, 'providerTotal', total)
  return reported
}

/** The cached tokens; DeepSeek and Moonshot use their own names for this count. */
function cachedTokens(usage: JsonObject, details: JsonObject): number | undefined {
  return (
    countAt(details, 'cached_tokens') ?? countAt(usage, 'prompt_cache_hit_tokens') ?? countAt(usage, 'cached_tokens')
  )
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
  const details: JsonObject = { cached_tokens: usage.cacheRead ?? 0 }
  put(details, 'cache_write_tokens', usage.cacheWrite)
  details.audio_tokens = usage.inputAudio ?? 0
  put(details, 'image_tokens', usage.inputImage)
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: details,
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: usage.outputAudio ?? 0 },
  }
}
