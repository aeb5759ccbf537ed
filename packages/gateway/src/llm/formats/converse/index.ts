import type { UpstreamFormat } from '../../format.ts'
import { decodeResponse } from './decode-response.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'
import { createStreamDecoder } from './stream-decoder.ts'

/** Bedrock's `converse` and `converse-stream`. */
export const converse: UpstreamFormat = {
  name: 'converse',
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError,
}
