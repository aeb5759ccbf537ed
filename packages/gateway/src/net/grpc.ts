/** Whether a message of this type is gRPC, which needs HTTP/2 and reads errors from `grpc-status`. */
export function isGrpcContentType(contentType: string): boolean {
  return /^application\/grpc(\+|;|$)/i.test(contentType)
}
