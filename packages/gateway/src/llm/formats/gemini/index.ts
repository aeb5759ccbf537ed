import { parseExactObject } from '../../../wire/exact-json.ts'
import type { ResponseContext, UpstreamFormat } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { SseJsonDecoder } from '../../sse-json.ts'
import { AnswerReader } from './answer-reader.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'

/** Google's `generateContent`. */
export const gemini: UpstreamFormat = {
  name: 'gemini',
  encodeRequest,
  decodeResponse,
  // Arguments of tools are objects here, and may hold long ids.
  createStreamDecoder: (context) => new SseJsonDecoder(new AnswerReader(context), parseExactObject),
  decodeError,
}

function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (KNOWN_MEMBERS.every((name) => body[name] === undefined)) return null
  const reader = new AnswerReader(context)
  const events = reader.record(body)
  // A whole body is complete, whether it says so or not.
  return events.some((event) => event.type === 'error') ? events : [...events, ...reader.end('STOP')]
}

const KNOWN_MEMBERS = ['candidates', 'promptFeedback', 'usageMetadata', 'error'] as const
