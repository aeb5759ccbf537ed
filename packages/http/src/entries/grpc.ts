/** `@portico/http/grpc`: calls to gRPC services over the pools, and gRPC statuses. */
export { isGrpcContentType } from '../fields/field-rules.ts'
export { callUnary, type GrpcMethod, type GrpcOptions } from '../client/grpc/call.ts'
export { readRetryInfo } from '../client/grpc/retry-info.ts'
export {
  CANCELLED,
  DEADLINE_EXCEEDED,
  GrpcError,
  grpcStatusOfReset,
  INTERNAL,
  RESOURCE_EXHAUSTED,
  UNAVAILABLE,
  UNKNOWN,
} from '../client/grpc/status.ts'
export { GrpcStream, type GrpcStreamMethod, type StreamHandler } from '../client/grpc/stream.ts'
export { encoderOf } from '../client/grpc/encoder.ts'
