import { parseExactObject } from '@portico/http/json'
import type { ClientFormat, UpstreamFormat } from '../../format.ts'
import { SseJsonDecoder } from '../../streams/sse-json.ts'
import { decodeRequest } from './decode-request.ts'
import { EventReader, decodeResponse } from './event-reader.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { decodeError, encodeError } from './errors.ts'
import { EventWriter } from './stream-encoder.ts'
import { messagesTexts } from './native-texts.ts'
import { messagesRequest } from './request-texts.ts'
import { isPlain, plainFacts } from './plain.ts'

/** `/v1/messages`, as Anthropic defined it. */
export const messages: ClientFormat & UpstreamFormat = {
  name: 'messages',
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new EventWriter(context),
  encodeError,
  isPlain,
  plainFacts,
  requestTexts: messagesRequest,
  texts: messagesTexts,
  endMarks: /"type"\s*:\s*"(?:message_stop|error)"/,
  encodeRequest,
  decodeResponse,
  // A call may come whole, its arguments an object with long ids.
  createStreamDecoder: (context) => new SseJsonDecoder(new EventReader(context), parseExactObject),
  decodeError,
}
