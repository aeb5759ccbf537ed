import type { UpstreamFormat } from '../../format.ts'
import { createStreamDecoder, decodeResponse } from './event-reader.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'

/** Bedrock's `converse` and `converse-stream`. */
export const converse: UpstreamFormat = {
  name: 'converse',
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError,
}
