import { countAt, isObject, objectAt, withoutAbsent } from '@portico/http/json'
import type { Json, Usage } from '../middle.ts'

/** The usage in responses of image and audio calls: tokens in the names of either API of OpenAI, or seconds of sound. */
export function mediaUsage(reported: Json | undefined): Usage | null {
  if (!isObject(reported)) return null
  const { seconds } = reported
  if (typeof seconds === 'number' && seconds >= 0) return { seconds }
  const input = countAt(reported, 'input_tokens') ?? countAt(reported, 'prompt_tokens')
  const output = countAt(reported, 'output_tokens') ?? countAt(reported, 'completion_tokens')
  if (input === undefined && output === undefined) return null
  // The two spellings are those of images and of audio.
  const details = { ...objectAt(reported, 'input_tokens_details'), ...objectAt(reported, 'input_token_details') }
  return withoutAbsent({
    input,
    output,
    cacheRead: countAt(details, 'cached_tokens'),
    inputAudio: countAt(details, 'audio_tokens'),
    inputImage: countAt(details, 'image_tokens'),
    providerInput: input,
    providerTotal: countAt(reported, 'total_tokens'),
  })
}
