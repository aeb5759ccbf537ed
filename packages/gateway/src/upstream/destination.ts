import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { AddressGuard } from './address-guard.ts'
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from './contract.ts'
import type { DialOptions } from './dial.ts'
import type { Resolver } from './dns.ts'
import type { Pool } from './pool.ts'
import type { Pools } from './pools.ts'
import type { ConnectionSettings } from './settings.ts'
import { type ClientTls, createClientTls } from './tls.ts'
import type { RawConnection } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'

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
  readonly #pools: Record<HttpVersion, Map<string, Pool>> = { HTTP1: new Map(), HTTP2: new Map() }
  readonly #tls: Partial<Record<HttpVersion, ClientTls>> = {}
  #next = 0

  constructor(options: DestinationOptions) {
    this.#options = options
    const address = options.address
    this.#host = 'path' in address ? '' : address.host
    this.#port = 'path' in address ? 0 : address.port
    this.#label = 'path' in address ? `unix:${address.path}` : ''
    this.#fixed = 'path' in address ? [address.path] : isIP(address.host) === 0 ? null : [address.host]
  }

  send(
    request: UpstreamRequest,
    version: HttpVersion,
    watcher: EndpointWatcher,
    handler: UpstreamHandler,
  ): UpstreamCall {
    const addresses = this.#fixed ?? this.#options.resolver.get(this.#host)
    if (addresses !== null && addresses.length === 1 && this.#options.guard === null) {
      watcher.connectingTo(this.#endpoint(addresses[0]!))
      return this.#pool(addresses[0]!, version).request(request, handler)
    }
    const call = new AddressedCall(handler, (address, next) => {
      watcher.connectingTo(this.#endpoint(address))
      return this.#pool(address, version).request(request, next)
    })
    this.#addresses((error, found) => call.start(error, found, this.#next++))
    return call
  }

  /** A connection of its own, for tunnels. */
  connect(watcher: EndpointWatcher, done: (error: UpstreamError | null, socket: Socket | null) => void): UpstreamCall {
    let cancelled = false
    let cancelDial = (): void => {}
    this.#addresses((error, found) => {
      if (cancelled) return
      if (error !== null) return done(error, null)
      const address = found[this.#next++ % found.length]!
      watcher.connectingTo(this.#endpoint(address))
      cancelDial = this.#pool(address, 'HTTP1').connect(done)
    })
    return {
      cancel: () => {
        cancelled = true
        cancelDial()
      },
    }
  }

  #addresses(done: (error: UpstreamError | null, addresses: readonly string[]) => void): void {
    const known = this.#fixed ?? this.#options.resolver.get(this.#host)
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

  #pool(address: string, version: HttpVersion): Pool {
    const pools = this.#pools[version]
    let pool = pools.get(address)
    if (pool === undefined) {
      // Addresses of a name change over time; the map must not grow with them.
      if (pools.size >= MAX_ADDRESSES) pools.clear()
      const tls = this.#clientTls(version)
      const settings = this.#options.settings
      const key = JSON.stringify([
        this.#endpoint(address),
        version,
        tls?.key,
        settings.connectTimeoutMs,
        settings.keepalive,
      ])
      pool = this.#options.pools.get(key, () => ({
        address: this.#dialAddress(address),
        tls: tls === null ? null : tls.connectOptions,
        connectTimeoutMs: settings.connectTimeoutMs,
        keepalive: settings.keepalive,
        version,
        idleTimeoutMs: settings.poolIdleTimeoutMs,
        maxIdle: settings.poolMaxIdle,
      }))
      pools.set(address, pool)
    }
    return pool
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

/** Tries the next address of a name while none could be connected. */
class AddressedCall implements UpstreamCall, UpstreamHandler {
  readonly #handler: UpstreamHandler
  readonly #request: (address: string, handler: UpstreamHandler) => UpstreamCall
  #addresses: readonly string[] = []
  #index = 0
  #left = 0
  #call: UpstreamCall | null = null
  #cancelled = false

  constructor(handler: UpstreamHandler, request: (address: string, handler: UpstreamHandler) => UpstreamCall) {
    this.#handler = handler
    this.#request = request
  }

  start(error: UpstreamError | null, addresses: readonly string[], first: number): void {
    if (this.#cancelled) return
    if (error !== null) return this.#handler.failed(error)
    this.#addresses = addresses
    this.#index = first
    this.#left = Math.min(addresses.length, MAX_TRIES)
    this.#try()
  }

  #try(): void {
    this.#left--
    this.#call = this.#request(this.#addresses[this.#index++ % this.#addresses.length]!, this)
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    this.#handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    if (error.unsent && this.#left > 0) this.#try()
    else this.#handler.failed(error)
  }
}

const MAX_TRIES = 3
const MAX_ADDRESSES = 64
