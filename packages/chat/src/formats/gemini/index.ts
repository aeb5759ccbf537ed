import { parseExactObject } from '@portico/http/json'
import type { ClientFormat, ResponseContext, UpstreamFormat } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { SseJsonDecoder } from '../../streams/sse-json.ts'
import { AnswerReader } from './answer-reader.ts'
import { geminiClient } from './client/index.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'

/** Google's `generateContent`. */
export const gemini: ClientFormat & UpstreamFormat = {
  ...geminiClient,
  name: 'gemini',
  encodeRequest,
  decodeResponse,
  // Tool arguments are objects in this format, and may contain long ids.
  createStreamDecoder: (context) => new SseJsonDecoder(new AnswerReader(context), parseExactObject),
  decodeError,
}

function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (KNOWN_MEMBERS.every((name) => body[name] === undefined)) return null
  const reader = new AnswerReader(context)
  const events = reader.record(body)
  // A whole body is complete, even without a finish reason.
  return events.some((event) => event.type === 'error') ? events : [...events, ...reader.end('STOP')]
}

const KNOWN_MEMBERS = ['candidates', 'promptFeedback', 'usageMetadata', 'error'] as const
