import type { ClientFormat, UpstreamFormat } from '../../format.ts'
import { SseJsonDecoder } from '../../streams/sse-json.ts'
import { decodeError, encodeError } from '../completions/errors.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse, EventWriter } from './stream-encoder.ts'
import { StreamReader } from './stream-reader.ts'
import { responsesTexts } from './native-texts.ts'
import { responsesRequest } from './request-texts.ts'

/** `/v1/responses`, as OpenAI defined it. */
export const responses: ClientFormat & UpstreamFormat = {
  name: 'responses',
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new EventWriter(context),
  resumeStreamEncoder: (context, passed) => new EventWriter(context, passed),
  encodeError,
  requestTexts: responsesRequest,
  texts: responsesTexts,
  endMarks: /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed)|error)"/,
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context) => new SseJsonDecoder(new StreamReader(context)),
  decodeError,
}
