import type { UpstreamFormat } from '../../format.ts'
import { decodeResponse, EventStreamDecoder } from './event-reader.ts'
import { encodeRequest } from './encode-request.ts'
import { decodeError } from './errors.ts'

/** Bedrock's `converse` and `converse-stream`. */
export const converse: UpstreamFormat = {
  name: 'converse',
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context) => new EventStreamDecoder(context),
  decodeError,
}
