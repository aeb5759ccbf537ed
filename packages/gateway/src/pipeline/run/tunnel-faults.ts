import type { RawConnection } from '@portico/http'
import { CloseFrameFinder, type TunnelEnd, type TunnelSide } from '@portico/http/websocket'
import { UpstreamError } from '@portico/http/client'

/** The errors of broken tunnels, by the side whose connection broke. */
export const brokenTunnels: Readonly<Record<TunnelSide, Error>> = {
  backend: new UpstreamError('connection_lost', 'backend connection broke inside the tunnel', false),
  client: new Error('client connection broke inside the tunnel'),
}

/** The errors of WebSockets that ended without a Close frame, by the side that closed its connection first. */
const unclosedWebSockets: Readonly<Record<TunnelSide, Error>> = {
  backend: new UpstreamError('connection_lost', 'backend ended the WebSocket without a close frame', false),
  client: new Error('client ended the WebSocket without a close frame'),
}

/** Returns the error of a tunnel; null when it ended normally for its protocol. */
type TunnelFault = (end: TunnelEnd) => Error | null

/** The fault of a tunnel with an unknown protocol, which ends with its connection: only a broken connection is a fault. */
export const faultOfBytes: TunnelFault = ({ brokenBy }) => (brokenBy === null ? null : brokenTunnels[brokenBy])

/** Returns the fault function of a WebSocket: without a Close frame the peer sees code 1006, which is a fault. */
export function webSocketFault(client: RawConnection, backend: RawConnection): TunnelFault {
  const finders = [client, backend].map(({ socket, early }) => {
    const finder = new CloseFrameFinder()
    if (early !== null) finder.push(early)
    socket.on('data', (chunk: Buffer) => finder.push(chunk))
    return finder
  })
  return (end) => {
    if (finders.some(({ hasClosed }) => hasClosed)) return null
    // The side that ended first is the cause; the other side may then reset its connection.
    return end.endedBy === null ? faultOfBytes(end) : unclosedWebSockets[end.endedBy]
  }
}
