import type { Socket } from 'node:net'
import type { Source } from '../net/body.ts'
import type { RawConnection } from '../net/exchange.ts'
import { contained, reportFault } from '../telemetry/faults.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import type { HopTrail } from '../net/hops.ts'

/** One request as it leaves for a backend. */
export interface UpstreamRequest {
  method: string
  /** Path and query; `host:port` for CONNECT. */
  target: string
  authority: string
  headers: HeaderBlock
  body: Source
  /** Protocol to upgrade to, or empty. */
  upgrade: string
  teTrailers: boolean
  /** Whoever sends it has no limit of its own for the head of the response: the connection holds it to `HEAD_LOOKS`. */
  limitsHead?: boolean
  /** Gateways that it has passed, with this one; the pool sets it. */
  trail?: HopTrail
}

/** `responded`, `upgraded` and `failed` exclude one another; one of them is called, once, unless the call is cancelled. */
export interface UpstreamHandler {
  /** An interim answer, 1xx other than 101. */
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

/** A request under way. */
export interface UpstreamCall {
  /** A cause that is an `UpstreamError` is the backend's fault. */
  cancel(cause: Error): void
}

/** Told once what became of an attempt to connect. */
export type ConnectDone = (outcome: Socket | UpstreamError) => void

/** An address that a call belongs to. */
export interface Belonging {
  endpoint: string
  /** No other one will do. */
  isOnly: boolean
}

/** Follows a call from address to address. */
export interface EndpointWatcher {
  /** Gateways that the request which the call serves had passed when it came here; empty where the gateway calls on its own account. */
  readonly hops: string
  /** Where the request belongs, because of one before it. */
  readonly belongsTo?: Belonging | null
  /** Who asks, for backends that go by that. */
  readonly clientAddress?: string
  /** Whether a connection to that address would come back to where the client's came in: nothing is dialled then. */
  leadsBack?(endpoint: string): boolean
  /** Told each address that is tried, and whether over TLS. */
  connectingTo(endpoint: string, scheme: 'http' | 'https'): void
  /** Whether the same request was there before: another address is better then. Left out, none was. */
  hasTried?(endpoint: string): boolean
  /** The connection was of no use, which says why: the request goes to the same address once more. */
  sentAgain?(error: UpstreamError): void
  /** A connection to `target` is opened through this proxy; what is returned is told how that ended. */
  tunnelling?(target: string, proxy: string): (error: UpstreamError | null) => void
  /** Whether a response speaks against the health of the endpoint. Left out, a status of 500 and above does. */
  isUnhealthy?(response: UpstreamResponse): boolean
  /** What became of the call had its endpoint left out for a while. */
  hasEvicted?(): void
}

export type UpstreamErrorCode =
  | 'dns_failed'
  | 'no_endpoints'
  /** The backend consists of servers that a selector finds, and it finds none. */
  | 'no_targets'
  /** The only address that will do is not one of the backend any more. */
  | 'endpoint_gone'
  | 'invalid_backend'
  | 'address_refused'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  /** Closed before any byte of an answer. */
  | 'connection_lost'
  | 'bad_response'
  | 'loop_detected'
  | 'response_timeout'
  /** The gateway itself failed while it dealt with the response. */
  | 'internal'

/** What went wrong on the way to a backend, and whether the backend can have seen the request. */
export class UpstreamError extends Error {
  readonly code: UpstreamErrorCode
  /** The backend has not looked at the request: there was no connection, or the stream was refused. */
  readonly unsent: boolean
  /** A connection that had served before was closed without an answer: perhaps before the request came. */
  readonly stale: boolean
  /** Error code of the RST_STREAM with which an HTTP/2 backend ended the stream; null when it sent none. */
  readonly resetCode: number | null
  /** The response had a status line, and then a header that HTTP forbids. */
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

/** Pools look at their connections so often: cheaper than a limit for each call. */
export const LOOK_MS = 60_000
/** A call that was sent whole and has no answer after half an hour of looks never gets one. */
export const HEAD_LOOKS = 30

export function internalFailure(): UpstreamError {
  return new UpstreamError('internal', 'internal error', false)
}

/** Tells of a failure; where that throws, the handler hears once more, so that nobody waits for ever. */
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

/** Of one answer: `102 Processing` every 20 seconds for half an hour. */
export const MAX_INTERIMS = 100

/** A connection closed before any byte of an answer; `because` where the gateway itself closed it. */
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
