import type { ClientFormat, UpstreamFormat } from '../../format.ts'
import { decodeSseJson } from '../../sse-json.ts'
import { decodeError, encodeError } from '../completions/errors.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeRequest } from './encode-request.ts'
import { createStreamEncoder, encodeResponse } from './stream-encoder.ts'
import { createStreamReader } from './stream-reader.ts'
import { responsesTexts } from './native-texts.ts'

/** `/v1/responses`, as OpenAI defined it. */
export const responses: ClientFormat & UpstreamFormat = {
  name: 'responses',
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  texts: responsesTexts,
  endMarks: /"type": ?"(?:response\.(?:completed|incomplete|failed)|error)"/,
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context) => decodeSseJson(createStreamReader(context)),
  decodeError,
}
