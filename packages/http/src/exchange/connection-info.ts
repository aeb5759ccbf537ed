import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type ClientCertificate, readClientCertificate } from './client-certificate.ts'
import type { ConnectionInfo } from './exchange.ts'
import type { Endpoint } from '../socket/proxy-protocol.ts'

/** The addresses in a PROXY header. */
export interface ProxiedEnds {
  source: Endpoint | null
  destination: Endpoint | null
}

/** `secure` is the TLS socket when TLS terminates here. */
export function connectionInfo(
  socket: Socket,
  proxied: ProxiedEnds | null,
  sni: string,
  secure?: TLSSocket,
  handshake = '',
): ConnectionInfo {
  return new SocketInfo(socket, proxied, sni, secure, handshake)
}

/**
 * A class gives all connections one shape. Accessors that are defined on each object would give each connection a shape
 * of its own, so that every access to it in a request would search for the property.
 */
class SocketInfo implements ConnectionInfo {
  readonly address: string
  readonly port: number
  readonly rawAddress: string
  readonly rawPort: number
  readonly scheme: 'http' | 'https'
  readonly sni: string
  readonly handshake: string
  readonly source: string
  readonly #socket: Socket
  readonly #secure: TLSSocket | null
  #destination: Endpoint | null
  /** Undefined until the first access. */
  #certificate: ClientCertificate | null | undefined

  constructor(
    socket: Socket,
    proxied: ProxiedEnds | null,
    sni: string,
    secure: TLSSocket | undefined,
    handshake: string,
  ) {
    const source = proxied?.source ?? null
    this.rawAddress = plainAddress(socket.remoteAddress ?? '')
    this.rawPort = socket.remotePort ?? 0
    this.address = source?.address ?? this.rawAddress
    this.port = source?.port ?? this.rawPort
    this.scheme = secure === undefined ? 'http' : 'https'
    this.sni = sni
    this.handshake = handshake
    this.source = (this.address.includes(':') ? `[${this.address}]` : this.address) + ':' + this.port
    this.#socket = socket
    this.#secure = secure ?? null
    this.#destination = proxied?.destination ?? null
    // Connections without TLS have no certificate to read.
    this.#certificate = secure === undefined ? null : undefined
  }

  destination(): Endpoint {
    const socket = this.#socket
    return (this.#destination ??= { address: plainAddress(socket.localAddress ?? ''), port: socket.localPort ?? 0 })
  }

  principal(): string {
    return this.certificate?.principal ?? ''
  }

  /** Read on demand, because few callers need the certificate. */
  get certificate(): ClientCertificate | undefined {
    const secure = this.#secure
    if (this.#certificate === undefined) this.#certificate = secure === null ? null : verifiedCertificate(secure)
    return this.#certificate ?? undefined
  }
}

function verifiedCertificate(secure: TLSSocket): ClientCertificate | null {
  const shown = secure.authorized ? secure.getPeerX509Certificate() : undefined
  return shown === undefined ? null : readClientCertificate(shown)
}

/** Converts IPv4 peers of a dual-stack socket from their IPv6 form. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
