import type { GrpcStreamMethod } from '@portico/http/grpc'
import { ProcessingResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'
import { encodeMessage } from './message-encoder.ts'
import type { ProcessorMessage } from './messages.ts'

/** Apart, because the messages are a lot of code, and loaded once there is something to process. */
export const processMethod: GrpcStreamMethod<ProcessorMessage, ProcessingResponse> = {
  path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  encodeFrame: encodeMessage,
  decode: (message) => ProcessingResponse.decode(message),
}
