import { encoderOf, type GrpcMethod } from '@portico/http/grpc'
import { CheckRequest, CheckResponse } from '../../protos/envoy/service/auth/v3/external_auth.ts'

/** Apart, because the messages are a lot of code, and loaded once somebody is asked. */
export const checkMethod: GrpcMethod<CheckRequest, CheckResponse> = {
  path: '/envoy.service.auth.v3.Authorization/Check',
  encode: encoderOf((request, writer) => CheckRequest.encode(request, writer)),
  decode: (message) => CheckResponse.decode(message),
}
