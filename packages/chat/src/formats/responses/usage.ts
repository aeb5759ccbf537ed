import { countAt, isObject, objectAt, textAt, withoutAbsent } from '@portico/http/json'
import type { JsonObject, Usage } from '../../middle.ts'

/** Usage of a response object; null when it has none yet. */
export function usageOf(response: JsonObject): Usage | null {
  const { usage } = response
  if (!isObject(usage)) return null
  const input = objectAt(usage, 'input_tokens_details')
  const output = objectAt(usage, 'output_tokens_details')
  return withoutAbsent({
    input: countAt(usage, 'input_tokens'),
    output: countAt(usage, 'output_tokens'),
    cacheRead: countAt(input, 'cached_tokens'),
    cacheWrite: countAt(input, 'cache_write_tokens'),
    reasoning: countAt(output, 'reasoning_tokens'),
    inputAudio: countAt(input, 'audio_tokens'),
    outputAudio: countAt(output, 'audio_tokens'),
    inputImage: countAt(input, 'image_tokens'),
    serviceTier: textAt(response, 'service_tier'),
    providerInput: countAt(usage, 'input_tokens'),
    providerTotal: countAt(usage, 'total_tokens'),
  })
}

export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, output = 0 } = usage
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead ?? 0,
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.inputAudio !== undefined && { audio_tokens: usage.inputAudio }),
      ...(usage.inputImage !== undefined && { image_tokens: usage.inputImage }),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: usage.reasoning ?? 0,
      ...(usage.outputAudio !== undefined && { audio_tokens: usage.outputAudio }),
    },
    total_tokens: input + output,
  }
}
