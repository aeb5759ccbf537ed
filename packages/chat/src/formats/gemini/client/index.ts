import type { ClientFormat } from '../../../format.ts'
import { objectAt, objectsAt } from '@portico/http/json'
import { decodeRequest } from './decode-request.ts'
import { encodeError } from './encode-errors.ts'
import { encodeResponse } from './encode-response.ts'
import { geminiTexts } from './native-texts.ts'
import { geminiRequest } from './request-texts.ts'
import { createStreamEncoder } from './stream-encoder.ts'

/** The format of clients of Google's API: `generateContent` and `streamGenerateContent`. */
export const geminiClient: Omit<ClientFormat, 'name'> = {
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  requestTexts: geminiRequest,
  texts: geminiTexts,
  endMarks: /"(?:finishReason|blockReason)"\s*:\s*"/,
  // Arguments of calls are objects, in which a model can write the marks.
  isEnd: (record) =>
    objectsAt(record, 'candidates').some(({ finishReason }) => typeof finishReason === 'string') ||
    typeof objectAt(record, 'promptFeedback').blockReason === 'string',
}
