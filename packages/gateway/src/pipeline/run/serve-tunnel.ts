import { type ConnectionInfo, type Exchange, type Hops, HeaderBlock } from '@portico/http'
import type { BindServer, StreamRefusal } from '@portico/http/server'

/** A port that serves streams of other connections. */
export type StreamPort = Pick<BindServer<string>, 'admitStream'>

interface TunnelServices {
  hops: Hops
  streamPort: (port: number) => StreamPort | null
}

/** Logs and records a tunnel that was refused. */
export type TunnelRefused = (info: ConnectionInfo, status: number, code: string) => void

/**
 * Serves a CONNECT of a mesh peer as a connection of the port that its authority names. The authority only selects among
 * the ports of this gateway: its host is ignored, and no address is dialed.
 */
export function serveTunnel(exchange: Exchange, { hops, streamPort }: TunnelServices, refused: TunnelRefused): void {
  const refuse = (code: keyof typeof STATUSES): void => {
    const status = STATUSES[code]
    exchange.respond(status, new HeaderBlock(), 0).end(null)
    refused(exchange.connection, status, `hbone_${code}`)
  }
  if (exchange.method !== 'CONNECT') return refuse('not_connect')
  if (hops.loopIn(exchange.hops) !== null) return refuse('loop')
  const { authority } = exchange
  const port = streamPort(Number(authority.slice(authority.lastIndexOf(':') + 1)))
  if (port === null) return refuse('no_listener')
  const admitted = port.admitStream(innerConnection(exchange.connection))
  if (typeof admitted === 'string') return refuse(admitted)
  const raw = exchange.takeOver(200, new HeaderBlock())
  admitted(raw?.socket ?? null)
  if (raw === null) refuse('not_connect')
}

/** The connection inside the tunnel: plain HTTP from the same peer, with the peer's certificate. */
function innerConnection(outer: ConnectionInfo): ConnectionInfo {
  const { address, port, rawAddress, rawPort, handshake, source, certificate } = outer
  return {
    ...{ address, port, rawAddress, rawPort, scheme: 'http', sni: '', handshake, source, certificate },
    destination: () => outer.destination(),
    principal: () => outer.principal(),
  }
}

const STATUSES = { not_connect: 405, loop: 508, no_listener: 404, denied: 403, full: 503 } satisfies Record<
  StreamRefusal | 'not_connect' | 'loop',
  number
>
