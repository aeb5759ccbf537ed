import type { RawConnection } from '@portico/http'
import { CloseFrameFinder, type TunnelEnd, type TunnelSide } from '@portico/http/websocket'
import { UpstreamError } from '@portico/http/client'

/** Why a tunnel broke, by the side whose connection did. */
export const brokenTunnels: Readonly<Record<TunnelSide, Error>> = {
  backend: new UpstreamError('connection_lost', 'backend connection broke inside the tunnel', false),
  client: new Error('client connection broke inside the tunnel'),
}

/** A WebSocket that ended without a Close frame of either side, by the side that ended its connection. */
const unclosedWebSockets: Readonly<Record<TunnelSide, Error>> = {
  backend: new UpstreamError('connection_lost', 'backend ended the WebSocket without a close frame', false),
  client: new Error('client ended the WebSocket without a close frame'),
}

/** Says why a tunnel failed, or null when it ended as its protocol ends. */
export type TunnelFault = (end: TunnelEnd) => Error | null

/** Bytes of an unknown protocol end with the connection: only a broken one is a fault. */
export const faultOfBytes: TunnelFault = ({ brokenBy }) => (brokenBy === null ? null : brokenTunnels[brokenBy])

/** A WebSocket ends with a Close frame; a connection that ends without one is what its peer sees as code 1006. */
export function webSocketFault(client: RawConnection, backend: RawConnection): TunnelFault {
  const finders = [client, backend].map(({ socket, early }) => {
    const finder = new CloseFrameFinder()
    if (early !== null) finder.push(early)
    socket.on('data', (chunk: Buffer) => finder.push(chunk))
    return finder
  })
  return (end) => {
    if (finders.some(({ hasClosed }) => hasClosed)) return null
    // The side that ended first is the cause: the other one may reset what it still has open.
    return end.endedBy === null ? faultOfBytes(end) : unclosedWebSockets[end.endedBy]
  }
}
