import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ConnectionInfo } from './exchange.ts'
import type { Endpoint } from './proxy-protocol.ts'

/** `source` is what a PROXY header said; `secure` is the TLS socket where TLS ends here. */
export function connectionInfo(
  socket: Socket,
  source: Endpoint | null,
  sni: string,
  secure?: TLSSocket,
): ConnectionInfo {
  const rawAddress = plainAddress(socket.remoteAddress ?? '')
  const rawPort = socket.remotePort ?? 0
  const address = source?.address ?? rawAddress
  const port = source?.port ?? rawPort
  return {
    address,
    port,
    rawAddress,
    rawPort,
    scheme: secure === undefined ? 'http' : 'https',
    sni,
    source: (address.includes(':') ? `[${address}]` : address) + ':' + port,
  }
}

/** A dual-stack socket shows IPv4 peers in IPv6 form. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
