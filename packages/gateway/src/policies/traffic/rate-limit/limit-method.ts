import { encoderOf, type GrpcMethod } from '@portico/http/grpc'
import { RateLimitRequest, RateLimitResponse } from '../../../protos/envoy/service/ratelimit/v3/rls.ts'
import type { Descriptor } from './descriptors.ts'

export interface LimitQuestion {
  domain: string
  descriptors: readonly Descriptor[]
}

/** A module of its own, because the protobuf messages are much code, which is loaded at the first call. */
export const limitMethod: GrpcMethod<LimitQuestion, RateLimitResponse> = {
  path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  encode: encoderOf(({ domain, descriptors }, writer) =>
    RateLimitRequest.encode({ domain, descriptors: descriptors.map(messageOf), hitsAddend: 0 }, writer),
  ),
  decode: (message) => RateLimitResponse.decode(message),
}

function messageOf({ entries, hits }: Descriptor): RateLimitRequest['descriptors'][number] {
  return {
    entries: entries.map(([key, value]) => ({ key, value })),
    limit: undefined,
    hitsAddend: hits ?? undefined,
  }
}
