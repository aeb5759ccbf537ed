import type { ClientFormat, UpstreamFormat } from '../../format.ts'
import { createStreamDecoder, decodeResponse } from './chunk-reader.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { decodeError, encodeError } from './errors.ts'
import { createStreamEncoder } from './stream-encoder.ts'
import { completionsTexts } from './native-texts.ts'
import { completionsRequest } from './request-texts.ts'
import { isPlain, plainFacts } from './plain.ts'

/** `/v1/chat/completions`, as OpenAI defined it and many others speak it. */
export const completions: ClientFormat & UpstreamFormat = {
  name: 'completions',
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  isPlain,
  plainFacts,
  requestTexts: completionsRequest,
  texts: completionsTexts,
  // The line is looked at from its end: a pattern that may begin at every line is four times slower.
  endMarks: /\[DONE\]$(?<=^data: ?\[DONE\])|"finish_reason"\s*:\s*"/m,
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError,
}
