import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { AddressGuard } from './address-guard.ts'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamRequest } from './contract.ts'
import type { DialOptions } from './dial.ts'
import { ForwardingHandler } from './forwarding-handler.ts'
import type { Resolver } from './dns.ts'
import type { Pool } from './pool.ts'
import type { Pools } from './pools.ts'
import type { ConnectionSettings } from './settings.ts'
import { type ClientTls, createClientTls } from './tls.ts'
import type { Source } from '../net/body.ts'

export type HttpVersion = 'HTTP1' | 'HTTP2'

/** Told each address that is tried. */
export interface EndpointWatcher {
  connectingTo(endpoint: string): void
}

export interface DestinationOptions {
  address: { host: string; port: number } | { path: string }
  settings: ConnectionSettings
  /** Judges every address before it is dialled; null where the config itself names the host. */
  guard: AddressGuard | null
  resolver: Resolver
  pools: Pools
}

/** One host and port (or socket file) with the ways to reach it: names are resolved, connections pooled. */
export class Destination {
  readonly #options: DestinationOptions
  readonly #host: string
  readonly #port: number
  readonly #label: string
  /** Addresses known without asking: literals and socket files. */
  readonly #fixed: readonly string[] | null
  readonly #ways: Record<HttpVersion, Map<string, Way>> = { HTTP1: new Map(), HTTP2: new Map() }
  readonly #tls: Partial<Record<HttpVersion, ClientTls>> = {}

  constructor(options: DestinationOptions) {
    this.#options = options
    const address = options.address
    this.#host = 'path' in address ? '' : address.host
    this.#port = 'path' in address ? 0 : address.port
    this.#label = 'path' in address ? `unix:${address.path}` : ''
    this.#fixed = 'path' in address ? [address.path] : isIP(address.host) === 0 ? null : [address.host]
    // Certificates that cannot work are found when the config is checked, not by the first request.
    if (options.settings.tls !== null) this.#clientTls('HTTP1')
  }

  send(
    request: UpstreamRequest,
    version: HttpVersion,
    watcher: EndpointWatcher,
    handler: UpstreamHandler,
  ): UpstreamCall {
    const addresses = this.#fixed ?? this.#options.resolver.get(this.#host)
    if (addresses !== null && addresses.length === 1 && this.#options.guard === null) {
      const way = this.#way(addresses[0]!, version)
      watcher.connectingTo(way.endpoint)
      return way.pool.request(request, handler)
    }
    const call = new AddressedCall(request, handler, (address, next) => {
      const way = this.#way(address, version)
      watcher.connectingTo(way.endpoint)
      return way.pool.request(request, next)
    })
    this.#judge(addresses, (error, found) => call.start(error, found))
    return call
  }

  /** A connection of its own, for tunnels. */
  connect(watcher: EndpointWatcher, done: (error: UpstreamError | null, socket: Socket | null) => void): UpstreamCall {
    let cancelled = false
    let cancelDial = (): void => {}
    this.#judge(this.#fixed ?? this.#options.resolver.get(this.#host), (error, found) => {
      if (cancelled) return
      if (error !== null) return done(error, null)
      const tryFrom = (index: number): void => {
        const way = this.#way(found[index]!, 'HTTP1')
        watcher.connectingTo(way.endpoint)
        cancelDial = way.pool.connect((failure, socket) => {
          if (cancelled) socket?.destroy()
          else if (failure === null || index + 1 >= Math.min(found.length, MAX_TRIES)) done(failure, socket)
          else tryFrom(index + 1)
        })
      }
      tryFrom(0)
    })
    return {
      cancel: () => {
        cancelled = true
        cancelDial()
      },
    }
  }

  /** Asks for the addresses where they are not known, and hands on those that may be dialled, the next in turn first. */
  #judge(
    known: readonly string[] | null,
    done: (error: UpstreamError | null, addresses: readonly string[]) => void,
  ): void {
    if (known !== null) return this.#guarded(known, done)
    this.#options.resolver.resolve(this.#host, (error, addresses) => {
      if (error !== null) done(new UpstreamError('dns_failed', `${this.#host}: ${error.message}`, true), [])
      else this.#guarded(addresses, done)
    })
  }

  /** A name with one forbidden address is refused whole: which one gets dialled must not be left to chance. */
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

  #way(address: string, version: HttpVersion): Way {
    const ways = this.#ways[version]
    const known = ways.get(address)
    if (known !== undefined) return known
    // Addresses of a name change over time; the map must not grow with them.
    if (ways.size >= MAX_ADDRESSES) ways.clear()
    const endpoint = this.#endpoint(address)
    const tls = this.#clientTls(version)
    const { connectTimeoutMs, keepalive, poolIdleTimeoutMs, poolMaxIdle } = this.#options.settings
    const key = JSON.stringify([endpoint, version, tls?.key, connectTimeoutMs, keepalive])
    const pool = this.#options.pools.get(key, () => ({
      address: this.#dialAddress(address),
      tls: tls === null ? null : tls.connectOptions,
      connectTimeoutMs,
      keepalive,
      version,
      idleTimeoutMs: poolIdleTimeoutMs,
      maxIdle: poolMaxIdle,
    }))
    const way = { endpoint, pool }
    ways.set(address, way)
    return way
  }

  #clientTls(version: HttpVersion): ClientTls | null {
    const config = this.#options.settings.tls
    if (config === null) return null
    const known = this.#tls[version]
    if (known !== undefined) return known
    const made = createClientTls(config, this.#host, version === 'HTTP1' ? ['http/1.1'] : ['h2', 'http/1.1'])
    // The same settings were checked when the config was loaded.
    if ('problem' in made) throw new Error(made.problem)
    return (this.#tls[version] = made.tls)
  }

  #dialAddress(address: string): DialOptions['address'] {
    return this.#label === '' ? { host: address, port: this.#port } : { path: address }
  }

  #endpoint(address: string): string {
    if (this.#label !== '') return this.#label
    return (address.includes(':') ? `[${address}]` : address) + ':' + this.#port
  }
}

/** An address, as logs name it, and its connections. */
interface Way {
  endpoint: string
  pool: Pool
}

/** Tries the next address of a name while none could be connected. */
class AddressedCall extends ForwardingHandler implements UpstreamCall {
  readonly #body: Source
  readonly #request: (address: string, handler: UpstreamHandler) => UpstreamCall
  #addresses: readonly string[] = []
  #index = 0
  #call: UpstreamCall | null = null
  #cancelled = false

  constructor(
    request: UpstreamRequest,
    handler: UpstreamHandler,
    send: (address: string, handler: UpstreamHandler) => UpstreamCall,
  ) {
    super(handler)
    this.#body = request.body
    this.#request = send
  }

  start(error: UpstreamError | null, addresses: readonly string[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.handler.failed(error)
    this.#addresses = addresses
    this.#try()
  }

  #try(): void {
    this.#call = this.#request(this.#addresses[this.#index++]!, this)
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    this.#call?.cancel(cause)
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    const isLast = this.#index >= Math.min(this.#addresses.length, MAX_TRIES)
    // A connection that was made may have taken some of the body, even if it says that it did not use it.
    if (!isLast && error.unsent && (this.#body.length === 0 || isConnectError(error))) this.#try()
    else this.handler.failed(error)
  }
}

function isConnectError(error: UpstreamError): boolean {
  return error.code === 'connect_failed' || error.code === 'connect_timeout' || error.code === 'tls_failed'
}

const MAX_TRIES = 3
const MAX_ADDRESSES = 64
