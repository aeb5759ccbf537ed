import type { CompiledBind } from '../../compile/bind.ts'
import type { CompiledUdpBind } from '../../compile/udp-bind.ts'
import type { Deadlines } from '@portico/http'
import { BindServer } from '@portico/http/server'
import type { StreamPort } from '../../pipeline/run/serve-tunnel.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { createConnectionMetrics } from '../../telemetry/metrics/connection-metrics.ts'
import { createDatagramMetrics } from '../../telemetry/metrics/datagram-metrics.ts'
import type { Registry } from '../../telemetry/metrics/metrics.ts'

interface BindAddress {
  address: string
  port: number
}

type AnyBind = CompiledBind | CompiledUdpBind

/** The server of one port, for TCP or UDP. */
interface PortServer {
  /** Stops accepting, and drains. */
  retire(): void
  stopListening(): Promise<void>
  drain(quietMs?: number): void
  destroy(): void
  countOpen(counts: Map<string, number>): void
  readonly connectionCount: number
}

interface Port extends BindAddress {
  server: PortServer
  /** Serves tunnels of mesh peers; null for UDP. */
  streams: StreamPort | null
  update: (bind: AnyBind) => void
}

type OpenedPort = Omit<Port, keyof BindAddress>

interface WorkerPortsOptions {
  deadlines: Deadlines
  registry: Registry
  log: Logger
  reusePort: boolean
}

/** The ports of one worker, and those that a reload removed: they accept no connections, but open ones go on. */
export class WorkerPorts {
  readonly #options: WorkerPortsOptions
  readonly #portsByBind = new Map<string, Port>()
  readonly #retired = new Set<PortServer>()
  #isStopping = false

  constructor(options: WorkerPortsOptions) {
    this.#options = options
  }

  /** Opens and closes ports to match the binds. Changes nothing when a port cannot be opened. */
  async serve(binds: ReadonlyMap<string, AnyBind>, portByBind: Readonly<Record<string, number>>): Promise<void> {
    // Opening a port may fail, so ports are opened first; the following steps cannot fail.
    const opened = await this.#open(binds, portByBind)
    for (const [key, { server, update }] of this.#portsByBind) {
      const bind = binds.get(key)
      if (bind !== undefined && !opened.has(key)) update(bind)
      else this.#retire(key, server)
    }
    for (const [key, port] of opened) this.#portsByBind.set(key, port)
  }

  /** The TCP server of this port; null when the worker has none. */
  streamsOf(port: number): StreamPort | null {
    for (const each of this.#portsByBind.values()) if (each.port === port && each.streams !== null) return each.streams
    return null
  }

  /** Idle HTTP/1 connections are closed after `quietMs` without a request. */
  drain(quietMs: number): void {
    for (const server of this.#servers()) server.drain(quietMs)
  }

  destroy(): void {
    for (const server of this.#servers()) server.destroy()
  }

  /** Counts the open requests by route key. */
  countOpen(): Map<string, number> {
    const open = new Map<string, number>()
    for (const server of this.#servers()) server.countOpen(open)
    return open
  }

  /** Resolves when the last connection has closed. */
  async stopListening(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#servers().map((server) => server.stopListening()))
    await new Promise<void>((resolve) => {
      const check = setInterval(() => {
        if (this.#servers().some((server) => server.connectionCount > 0)) return
        clearInterval(check)
        resolve()
      }, 10)
    })
  }

  async #open(
    binds: ReadonlyMap<string, AnyBind>,
    portByBind: Readonly<Record<string, number>>,
  ): Promise<Map<string, Port>> {
    const opened = new Map<string, Port>()
    try {
      for (const [key, bind] of binds) {
        const place = addressOf(bind, portByBind[key])
        if (isAt(this.#portsByBind.get(key), place)) continue
        opened.set(key, { ...place, ...(await this.#listen(bind, place)) })
      }
    } catch (error) {
      for (const { server } of opened.values()) server.destroy()
      throw error
    }
    return opened
  }

  #servers(): PortServer[] {
    return [...this.#portsByBind.values().map((port) => port.server), ...this.#retired]
  }

  #retire(key: string, server: PortServer): void {
    this.#portsByBind.delete(key)
    server.retire()
    this.#retired.add(server)
    const check = setInterval(() => {
      if (server.connectionCount > 0) return
      clearInterval(check)
      this.#retired.delete(server)
    }, 1000)
    check.unref()
  }

  async #listen(bind: AnyBind, place: BindAddress): Promise<OpenedPort> {
    const port = bind.transport === 'udp' ? await this.#listenUdp(bind, place) : await this.#listenTcp(bind, place)
    if (this.#isStopping) void port.server.stopListening()
    return port
  }

  async #listenTcp(bind: CompiledBind, { address, port }: BindAddress): Promise<OpenedPort> {
    const { deadlines, registry, log, reusePort } = this.#options
    const metrics = createConnectionMetrics(registry, bind.labels)
    const warnFull = occasionally((refused) =>
      log.warn('connections refused: the port has reached frontend.tcp.maxConnections', { port, refused }),
    )
    const warnCertificate = occasionally((refused, last: { source: string; error: string } | undefined) =>
      log.warn('client certificate rejected', { port, ...last, refused }),
    )
    const server = new BindServer<string>(bind.state, deadlines, {
      opened: metrics.opened,
      closed: metrics.closed,
      handshake: (milliseconds) => metrics.handshake(milliseconds / 1000),
      refused: (info, status, code, error = '') => {
        log.debug('refused', { source: info.source, status, code, ...(error !== '' && { error }) })
        if (status === 0) metrics.refused(code)
        if (code === 'max_connections') warnFull()
        if (code === 'client_certificate') warnCertificate({ source: info.source, error })
      },
      reset: (info, code) => log.debug('refused', { source: info.source, status: 0, code }),
    })
    await server.listen({ port, host: address, reusePort })
    return {
      server,
      streams: server,
      update(next) {
        if (next.transport === 'tcp') server.update(next.state, (listener) => next.isGone(listener))
      },
    }
  }

  async #listenUdp(bind: CompiledUdpBind, { address, port }: BindAddress): Promise<OpenedPort> {
    const { deadlines, registry, log, reusePort } = this.#options
    const metrics = createDatagramMetrics(registry, bind.labels)
    const warnFull = occasionally((dropped, last: { source: string; code: string } | undefined) =>
      log.warn('datagrams dropped: the port has reached a limit of frontend.udp', { port, ...last, dropped }),
    )
    const server = bind.createServer(bind.state, deadlines, {
      ...metrics,
      refused: ({ source }, code) => {
        log.debug('refused', { source, code })
        if (code !== 'network_authorization') warnFull({ source, code })
      },
    })
    await server.listen({ port, host: address, reusePort })
    return {
      server,
      streams: null,
      update(next) {
        if (next.transport === 'udp') server.update(next.state)
      },
    }
  }
}

function addressOf({ address }: AnyBind, port: number | undefined): BindAddress {
  if (port === undefined) throw new Error('found no port for a bind')
  return { address, port }
}

function isAt(port: Port | undefined, place: BindAddress): boolean {
  return port !== undefined && port.address === place.address && port.port === place.port
}

/** Calls `tell` at the first time, then at most every ten seconds with the number of times since. */
function occasionally<T = undefined>(tell: (count: number, last?: T) => void): (last?: T) => void {
  let count = 0
  let nextAt = 0
  return (last) => {
    count++
    if (performance.now() < nextAt) return
    nextAt = performance.now() + 10_000
    tell(count, last)
    count = 0
  }
}
