import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Sink, Source } from './body.ts'
import type { HeaderBlock } from './header-block.ts'
import { type ClientCertificate, readClientCertificate } from './client-certificate.ts'
import type { Endpoint } from './proxy-protocol.ts'

/** Who is at the other end of a connection, and how it came in. Fixed for the life of the connection. */
export interface ConnectionInfo {
  /** The client, as the PROXY header or the socket says. */
  readonly address: string
  readonly port: number
  /** The TCP peer. */
  readonly rawAddress: string
  readonly rawPort: number
  readonly scheme: 'http' | 'https'
  /** Server name of the TLS handshake, lower case; empty without one. */
  readonly sni: string
  /** Random of the TLS handshake that passes through; empty where TLS ends here, or is not spoken. */
  readonly handshake: string
  /** `<address>:<port>` of the client, as the access log prints it. */
  readonly source: string
  /** What few ask for, looked up then: where the client came to, as the PROXY header or the socket says. */
  destination(): Endpoint
  /** Who the client is by its certificate, which was verified; empty without one. */
  principal(): string
  /** The client certificate, which was verified; undefined without one. */
  readonly certificate?: ClientCertificate | undefined
}

/** What a PROXY header said. */
export interface ProxiedEnds {
  source: Endpoint | null
  destination: Endpoint | null
}

/** `secure` is the TLS socket where TLS ends here. */
export function connectionInfo(
  socket: Socket,
  proxied: ProxiedEnds | null,
  sni: string,
  secure?: TLSSocket,
  handshake = '',
): ConnectionInfo {
  const source = proxied?.source ?? null
  const rawAddress = plainAddress(socket.remoteAddress ?? '')
  const rawPort = socket.remotePort ?? 0
  const address = source?.address ?? rawAddress
  const port = source?.port ?? rawPort
  let certificate: ClientCertificate | null | undefined = secure === undefined ? null : undefined
  return {
    address,
    port,
    rawAddress,
    rawPort,
    scheme: secure === undefined ? 'http' : 'https',
    sni,
    handshake,
    source: (address.includes(':') ? `[${address}]` : address) + ':' + port,
    destination: () =>
      proxied?.destination ?? { address: plainAddress(socket.localAddress ?? ''), port: socket.localPort ?? 0 },
    get certificate() {
      if (certificate === undefined) certificate = verifiedCertificate(secure)
      return certificate ?? undefined
    },
    principal() {
      return this.certificate?.principal ?? ''
    },
  }
}

function verifiedCertificate(secure: TLSSocket | undefined): ClientCertificate | null {
  const shown = secure?.authorized === true ? secure.getPeerX509Certificate() : undefined
  return shown === undefined ? null : readClientCertificate(shown)
}

/** A dual-stack socket shows IPv4 peers in IPv6 form. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** One request and its response, whatever the protocol version. Made by `net`, used by `pipeline`. */
export interface Exchange {
  readonly connection: ConnectionInfo
  readonly version: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2'
  readonly method: string
  /** Host header or `:authority`, as sent. */
  readonly authority: string
  /** Raw path and query as sent; empty for CONNECT. */
  readonly target: string
  /** Without Host, framing of the hop and hop-by-hop fields. */
  readonly headers: HeaderBlock
  readonly body: Source
  /** The protocol the client asks to change to, lower case, or empty. */
  readonly upgrade: string
  /** The client accepts trailers. */
  readonly teTrailers: boolean
  /** A header that names a client address, host or scheme was sent, in any spelling. */
  readonly claimsForwarding: boolean
  /** Gateways that the request has passed, as `Hops` notes them; empty for most. */
  readonly hops: string
  observer: ExchangeObserver | null
  /** Bytes of body so far. */
  readonly bytesIn: number
  readonly bytesOut: number

  /** Sends the head; the body follows through the sink. `length` as in Source: -1 when unknown. */
  respond(status: number, headers: HeaderBlock, length: number): Sink
  /** An interim answer (1xx other than 101). */
  inform(status: number, headers: HeaderBlock): void
  /** Answers 101 (or 200 to CONNECT) and gives up the connection; over HTTP/2 the stream. Null for a request that asked for neither. */
  takeOver(status: number, headers: HeaderBlock): RawConnection | null
  /** Ends the exchange in the hardest way the protocol has: a reset, or a closed connection. */
  reset(cause: Error): void
}

/** Something under way: a request, or a connection without HTTP. */
export interface UnderWay {
  /** Key of its route, empty where it has none yet; null when it is over. */
  readonly openRoute: string | null
}

/** Exactly one of the two is called, once. */
export interface ExchangeObserver extends Partial<UnderWay> {
  /** The whole response has been handed to the connection. */
  sent(): void
  /** The client went away, or the connection broke, before that. */
  gone(cause: Error): void
  /** The body broke before any byte of the response was sent: true when another response has been given in its place. */
  unsent?(cause: Error): boolean
  /** A callback of the exchange has thrown: the observer reports it and answers, or ends the exchange. */
  faulted?(error: unknown): void
}

/** A connection without HTTP on it any more; `early` are bytes that had been read already. */
/** A socket, or what stands for one. */
export interface RawStream extends Duplex {
  readonly bytesWritten: number
  /** Closes once all that was written has left. */
  destroySoon(): void
  /** Closes at once, and lets the peer see that something is missing. */
  resetAndDestroy(): void
}

export interface RawConnection {
  socket: RawStream
  early: Buffer | null
  /** What becomes of the bytes that it sends, where they do not go on as they are. */
  edit?: BytesEdit
}

export interface BytesEdit {
  /** What goes on now; the rest is held. */
  push(chunk: Buffer): Buffer
  /** What is still held when nothing follows. */
  end(): Buffer
}

/** Receives every request of a connection. */
export type ExchangeHandler = (exchange: Exchange) => void
