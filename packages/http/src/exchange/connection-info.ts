import type { Socket } from 'node:net'
import type { ClientCertificate } from './client-certificate.ts'
import type { ConnectionInfo } from './exchange.ts'
import type { Endpoint } from '../socket/proxy-protocol.ts'

/** The addresses in a PROXY header. */
export interface ProxiedEnds {
  source: Endpoint | null
  destination: Endpoint | null
}

/** A finished TLS handshake, and the certificate that the client has shown in it. */
export interface Handshake {
  readonly certificate: ClientCertificate | undefined
}

/** `secure` is the handshake when TLS terminates here. */
export function connectionInfo(
  socket: Socket,
  proxied: ProxiedEnds | null,
  sni: string,
  secure?: Handshake,
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
  readonly certificate: ClientCertificate | undefined
  readonly #socket: Socket
  #destination: Endpoint | null

  constructor(
    socket: Socket,
    proxied: ProxiedEnds | null,
    sni: string,
    secure: Handshake | undefined,
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
    this.certificate = secure?.certificate
    this.#socket = socket
    this.#destination = proxied?.destination ?? null
  }

  destination(): Endpoint {
    const socket = this.#socket
    return (this.#destination ??= { address: plainAddress(socket.localAddress ?? ''), port: socket.localPort ?? 0 })
  }

  principal(): string {
    return this.certificate?.principal ?? ''
  }
}

/** Converts IPv4 peers of a dual-stack socket from their IPv6 form. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
