/** One failure of a backend, as the client saw it behind each of the two. */
export interface FailureCell {
  backend: string
  death: string
  client: string
  envoy: string
  gateway: string
}

/** A difference in what clients see, and why the gateway does otherwise. */
export interface FailureDifference {
  is: (cell: FailureCell) => boolean
  why: string
}

export const differences: readonly FailureDifference[] = [
  {
    is: ({ backend, gateway }) => backend === 'gRPC' && gateway === 'grpc-status 4',
    why: 'A time limit is DEADLINE_EXCEEDED. UNAVAILABLE would invite a retry, and a reset is INTERNAL to clients.',
  },
  {
    is: ({ backend, death, envoy }) =>
      backend === 'gRPC' && death.includes('inside the body') && envoy === '200, RST_STREAM INTERNAL_ERROR',
    why: 'Trailers carry the status that clients would have read from the backend itself.',
  },
  {
    is: ({ backend, death, client }) =>
      backend === 'WebSocket' && client === 'HTTP/1' && death === 'dies inside the body (RST)',
    why: 'A reset stays a reset.',
  },
  {
    is: ({ backend, client, gateway }) => backend === 'WebSocket' && client === 'HTTP/2' && gateway === '503',
    why: 'The answer ends the stream; Envoy resets it after its answer.',
  },
  {
    is: ({ backend, client, gateway }) =>
      backend === 'WebSocket' && client === 'HTTP/2' && gateway === '200, then END_STREAM',
    why: 'RFC 8441 has END_STREAM for a connection that was closed in order.',
  },
]
