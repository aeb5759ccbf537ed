import type { ClientFormat, UpstreamFormat } from '../../format.ts'
import { decodeRequest } from './decode-request.ts'
import { createStreamDecoder, decodeResponse } from './event-reader.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { decodeError, encodeError } from './errors.ts'
import { createStreamEncoder } from './stream-encoder.ts'
import { messagesTexts } from './native-texts.ts'
import { messagesRequest } from './request-texts.ts'
import { isPlain, plainFacts } from './plain.ts'

/** `/v1/messages`, as Anthropic defined it. */
export const messages: ClientFormat & UpstreamFormat = {
  name: 'messages',
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  isPlain,
  plainFacts,
  requestTexts: messagesRequest,
  texts: messagesTexts,
  endMarks: /"type"\s*:\s*"(?:message_stop|error)"/,
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError,
}
