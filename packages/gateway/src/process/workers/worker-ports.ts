import type { CompiledBind } from '../../compile/bind.ts'
import type { Deadlines } from '@portico/http'
import { BindServer } from '@portico/http/server'
import type { Logger } from '../../telemetry/log/logger.ts'
import { createConnectionMetrics } from '../../telemetry/metrics/connection-metrics.ts'
import type { Registry } from '../../telemetry/metrics/metrics.ts'

interface Place {
  address: string
  port: number
}

interface Port extends Place {
  server: BindServer<string>
}

export interface WorkerPortsOptions {
  deadlines: Deadlines
  registry: Registry
  log: Logger
  reusePort: boolean
}

/** The ports of one worker, and those that a reload removed: they accept no connections, but open ones go on. */
export class WorkerPorts {
  readonly #options: WorkerPortsOptions
  readonly #portsByBind = new Map<string, Port>()
  readonly #retired = new Set<BindServer<string>>()
  #isStopping = false

  constructor(options: WorkerPortsOptions) {
    this.#options = options
  }

  /** Opens and closes ports to match the binds. Changes nothing when a port cannot be opened. */
  async serve(binds: ReadonlyMap<string, CompiledBind>, portByBind: Readonly<Record<string, number>>): Promise<void> {
    // Opening a port may fail, so that comes first; nothing after it does.
    const opened = await this.#open(binds, portByBind)
    for (const [key, { server }] of this.#portsByBind) {
      const bind = binds.get(key)
      if (bind !== undefined && !opened.has(key)) server.update(bind.state, (listener) => bind.isGone(listener))
      else this.#retire(key, server)
    }
    for (const [key, port] of opened) this.#portsByBind.set(key, port)
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

  /** Resolves when the last connection is over. */
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
    binds: ReadonlyMap<string, CompiledBind>,
    portByBind: Readonly<Record<string, number>>,
  ): Promise<Map<string, Port>> {
    const opened = new Map<string, Port>()
    try {
      for (const [key, bind] of binds) {
        const place = placeOf(bind, portByBind[key])
        if (isAt(this.#portsByBind.get(key), place)) continue
        opened.set(key, { ...place, server: await this.#listen(bind, place) })
      }
    } catch (error) {
      for (const { server } of opened.values()) server.destroy()
      throw error
    }
    return opened
  }

  #servers(): BindServer<string>[] {
    return [...this.#portsByBind.values().map((port) => port.server), ...this.#retired]
  }

  #retire(key: string, server: BindServer<string>): void {
    this.#portsByBind.delete(key)
    void server.stopListening()
    server.drain()
    this.#retired.add(server)
    const check = setInterval(() => {
      if (server.connectionCount > 0) return
      clearInterval(check)
      this.#retired.delete(server)
    }, 1000)
    check.unref()
  }

  async #listen(bind: CompiledBind, { address, port }: Place): Promise<BindServer<string>> {
    const { deadlines, registry, log, reusePort } = this.#options
    const metrics = createConnectionMetrics(registry, bind.labels)
    const warnFull = occasionally((refused) =>
      log.warn('connections refused, the port has as many as frontend.tcp.maxConnections allows', { port, refused }),
    )
    const warnCertificate = occasionally((refused, last: { source: string; error: string } | undefined) =>
      log.warn('client certificate refused', { port, ...last, refused }),
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
    if (this.#isStopping) void server.stopListening()
    return server
  }
}

function placeOf({ address }: CompiledBind, port: number | undefined): Place {
  if (port === undefined) throw new Error('found no port for a bind')
  return { address, port }
}

function isAt(port: Port | undefined, place: Place): boolean {
  return port !== undefined && port.address === place.address && port.port === place.port
}

/** Tells of the first time at once, and then at most every ten seconds, with how many times it was since. */
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
