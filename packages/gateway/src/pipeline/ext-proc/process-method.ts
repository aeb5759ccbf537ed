import { encoderOf, type GrpcMethod } from '@portico/http/grpc'
import { ProcessingRequest, ProcessingResponse } from '../../protos/envoy/service/ext_proc/v3/external_processor.ts'

/** Apart, because the messages are a lot of code, and loaded once there is something to process. */
export const processMethod: GrpcMethod<ProcessingRequest, ProcessingResponse> = {
  path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  encode: encoderOf((request, writer) => ProcessingRequest.encode(request, writer)),
  decode: (message) => ProcessingResponse.decode(message),
}
