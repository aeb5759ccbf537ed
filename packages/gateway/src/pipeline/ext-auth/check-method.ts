import type { GrpcMethod } from '../../upstream/grpc/call.ts'
import { CheckRequest, CheckResponse } from '../../wire/protos/envoy/service/auth/v3/external_auth.ts'

/** Apart, because the messages are a lot of code, and loaded once somebody is asked. */
export const checkMethod: GrpcMethod<CheckRequest, CheckResponse> = {
  path: '/envoy.service.auth.v3.Authorization/Check',
  encode: (request) => CheckRequest.encode(request).finish(),
  decode: (message) => CheckResponse.decode(message),
}
