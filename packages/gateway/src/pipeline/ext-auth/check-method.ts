import { encoderOf, type GrpcMethod } from '@portico/http/grpc'
import { CheckRequest, CheckResponse } from '../../protos/envoy/service/auth/v3/external_auth.ts'

/** In a module of its own, because the generated messages are large and are loaded with the first check. */
export const checkMethod: GrpcMethod<CheckRequest, CheckResponse> = {
  path: '/envoy.service.auth.v3.Authorization/Check',
  encode: encoderOf((request, writer) => CheckRequest.encode(request, writer)),
  decode: (message) => CheckResponse.decode(message),
}
