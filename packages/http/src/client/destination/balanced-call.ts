import { isAtHand } from '../../body/body.ts'
import type { RawConnection } from '../../exchange/exchange.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import {
  type EndpointWatcher,
  tellFailed,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../upstream-types.ts'
import { endpointFor } from './affinity.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import type { EndpointOwner } from '../endpoints/endpoint-call.ts'
import { ForwardingHandler } from '../pool/forwarding-handler.ts'
import { NoTunnels } from '../no-tunnels.ts'
import type { PlainEndpoint } from '../endpoints/plain-endpoint.ts'
import type { Pool } from '../pool/pool.ts'
import { TrackedBody } from './tracked-body.ts'
import type { EndpointCall } from '../endpoints/endpoint-call.ts'

/** An address and its connection pool. */
export interface Way {
  endpoint: Endpoint
  pool: Pool
  /** Tracks calls when the backend has only this address. */
  plain: PlainEndpoint
}

/** The policy and the state for choosing between addresses. */
export interface WayChoice {
  owner: EndpointOwner
  endpoints: Endpoints
  watcher: EndpointWatcher
  /** Whether requests from one client address stay at one endpoint. */
  byClient: boolean
}

export interface BalancedCallOptions extends WayChoice {
  /**
   * Whether to keep the body for a retry, because a connection may refuse a request after it has received part of the
   * body.
   */
  keepsBody: boolean
}

/** A call to one of several addresses. While no address accepts a connection, the call tries the next address. */
export class BalancedCall extends ForwardingHandler implements UpstreamCall {
  readonly #options: BalancedCallOptions
  #ways: readonly Way[] = []
  #tries = 0
  #way: Way | null = null
  #visit: EndpointCall | null = null
  #call: UpstreamCall | null = null
  #cancelled = false

  constructor(request: UpstreamRequest, handler: UpstreamHandler, options: BalancedCallOptions) {
    super(request, handler)
    if (options.keepsBody) this.keepBody()
    this.#options = options
  }

  start(error: UpstreamError | null, ways: readonly Way[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.#giveUp(error)
    const only = onlyWays(ways, this.#options.watcher)
    if (only instanceof UpstreamError) return this.#giveUp(only)
    this.#ways = only
    this.#try()
  }

  #try(): void {
    const way = chooseWay(this.#ways, this.#options)
    const visit = this.#options.endpoints.visit(this.#options.owner, way.endpoint, this.#options.watcher)
    this.#way = way
    this.#visit = visit
    this.#tries++
    const call = way.pool.request(this.request, this, this.#options.watcher)
    if (this.#visit === visit) this.#call = call
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    if (cause instanceof UpstreamError) this.#visit?.failed(cause)
    else this.#visit?.ended()
    this.#call?.cancel(cause)
    this.releaseBody()
  }

  override responded(response: UpstreamResponse): void {
    if (this.#visit !== null) this.#answered(this.#visit, response)
    super.responded(response)
  }

  #answered(visit: EndpointCall, response: UpstreamResponse): void {
    visit.answered(this.#options.watcher.isUnhealthy?.(response) ?? response.status >= 500, response.status)
    if (response.body.length === 0) visit.ended()
    else response.body = new TrackedBody(response.body, visit)
  }

  override upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    if (this.#visit !== null) keepUntilClosed(this.#visit, raw.socket)
    this.handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    this.#visit?.failed(error)
    this.#ways = this.#ways.filter((way) => way !== this.#way)
    const isLast = this.#ways.length === 0 || this.#tries >= MAX_TRIES
    // The request is sent again as HTTP/1.1, and then may go to any address.
    if (error instanceof NoTunnels) return this.#giveUp(error)
    if (isLast || !error.unsent || !this.#isBodyAtHand(error)) return this.#giveUp(error)
    this.#try()
  }

  #giveUp(error: UpstreamError): void {
    this.releaseBody()
    tellFailed(this.handler, error)
  }

  /** A refused stream may have consumed part of the body. */
  #isBodyAtHand(error: UpstreamError): boolean {
    const { body } = this.request
    return isAtHand(body) || (body.whole === undefined && isConnectError(error))
  }
}

/** A call that is bound to one address has no other address to try. */
function onlyWays(ways: readonly Way[], { belongsTo }: EndpointWatcher): readonly Way[] | UpstreamError {
  if (!belongsTo?.isOnly) return ways
  const only = ways.filter(({ endpoint }) => endpoint.name === belongsTo.endpoint)
  if (only.length > 0) return only
  return new UpstreamError('endpoint_gone', `${belongsTo.endpoint} is not one of its addresses any more`, true)
}

export function chooseWay(ways: readonly Way[], { owner, endpoints, watcher, byClient }: WayChoice): Way {
  const own = watcher.belongsTo?.endpoint
  const wanted =
    own === undefined && byClient && ways.length > 1
      ? endpointFor(
          watcher.clientAddress ?? '',
          ways.map(({ endpoint }) => endpoint.name),
        )
      : own
  const way = endpoints.choose(owner, ways, watcher, wanted)
  watcher.connectingTo(way.endpoint.name, way.pool.scheme)
  return way
}

/** Counts a connection without HTTP as a call in progress until it closes. */
export function keepUntilClosed(visit: EndpointCall, socket: RawConnection['socket']): void {
  visit.connected()
  socket.once('close', () => visit.ended())
}

function isConnectError(error: UpstreamError): boolean {
  return error.code === 'connect_failed' || error.code === 'connect_timeout' || error.code === 'tls_failed'
}

/** The most addresses that one call tries. */
export const MAX_TRIES = 3
