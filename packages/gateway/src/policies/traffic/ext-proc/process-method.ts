import type { GrpcMethod } from '../../../upstream/grpc/call.ts'
import { encoderOf } from '../../../wire/encoder.ts'
import {
  ProcessingRequest,
  ProcessingResponse,
} from '../../../wire/protos/envoy/service/ext_proc/v3/external_processor.ts'

/** Apart, because the messages are a lot of code, and loaded once there is something to process. */
export const processMethod: GrpcMethod<ProcessingRequest, ProcessingResponse> = {
  path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  encode: encoderOf((request, writer) => ProcessingRequest.encode(request, writer)),
  decode: (message) => ProcessingResponse.decode(message),
}
