import {
  callReadings,
  type ClientFormat,
  type JsonObject,
  UnsupportedField,
  type UpstreamFormat,
  type Usage,
} from '@portico/chat'
import { MediaAnswer } from '@portico/chat/media'
import { estimatePrompt } from '../../../llm/estimate-call.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { JsonBody } from '../client-request.ts'
import { checkedBody } from './edited-body.ts'
import type { WholeJob } from './whole-call.ts'

/** The calls that make images or speech of a JSON body. */
export type MediaKind = 'imageGenerations' | 'imageEdits' | 'speech'

interface MediaCall {
  operation: 'image_generation' | 'image_edit' | 'speech'
  /** Whether the response to a body is a stream of events. */
  streams: (body: JsonObject) => boolean
  /** The units that the call uses, besides tokens. */
  units: (body: JsonObject) => Usage
  /** The most output tokens that models report for the call. */
  mostTokens: (body: JsonObject) => number
}

/** A large image of high quality, in tokens of OpenAI. */
export const IMAGE_TOKENS = 6_240

const images = {
  streams: ({ stream }: JsonObject) => stream === true,
  units: (body: JsonObject) => ({ images: imagesOf(body) }),
  mostTokens: (body: JsonObject) => imagesOf(body) * IMAGE_TOKENS,
} as const

const CALLS: Readonly<Record<MediaKind, MediaCall>> = {
  imageGenerations: { ...images, operation: 'image_generation' },
  imageEdits: { ...images, operation: 'image_edit' },
  speech: {
    operation: 'speech',
    streams: ({ stream_format: format }) => format === 'sse',
    units: ({ input }) => (typeof input === 'string' ? { characters: countCharacters(input) } : {}),
    mostTokens: () => 0,
  },
}

/** The images that a call asks for. */
export function imagesOf({ n }: JsonObject): number {
  return typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? Math.min(n, MOST_IMAGES) : 1
}

/** The number of code points, without a list of them: texts may be large. */
function countCharacters(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count++
  return count
}

/** Clients choose the number, and no provider makes more images in a call. */
const MOST_IMAGES = 1_000

/** The estimated usage of a call before its provider is known. */
export function expectedMedia(kind: MediaKind, body: JsonObject): Usage {
  const { units, mostTokens } = CALLS[kind]
  return { input: estimatePrompt(body, null), output: mostTokens(body), calls: 1, ...units(body) }
}

/** Images and speech in OpenAI's format. The response passes while it arrives, and its usage is read beside that. */
export function mediaJob(
  { kind, body, target, rx }: { kind: MediaKind; body: JsonBody; target: string; rx: RequestContext },
  format: ClientFormat & UpstreamFormat,
): WholeJob {
  const { operation, streams, units } = CALLS[kind]
  return {
    operation,
    format,
    guarded: ({ edits }) => ({ body: edits.request(body.value, null, rx).body, reading: callReadings[kind] }),
    prepare({ vendor, edits }, guarded) {
      const { model, value, bytes } = checkedBody(body, edits.request(body.value, null, rx), guarded)
      if (!vendor.calls.has(kind)) return new UnsupportedField('model', `${vendor.name} has no calls of this type`)
      return {
        call: { kind, format: 'completions', model, stream: streams(value), clientTarget: target },
        bytes: bytes(),
        watch: (headers, record) => new MediaAnswer(record, headers.get('content-type'), units(value)),
        readError: (status, bytes_) => format.decodeError(status, bytes_),
        translation: { from: `${operation}.openai`, to: `${operation}.openai`, losses: [] },
      }
    },
  }
}
