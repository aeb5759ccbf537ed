import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { SpdySession, type SpdyStream } from './spdy.ts'

interface Upgrade {
  request: IncomingMessage
  socket: Duplex
  /** Those that are spoken over the streams, the best first. */
  protocols: readonly string[]
}

/** Agrees on SPDY/3.1 and a protocol above it; undefined when the other end wants neither. */
export function acceptSpdy(
  { request, socket, protocols }: Upgrade,
  opened: (stream: SpdyStream) => void,
): SpdySession | undefined {
  const offered = String(request.headers['x-stream-protocol-version'] ?? '').split(/\s*,\s*/)
  const protocol = protocols.find((one) => offered.includes(one))
  if (request.headers.upgrade?.toLowerCase() !== 'spdy/3.1' || protocol === undefined) {
    socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    return undefined
  }
  const head = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1']
  socket.write(`${head.join('\r\n')}\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`)
  const session = new SpdySession(socket, opened)
  void session.run()
  return session
}
