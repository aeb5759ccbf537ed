import { hash } from 'node:crypto'
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
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Endpoints, EndpointLease, EndpointOwner, PlainEndpoint } from '../endpoints/endpoints.ts'
import { ForwardingHandler } from '../pool/forwarding-handler.ts'
import { NoTunnels } from '../no-tunnels.ts'
import type { Pool } from '../pool/pool.ts'
import { TrackedBody } from './tracked-body.ts'

/** An address that a call may go to, with its connection pool. */
export interface Candidate {
  endpoint: Endpoint
  pool: Pool
  /** Tracks calls when the backend has only this address. */
  plain: PlainEndpoint
}

/** The policy and the state for choosing between addresses. */
export interface CandidateChoice {
  owner: EndpointOwner
  endpoints: Endpoints
  watcher: EndpointWatcher
  /** Whether requests from one client address stay at one endpoint. */
  byClient: boolean
}

interface BalancedCallOptions extends CandidateChoice {
  /**
   * Whether to keep the body for a retry, because a connection may refuse a request after it has received part of the
   * body.
   */
  keepsBody: boolean
}

/** A call to one of several addresses. While no address accepts a connection, the call tries the next address. */
export class BalancedCall extends ForwardingHandler implements UpstreamCall {
  readonly #options: BalancedCallOptions
  #candidates: readonly Candidate[] = []
  #tries = 0
  #candidate: Candidate | null = null
  #lease: EndpointLease | null = null
  #call: UpstreamCall | null = null
  #cancelled = false

  constructor(request: UpstreamRequest, handler: UpstreamHandler, options: BalancedCallOptions) {
    super(request, handler)
    if (options.keepsBody) this.keepBody()
    this.#options = options
  }

  start(error: UpstreamError | null, candidates: readonly Candidate[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.#giveUp(error)
    const only = allowedCandidates(candidates, this.#options.watcher)
    if (only instanceof UpstreamError) return this.#giveUp(only)
    this.#candidates = only
    this.#try()
  }

  #try(): void {
    const candidate = chooseCandidate(this.#candidates, this.#options)
    const lease = this.#options.endpoints.lease(this.#options.owner, candidate.endpoint, this.#options.watcher)
    this.#candidate = candidate
    this.#lease = lease
    this.#tries++
    const call = candidate.pool.request(this.request, this, this.#options.watcher)
    if (this.#lease === lease) this.#call = call
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    if (cause instanceof UpstreamError) this.#lease?.failed(cause)
    else this.#lease?.ended()
    this.#call?.cancel(cause)
    this.releaseBody()
  }

  override responded(response: UpstreamResponse): void {
    if (this.#lease !== null) this.#answered(this.#lease, response)
    super.responded(response)
  }

  #answered(lease: EndpointLease, response: UpstreamResponse): void {
    lease.answered(this.#options.watcher.isUnhealthy?.(response) ?? response.status >= 500, response.status)
    if (response.body.length === 0) lease.ended()
    else response.body = new TrackedBody(response.body, lease)
  }

  override upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    if (this.#lease !== null) keepUntilClosed(this.#lease, raw.socket)
    this.handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    this.#lease?.failed(error)
    this.#candidates = this.#candidates.filter((candidate) => candidate !== this.#candidate)
    const { watcher } = this.#options
    const isLast = this.#candidates.length === 0 || (watcher.order === undefined && this.#tries >= MAX_TRIES)
    // The request is sent again as HTTP/1.1, and then may go to any address.
    if (error instanceof NoTunnels) return this.#giveUp(error)
    if (isLast || !error.unsent || !this.#isBodyAtHand(error)) return this.#giveUp(error)
    watcher.movedOn?.(error)
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

/** A call that is bound to one address has no other address to try; `order` also sorts the addresses. */
function allowedCandidates(
  candidates: readonly Candidate[],
  { belongsTo, order }: EndpointWatcher,
): readonly Candidate[] | UpstreamError {
  if (order !== undefined) {
    const ordered = order.flatMap((name) => candidates.find(({ endpoint }) => endpoint.name === name) ?? [])
    if (ordered.length > 0) return ordered
    return new UpstreamError('endpoint_gone', `${order.join(', ')}: not one of its addresses any more`, true)
  }
  if (!belongsTo?.isOnly) return candidates
  const only = candidates.filter(({ endpoint }) => endpoint.name === belongsTo.endpoint)
  if (only.length > 0) return only
  return new UpstreamError('endpoint_gone', `${belongsTo.endpoint} is not one of its addresses any more`, true)
}

export function chooseCandidate(
  candidates: readonly Candidate[],
  { owner, endpoints, watcher, byClient }: CandidateChoice,
): Candidate {
  const { order } = watcher
  if (order !== undefined && candidates[0] !== undefined) {
    const next = candidates.find(({ endpoint }) => watcher.hasTried?.(endpoint.name) !== true) ?? candidates[0]
    watcher.connectingTo(next.endpoint.name, next.pool.scheme)
    return next
  }
  const own = watcher.belongsTo?.endpoint
  const wanted =
    own === undefined && byClient && candidates.length > 1
      ? endpointFor(
          watcher.clientAddress ?? '',
          candidates.map(({ endpoint }) => endpoint.name),
        )
      : own
  const candidate = endpoints.choose(owner, candidates, watcher, wanted)
  watcher.connectingTo(candidate.endpoint.name, candidate.pool.scheme)
  return candidate
}

/**
 * Returns the endpoint for requests from an address. The choice stays the same as long as that endpoint exists, even
 * when other endpoints come and go.
 */
export function endpointFor(client: string, endpoints: readonly string[]): string | undefined {
  let best: string | undefined
  let highest = ''
  for (const endpoint of endpoints) {
    const score = hash('sha1', `${client} ${endpoint}`)
    if (best !== undefined && score <= highest) continue
    best = endpoint
    highest = score
  }
  return best
}

/** Counts a connection without HTTP as a call in progress until it closes. */
export function keepUntilClosed(lease: EndpointLease, socket: RawConnection['socket']): void {
  lease.connected()
  socket.once('close', () => lease.ended())
}

function isConnectError(error: UpstreamError): boolean {
  return error.code === 'connect_failed' || error.code === 'connect_timeout' || error.code === 'tls_failed'
}

/** The most addresses that one call tries. */
export const MAX_TRIES = 3
