import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { GrpcMethod } from '../../../upstream/grpc/call.ts'
import { RateLimitResponse } from '../../../wire/protos/envoy/service/ratelimit/v3/rls.ts'

/** What a server of limits is asked. */
export interface LimitRequest {
  domain: string
  descriptors: readonly Descriptor[]
}

export interface Descriptor {
  entries: readonly (readonly [key: string, value: string])[]
  /** What is counted; null leaves it at one, 0 only asks. */
  hits: number | null
}

export const shouldRateLimit: GrpcMethod<LimitRequest, RateLimitResponse> = {
  path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  encode: encodeRequest,
  decode: (message) => RateLimitResponse.decode(message),
}

/** By hand: the published messages do not know yet that each descriptor can have hits of its own. */
function encodeRequest({ domain, descriptors }: LimitRequest): Uint8Array {
  const writer = new BinaryWriter().uint32(tag(1)).string(domain)
  for (const { entries, hits } of descriptors) {
    writer.uint32(tag(2)).fork()
    for (const [key, value] of entries) {
      writer.uint32(tag(1)).fork().uint32(tag(1)).string(key).uint32(tag(2)).string(value).join()
    }
    if (hits !== null) {
      writer.uint32(tag(3)).fork()
      if (hits > 0) writer.uint32(8).uint64(hits)
      writer.join()
    }
    writer.join()
  }
  return writer.finish()
}

/** Of a field with a length before it. */
function tag(field: number): number {
  return field * 8 + 2
}
