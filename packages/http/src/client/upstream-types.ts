import type { Source } from '../body/body.ts'
import type { RawConnection, RawStream } from '../exchange/exchange.ts'
import { contained, reportFault } from '../runtime/faults.ts'
import type { HeaderBlock } from '../fields/header-block.ts'
import type { HopTrail } from '../fields/hops.ts'

/** One outgoing request to a backend. */
export interface UpstreamRequest {
  method: string
  /** Path and query; `host:port` for CONNECT. */
  target: string
  authority: string
  headers: HeaderBlock
  body: Source
  /** Protocol to upgrade to, or empty. */
  upgrade: string
  /** Whether a CONNECT opens a tunnel inside an HTTP/2 stream; other CONNECT requests are for HTTP/1.1 only. */
  opensTunnel?: boolean
  teTrailers: boolean
  /** Whether the sender sets no limit for the response head: the connection then applies `HEAD_LOOKS`. */
  limitsHead?: boolean
  /** Gateways that the request has passed, including this gateway; the pool sets it. */
  trail?: HopTrail
}

/** Exactly one of `responded`, `upgraded` and `failed` is called, once, unless the call is canceled. */
export interface UpstreamHandler {
  /** An interim response (1xx other than 101). */
  informed(status: number, headers: HeaderBlock): void
  responded(response: UpstreamResponse): void
  /** The backend changed the protocol (101, or 2xx to CONNECT). */
  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void
  failed(error: UpstreamError): void
}

export interface UpstreamResponse {
  status: number
  headers: HeaderBlock
  body: Source
}

/** A request in progress. */
export interface UpstreamCall {
  /** A cause that is an `UpstreamError` is the backend's fault. */
  cancel(cause: Error): void
}

/** Called once with the outcome of an attempt to connect. */
export type ConnectDone = (outcome: RawStream | UpstreamError) => void

/** The address that a call is bound to. */
interface EndpointBinding {
  endpoint: string
  /** Whether the call must not use another address. */
  isOnly: boolean
}

/** Follows a call from address to address. */
export interface EndpointWatcher {
  /** Gateways that the served request had passed when it arrived; empty for calls that the gateway makes itself. */
  readonly hops: string
  /** The address that a previous request bound this request to. */
  readonly belongsTo?: EndpointBinding | null
  /** The only addresses that the call may use, in the order in which they are tried; absent when all may be used. */
  readonly order?: readonly string[] | undefined
  /** Address of the client, for backends that balance by it. */
  readonly clientAddress?: string
  /**
   * Returns whether a connection to that address would lead back to the listener of the client's connection; such an
   * address is not dialed.
   */
  leadsBack?(endpoint: string): boolean
  /** Called with each address that is tried; `scheme` tells whether TLS is used. */
  connectingTo(endpoint: string, scheme: 'http' | 'https'): void
  /**
   * Returns whether the same request was sent there before, so that another address is preferred. Without it, no
   * address counts as tried.
   */
  hasTried?(endpoint: string): boolean
  /** Called when the address that was tried last failed with this error, and the call tries another address. */
  movedOn?(error: UpstreamError): void
  /** Called when the request is sent to the same address once more, because its connection failed with this error. */
  sentAgain?(error: UpstreamError): void
  /** Called when a connection to `target` is opened through this proxy; the returned function gets the outcome. */
  tunnelling?(target: string, proxy: string): (error: UpstreamError | null) => void
  /** Returns whether a response counts as unhealthy. Without it, a status of 500 and above does. */
  isUnhealthy?(response: UpstreamResponse): boolean
  /** Called when the outcome of the call evicted its endpoint. */
  hasEvicted?(): void
}

type UpstreamErrorCode =
  | 'dns_failed'
  | 'no_endpoints'
  /** The backend consists of the servers that a selector matches, and it matches none. */
  | 'no_targets'
  /** The only address that the call may use no longer belongs to the backend. */
  | 'endpoint_gone'
  | 'invalid_backend'
  /** The endpoint picker of an inference pool gave no answer that can be used. */
  | 'picker_failed'
  /** The endpoint picker chose no member of its inference pool. */
  | 'no_member_picked'
  | 'address_refused'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  /** The connection closed before any byte of a response. */
  | 'connection_lost'
  | 'bad_response'
  | 'loop_detected'
  | 'response_timeout'
  /** The gateway itself failed while it handled the response. */
  | 'internal'

/** An error on the way to a backend, which also tells whether the backend can have seen the request. */
export class UpstreamError extends Error {
  readonly code: UpstreamErrorCode
  /** Whether the backend has not processed the request: there was no connection, or the stream was refused. */
  readonly unsent: boolean
  /** Whether a reused connection closed without a response, perhaps before the request arrived. */
  readonly stale: boolean
  /** Error code of the RST_STREAM with which an HTTP/2 backend ended the stream; null when it sent none. */
  readonly resetCode: number | null
  /** Whether the response had a valid status line, but an invalid header. */
  readonly hasInvalidHeader: boolean

  constructor(
    code: UpstreamErrorCode,
    message: string,
    unsent: boolean,
    { stale = false, resetCode = null, hasInvalidHeader = false }: UpstreamErrorDetails = {},
  ) {
    super(message)
    this.code = code
    this.unsent = unsent
    this.stale = stale
    this.resetCode = resetCode
    this.hasInvalidHeader = hasInvalidHeader
  }
}

interface UpstreamErrorDetails {
  stale?: boolean
  resetCode?: number | null
  hasInvalidHeader?: boolean
}

/** Milliseconds between a pool's checks of its connections: cheaper than a timer for each call. */
export const LOOK_MS = 60_000
/** A call that was sent completely fails when it has no response after this many checks (half an hour). */
export const HEAD_LOOKS = 30

export function internalFailure(): UpstreamError {
  return new UpstreamError('internal', 'internal error', false)
}

/** Reports a failure. When the handler throws, it is called once more, so that no client waits forever. */
export function tellFailed(handler: UpstreamHandler, error: UpstreamError): void {
  try {
    handler.failed(error)
  } catch (thrown) {
    reportFault(thrown, 'request')
    contained('request', () => handler.failed(internalFailure()))
  }
}

export function noResponse(): UpstreamError {
  return new UpstreamError('response_timeout', 'no response in time', false)
}

/** The most interim responses to one request: `102 Processing` every 20 seconds for half an hour. */
export const MAX_INTERIMS = 100

/**
 * The error for a connection that closed before any byte of a response; `because` is set when the gateway itself closed
 * it.
 */
export function lostUnanswered(reused: boolean, because: string | null = null): UpstreamError {
  const reason = because === null ? '' : `: ${because}`
  const message = `${reused ? 'reused connection' : 'connection'} closed before the response${reason}`
  return new UpstreamError('connection_lost', message, false, { stale: reused })
}

/** Methods that may be sent twice (RFC 9110 section 9.2.2). */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method)
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])
