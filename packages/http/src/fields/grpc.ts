/** Returns whether the content type is gRPC, which needs HTTP/2 and reports errors in `grpc-status`. */
export function isGrpcContentType(contentType: string): boolean {
  return /^application\/grpc(\+|;|$)/i.test(contentType)
}

/**
 * Returns the status of a gRPC call whose stream was reset with this HTTP/2 error code; null stands for a lost
 * connection.
 */
export function grpcStatusOfReset(code: number | null): number {
  return code === null ? UNAVAILABLE : (STATUS_OF_RESET.get(code) ?? INTERNAL)
}

const INTERNAL = 13
const UNAVAILABLE = 14

/** HTTP/2 error codes that do not map to INTERNAL, from the table in the gRPC protocol. */
const STATUS_OF_RESET: ReadonlyMap<number, number> = new Map([
  // REFUSED_STREAM
  [7, UNAVAILABLE],
  // CANCEL becomes CANCELLED
  [8, 1],
  // ENHANCE_YOUR_CALM becomes RESOURCE_EXHAUSTED
  [11, 8],
  // INADEQUATE_SECURITY becomes PERMISSION_DENIED
  [12, 7],
])
