import type { Duplex } from 'node:stream'
import type { Sink, Source } from '../body/body.ts'
import type { HeaderBlock } from '../fields/header-block.ts'
import type { ClientCertificate } from './client-certificate.ts'
import type { Endpoint } from '../socket/proxy-protocol.ts'

/** The peer of a connection and how it connected. Constant for the life of the connection. */
export interface ConnectionInfo {
  /** The client's address, from the PROXY header or the socket. */
  readonly address: string
  readonly port: number
  /** The TCP peer. */
  readonly rawAddress: string
  readonly rawPort: number
  readonly scheme: 'http' | 'https'
  /** Server name of the TLS handshake, lower case; empty when there is none. */
  readonly sni: string
  /** Random of a TLS handshake that passes through; empty when TLS terminates here or is not used. */
  readonly handshake: string
  /** `<address>:<port>` of the client, as in the access log. */
  readonly source: string
  /**
   * The address that the client connected to, from the PROXY header or the socket. Computed on the first call, because
   * few callers need the address; later calls return it even when the connection is closed.
   */
  destination(): Endpoint
  /** The principal in the verified client certificate; empty without a certificate. */
  principal(): string
  /** The verified client certificate; undefined without a certificate. */
  readonly certificate?: ClientCertificate | undefined
}

/** One request and its response, for all protocol versions. A server connection creates it; the handler of the bind responds through it. */
export interface Exchange {
  readonly connection: ConnectionInfo
  readonly version: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2'
  readonly method: string
  /** Host header or `:authority`, as sent. */
  readonly authority: string
  /** Raw path and query as sent; empty for CONNECT. */
  readonly target: string
  /** Headers without Host, framing and hop-by-hop fields. */
  readonly headers: HeaderBlock
  readonly body: Source
  /** The protocol that the client asks to upgrade to, lower case, or empty. */
  readonly upgrade: string
  /** Whether the client accepts trailers. */
  readonly teTrailers: boolean
  /** Whether a header that names a client address, host or scheme was sent, in any spelling. */
  readonly claimsForwarding: boolean
  /** Gateways that the request has passed, in the format of `Hops`; empty for most requests. */
  readonly hops: string
  observer: ExchangeObserver | null
  /** Body bytes received so far. */
  readonly bytesIn: number
  readonly bytesOut: number

  /** Sends the head; the body follows through the returned sink. `length` is -1 when unknown, as in `Source`. */
  respond(status: number, headers: HeaderBlock, length: number): Sink
  /** Sends an interim response (1xx other than 101). */
  inform(status: number, headers: HeaderBlock): void
  /**
   * Responds with 101 (or 200 to CONNECT) and hands over the connection, or the stream over HTTP/2. Returns null for a
   * request that asked for neither.
   */
  takeOver(status: number, headers: HeaderBlock): RawConnection | null
  /** Ends the exchange abruptly: with a reset, or by closing the connection. */
  reset(cause: Error): void
}

/** A request or a connection without HTTP, in progress. */
export interface ActiveRequest {
  /** Key of the route, empty when no route is chosen yet; null when the request has ended. */
  readonly openRoute: string | null
}

/** Exactly one of `sent` and `gone` is called, once. */
export interface ExchangeObserver extends Partial<ActiveRequest> {
  /** The whole response was handed to the connection. */
  sent(): void
  /** The client disconnected, or the connection broke, before the whole response was sent. */
  gone(cause: Error): void
  /** The body broke before any byte of the response was sent; returns true when another response was sent instead. */
  unsent?(cause: Error): boolean
  /** A callback of the exchange has thrown: the observer reports the error and responds, or ends the exchange. */
  faulted?(error: unknown): void
}

/** A socket, or a stream that acts as one. */
export interface RawStream extends Duplex {
  readonly bytesRead: number
  readonly bytesWritten: number
  /** Whether the connection that carries the stream takes no more streams, so that new requests should go elsewhere. */
  readonly isLeaving?: boolean
  /** Closes once everything written has been sent. */
  destroySoon(): void
  /** Closes at once, with a reset, so that the peer sees that data is missing. */
  resetAndDestroy(): void
}

/** A connection that no longer carries HTTP; `early` are bytes that were already read. */
export interface RawConnection {
  socket: RawStream
  early: Buffer | null
  /** Transforms the bytes that this side sends; undefined forwards them unchanged. */
  edit?: BytesEdit
}

export interface BytesEdit {
  /** Returns the bytes to forward now; the rest is held. */
  push(chunk: Buffer): Buffer
  /** Returns the bytes that are still held at the end. */
  end(): Buffer
}

/** Receives every request of a connection. */
export type ExchangeHandler = (exchange: Exchange) => void
