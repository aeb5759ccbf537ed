import { isIP } from 'node:net'
import { isGrpcContentType } from '../../fields/field-rules.ts'
import { parseMeshAddress } from '../../text/mesh-address.ts'
import { reportFault } from '../../runtime/faults.ts'
import type { AddressGuard } from '../addresses/address-guard.ts'
import { BalancedCall, chooseCandidate, type Candidate, type CandidateChoice } from './balanced-call.ts'
import { BalancedConnect } from './balanced-connect.ts'
import {
  type ConnectDone,
  type EndpointWatcher,
  internalFailure,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from '../upstream-types.ts'
import type { DialOptions, Tunnel } from '../pool/dial.ts'
import type { Resolver } from '../addresses/dns.ts'
import type { EndpointLease, EndpointOwner, Endpoints } from '../endpoints/endpoints.ts'
import type { Hbone } from '../hbone/hbone.ts'
import { formatHostPort, parseHostPort } from '../host-port.ts'
import type { Pools } from '../pool/pools.ts'
import type { ConnectionSettings } from './settings.ts'
import { UpgradeCall } from './upgrade-call.ts'
import { type ClientTls, createClientTls } from './tls.ts'

type HttpVersion = 'HTTP1' | 'HTTP2'

/** Chooses the HTTP version for a backend whose policies set none: the rules of the spec, in its order. */
export function chooseVersion(
  configured: HttpVersion | null,
  request: UpstreamRequest,
  client: { clientVersion: string; clientScheme: 'http' | 'https' },
): HttpVersion {
  // Every backend can upgrade over HTTP/1.1; an HTTP/2 backend is first checked for support of other protocols.
  if (request.upgrade !== '') return configured ?? 'HTTP1'
  if (configured !== null) return configured
  const plainHttp2 = client.clientScheme === 'http' && client.clientVersion === 'HTTP/2'
  if (plainHttp2) return 'HTTP2'
  const contentType = request.headers.get('content-type')
  return contentType !== null && isGrpcContentType(contentType) ? 'HTTP2' : 'HTTP1'
}

export interface DestinationOptions {
  /** The backend that the destination belongs to. */
  backend: { key: string; name: string }
  /** With `named`, the resolver returns addresses with their ports, in the form of `parseMeshAddress`. */
  address: { host: string; port: number; named?: true } | { path: string }
  settings: ConnectionSettings
  /** Whether requests from one client address stay at one endpoint. */
  byClient?: boolean
  /** Checks every address before it is dialed; null when the config itself names the host. */
  guard: AddressGuard | null
  resolver: Resolver
  pools: Pools
  endpoints: Endpoints
  /** Opens tunnels to named addresses that are in the mesh; without it, such addresses cannot be called. */
  hbone?: Hbone
}

/** An address that was chosen for a session, until the lease ends. */
export interface LeasedAddress {
  /** `host:port` */
  name: string
  host: string
  port: number
  lease: EndpointLease
  /** Returns whether the backend still has the address. */
  isCurrent(): boolean
}

/** One host and port (or socket file): resolves the name and pools the connections. */
export class Destination {
  readonly #options: DestinationOptions
  readonly #host: string
  readonly #port: number
  readonly #label: string
  /** Whether addresses have ports of their own. */
  readonly #isNamed: boolean
  readonly #owner: EndpointOwner
  /** Addresses known without DNS: literals, socket files, and names that the proxy of a tunnel resolves. */
  readonly #fixed: readonly string[] | null
  /** Whether neither a guard nor a health policy applies, so that a single address needs no score. */
  readonly #isPlain: boolean
  readonly #candidatesByAddress: Record<HttpVersion, Map<string, Candidate>> = { HTTP1: new Map(), HTTP2: new Map() }
  readonly #lastCandidates: Partial<
    Record<HttpVersion, { addresses: readonly string[]; candidates: readonly Candidate[] }>
  > = {}
  readonly #tls: Partial<Record<HttpVersion, ClientTls>> = {}

  constructor(options: DestinationOptions) {
    this.#options = options
    const address = options.address
    this.#host = 'path' in address ? '' : address.host
    this.#port = 'path' in address ? 0 : address.port
    this.#label = 'path' in address ? `unix:${address.path}` : ''
    this.#isNamed = 'named' in address && address.named === true
    const { tunnel, health } = options.settings
    const isNameForProxy = tunnel !== null && !tunnel.takesAddresses
    const isKnown = !this.#isNamed && (isNameForProxy || isIP(this.#host) !== 0)
    this.#fixed = 'path' in address ? [address.path] : isKnown ? [address.host] : null
    this.#owner = { ...options.backend, health }
    this.#isPlain = options.guard === null && health === null
    // Finds unusable certificates when the config is loaded, not on the first request.
    if (options.settings.tls !== null) this.#clientTls('HTTP1')
  }

  send(
    request: UpstreamRequest,
    version: HttpVersion,
    watcher: EndpointWatcher,
    handler: UpstreamHandler,
  ): UpstreamCall {
    if (request.upgrade === '' || version === 'HTTP1') return this.#send(request, version, watcher, handler)
    return new UpgradeCall(request, handler, (tried, told) => this.#send(request, tried, watcher, told)).start()
  }

  #send(
    request: UpstreamRequest,
    version: HttpVersion,
    watcher: EndpointWatcher,
    handler: UpstreamHandler,
  ): UpstreamCall {
    const addresses = this.#fixed ?? this.#options.resolver.get(this.#host)
    const only = addresses !== null && addresses.length === 1 ? addresses[0] : undefined
    if (only !== undefined && this.#isPlain && !watcher.belongsTo && watcher.order === undefined) {
      const candidate = this.#candidate(only, version)
      watcher.connectingTo(candidate.endpoint.name, candidate.pool.scheme)
      return candidate.pool.request(request, handler, watcher, candidate.plain)
    }
    const { endpoints, byClient = false } = this.#options
    const call = new BalancedCall(request, handler, {
      owner: this.#owner,
      endpoints,
      watcher,
      byClient,
      keepsBody: version === 'HTTP2',
    })
    this.#judge(addresses, (error, found) => {
      try {
        call.start(error, this.#candidates(found, version))
      } catch (thrown) {
        reportFault(thrown, 'request')
        call.failed(internalFailure())
      }
    })
    return call
  }

  /** Opens a dedicated connection, for tunnels. */
  connect(watcher: EndpointWatcher, done: ConnectDone): { cancel(): void } {
    const { endpoints, byClient = false } = this.#options
    const call = new BalancedConnect({ owner: this.#owner, endpoints, watcher, byClient }, done)
    this.#judge(this.#fixed ?? this.#options.resolver.get(this.#host), (error, found) => {
      try {
        call.start(error, this.#candidates(found, 'HTTP1'))
      } catch (thrown) {
        reportFault(thrown, 'request')
        done(internalFailure())
      }
    })
    return call
  }

  /** Chooses an address for a session without a connection. `done` is called once, perhaps at once. */
  lease(watcher: EndpointWatcher, done: (outcome: LeasedAddress | UpstreamError) => void): void {
    const { endpoints, byClient = false } = this.#options
    this.#judge(this.#fixed ?? this.#options.resolver.get(this.#host), (error, found) => {
      if (error !== null) return done(error)
      let outcome: LeasedAddress | UpstreamError
      try {
        outcome = this.#lease(found, { owner: this.#owner, endpoints, watcher, byClient })
      } catch (thrown) {
        reportFault(thrown, 'request')
        outcome = internalFailure()
      }
      done(outcome)
    })
  }

  #lease(addresses: readonly string[], choice: CandidateChoice): LeasedAddress | UpstreamError {
    if (this.#isNamed && addresses.some((address) => parseMeshAddress(address).isHbone)) {
      const reason = 'the backend is in the mesh, which carries no datagrams'
      return new UpstreamError('address_refused', reason, true)
    }
    const { endpoint } = chooseCandidate(this.#candidates(addresses, 'HTTP1'), choice)
    if (choice.watcher.leadsBack?.(endpoint.name) === true) {
      return new UpstreamError('loop_detected', 'loop detected', true)
    }
    const { host, port } = parseHostPort(endpoint.name)
    let known = addresses
    const isCurrent = (): boolean => {
      const now = this.#fixed ?? this.#options.resolver.get(this.#host)
      if (now === known) return true
      // A Service without addresses has lost this one; a name that is looked up again may still have it.
      if (now === null) return !this.#isNamed
      if (!now.some((address) => this.#endpointName(address) === endpoint.name)) return false
      known = now
      return true
    }
    return { name: endpoint.name, host, port, lease: choice.endpoints.lease(choice.owner, endpoint), isCurrent }
  }

  /** Returns whether the address is one of those that the backend has now, as far as that is known. */
  hasEndpoint(name: string): boolean {
    const addresses = this.#fixed ?? this.#options.resolver.get(this.#host) ?? []
    return addresses.some((address) => this.#endpointName(address) === name)
  }

  /** Resolves the addresses when they are not known, and passes on the addresses that may be dialed. */
  #judge(
    known: readonly string[] | null,
    done: (error: UpstreamError | null, addresses: readonly string[]) => void,
  ): void {
    if (known !== null) return this.#guarded(known, done)
    this.#options.resolver.resolve(this.#host, (error, addresses) => {
      if (error instanceof UpstreamError) done(error, [])
      else if (error !== null) done(new UpstreamError('dns_failed', `${this.#host}: ${error.message}`, true), [])
      else this.#guarded(addresses, done)
    })
  }

  /**
   * A name with one forbidden address is refused as a whole: the outcome must not depend on which address is dialed.
   */
  #guarded(
    addresses: readonly string[],
    done: (error: UpstreamError | null, addresses: readonly string[]) => void,
  ): void {
    const guard = this.#options.guard
    if (guard !== null) {
      for (const address of addresses) {
        const reason = guard(address, this.#port)
        if (reason !== null) return done(new UpstreamError('address_refused', reason, true), [])
      }
    }
    done(null, addresses)
  }

  /** The resolver returns the same array until the next DNS answer, so the array's identity is the cache key. */
  #candidates(addresses: readonly string[], version: HttpVersion): readonly Candidate[] {
    const last = this.#lastCandidates[version]
    if (last !== undefined && last.addresses === addresses) return last.candidates
    const candidates = addresses.map((address) => this.#candidate(address, version))
    this.#lastCandidates[version] = { addresses, candidates }
    return candidates
  }

  #candidate(address: string, version: HttpVersion): Candidate {
    const candidates = this.#candidatesByAddress[version]
    const known = candidates.get(address)
    if (known !== undefined) return known
    // The addresses of a name change over time; the map must not grow with them.
    if (candidates.size >= MAX_ADDRESSES) candidates.clear()
    const name = this.#endpointName(address)
    const tls = this.#clientTls(version)
    const { connectTimeoutMs, keepalive, poolIdleTimeoutMs, poolMaxIdle } = this.#options.settings
    const tunnel = this.#tunnelTo(address)
    const key = JSON.stringify([name, version, tls?.key, connectTimeoutMs, keepalive, tunnel?.key])
    const pool = this.#options.pools.get(key, () => ({
      address: this.#dialAddress(address),
      tunnel,
      tls: tls === null ? null : tls.connectOptions,
      connectTimeoutMs,
      keepalive,
      version,
      idleTimeoutMs: poolIdleTimeoutMs,
      maxIdle: poolMaxIdle,
    }))
    const endpoint = this.#options.endpoints.get(this.#owner, name)
    const candidate = { endpoint, pool, plain: this.#options.endpoints.plain(endpoint) }
    candidates.set(address, candidate)
    return candidate
  }

  /** A tunnel that the config asks for takes precedence over the mesh. */
  #tunnelTo(address: string): Tunnel | null {
    const { settings, hbone } = this.#options
    if (settings.tunnel !== null || !this.#isNamed) return settings.tunnel
    const { isHbone, identity } = parseMeshAddress(address)
    if (!isHbone) return null
    // Bytes that the controller wants encrypted must not be sent without encryption.
    if (hbone === undefined) throw new Error('there is no HBONE for an address of the mesh')
    return hbone.tunnel({ identity })
  }

  #clientTls(version: HttpVersion): ClientTls | null {
    const config = this.#options.settings.tls
    if (config === null) return null
    const known = this.#tls[version]
    if (known !== undefined) return known
    const made = createClientTls(config, this.#host, version === 'HTTP1' ? ['http/1.1'] : ['h2', 'http/1.1'])
    // The config loader has already validated these settings.
    if ('problem' in made) throw new Error(made.problem)
    return (this.#tls[version] = made.tls)
  }

  #dialAddress(address: string): DialOptions['address'] {
    if (this.#isNamed) return parseHostPort(parseMeshAddress(address).address)
    return this.#label === '' ? { host: address, port: this.#port } : { path: address }
  }

  #endpointName(address: string): string {
    if (this.#isNamed) return parseMeshAddress(address).address
    return this.#label === '' ? formatHostPort(address, this.#port) : this.#label
  }
}

const MAX_ADDRESSES = 1024
