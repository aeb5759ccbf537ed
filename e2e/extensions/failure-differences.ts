/** One failure of a backend, as the client saw it behind each of the two. */
export interface FailureCell {
  backend: string
  death: string
  client: string
  envoy: string
  gateway: string
}

/** A difference in what clients see, and why the gateway does otherwise. */
interface FailureDifference {
  is: (cell: FailureCell) => boolean
  why: string
}

export const differences: readonly FailureDifference[] = [
  {
    is: ({ backend, gateway }) => backend === 'gRPC' && gateway === 'grpc-status 4',
    why: 'The gateway reports a timeout as DEADLINE_EXCEEDED. UNAVAILABLE would invite a retry, and clients read a reset as INTERNAL.',
  },
  {
    is: ({ backend, death, envoy }) =>
      backend === 'gRPC' && death.includes('inside the body') && envoy === '200, RST_STREAM INTERNAL_ERROR',
    why: 'The gateway sends trailers with the status that clients would see without a proxy.',
  },
  {
    is: ({ backend, death, client }) =>
      backend === 'WebSocket' && client === 'HTTP/1' && death === 'dies inside the body (RST)',
    why: 'The gateway forwards a reset as a reset.',
  },
  {
    is: ({ backend, client, gateway }) => backend === 'WebSocket' && client === 'HTTP/2' && gateway === '503',
    why: 'In the gateway, the response ends the stream; Envoy resets the stream after the response.',
  },
  {
    is: ({ backend, client, gateway }) =>
      backend === 'WebSocket' && client === 'HTTP/2' && gateway === '200, then END_STREAM',
    why: 'RFC 8441 requires END_STREAM for a connection that was closed cleanly.',
  },
]
