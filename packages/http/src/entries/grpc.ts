/** `@portico/http/grpc`: calls to gRPC services over the pools, and gRPC statuses. */
export { grpcStatusOfReset, isGrpcContentType } from '../net/grpc.ts'
export { callUnary, type GrpcMethod, type GrpcOptions } from '../upstream/grpc/call.ts'
export { readRetryInfo } from '../upstream/grpc/retry-info.ts'
export {
  CANCELLED,
  DEADLINE_EXCEEDED,
  GrpcError,
  INTERNAL,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
  UNKNOWN,
} from '../upstream/grpc/status.ts'
export { GrpcStream, type StreamHandler } from '../upstream/grpc/stream.ts'
export { encoderOf } from '../wire/encoder.ts'
