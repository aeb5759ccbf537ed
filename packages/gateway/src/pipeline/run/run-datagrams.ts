import { networkInterfaces } from 'node:os'
import type { ConnectionInfo } from '@portico/http'
import type { DatagramClient, DatagramSession, SessionEnd } from '@portico/http/server'
import { type LeasedAddress, UpstreamError } from '@portico/http/client'
import type { DatagramSocket } from '@portico/http/udp'
import type { CompiledListener, CompiledRoute } from '../compiled/compiled.ts'
import { upstreamFailure } from '../context/failure.ts'
import type { FailedEndpoints } from './failed-endpoints.ts'
import { RawRun, type RecordServices } from './raw-run.ts'

export interface DatagramServices extends RecordServices {
  random: () => number
  failures: FailedEndpoints
  openSocket: (...args: ConstructorParameters<typeof DatagramSocket>) => DatagramSocket
}

/** The session of one source on a UDP listener: all its datagrams go to one endpoint, and come from there. */
export class DatagramRun implements DatagramSession {
  readonly #run: RawRun
  readonly #client: DatagramClient
  readonly #services: DatagramServices
  #target: LeasedAddress | null = null
  #socket: DatagramSocket | null = null
  /** Datagrams that came before the socket was open; null once it is. */
  #queue: Buffer[] | null = []
  #hasReply = false

  constructor(listener: CompiledListener, client: DatagramClient, services: DatagramServices) {
    this.#run = new RawRun(client.info, listener, services)
    this.#client = client
    this.#services = services
  }

  get openRoute(): string | null {
    return this.#run.openRoute
  }

  start(): void {
    const run = this.#run
    run.hasTried = (endpoint) => this.#services.failures.has(endpoint)
    run.leadsBack = (endpoint) => leadsTo(endpoint, run.connection)
    this.#choose(new Set())
  }

  /** Chooses a backend and an endpoint; `avoided` are the backends that have only failed endpoints. */
  #choose(avoided: Set<number>): void {
    const run = this.#run
    const backend = run.choose((route) => this.#pick(route, avoided))
    if ('reason' in backend) return this.#fail(backend.reason, backend.error)
    if (backend.lease === undefined) return this.#fail('NoHealthyBackend', 'the backend takes no datagrams')
    backend.lease(run, (outcome) => {
      if (outcome instanceof UpstreamError) {
        return this.#fail(upstreamFailure(outcome).reason, outcome.message)
      }
      if (run.isOver) return outcome.lease.ended()
      const { backendIndex, route } = run
      if (
        this.#services.failures.has(outcome.name) &&
        !avoided.has(backendIndex) &&
        (route?.backends.length ?? 0) > 1
      ) {
        outcome.lease.ended()
        return this.#choose(avoided.add(backendIndex))
      }
      this.#target = outcome
      this.#open(outcome)
    })
  }

  /** Picks by weight. A backend to be avoided is picked only when others are not. */
  #pick({ pick }: CompiledRoute, avoided: ReadonlySet<number>): number {
    if (pick === null) return -1
    let index = pick(this.#services.random())
    for (let tries = 0; tries < PICKS && avoided.has(index); tries++) index = pick(this.#services.random())
    return index
  }

  #open({ host, port }: LeasedAddress): void {
    this.#socket = this.#services.openSocket(
      { host, port },
      {
        opened: () => {
          const queue = this.#queue ?? []
          this.#queue = null
          for (const datagram of queue) this.#forward(datagram)
        },
        received: (datagram) => this.#replied(datagram),
        failed: (error) => this.#refused(error),
        dropped: (reason) => this.#client.dropped(reason),
      },
    )
  }

  received(datagram: Buffer): boolean {
    if (this.#queue !== null) {
      if (this.#queue.length < MOST_QUEUED) this.#queue.push(datagram)
      else this.#client.dropped('queue_full')
      return true
    }
    if (this.#target?.isCurrent() === false) {
      this.#client.ended()
      this.end('removed')
      return false
    }
    this.#forward(datagram)
    return true
  }

  /** Returns whether the session may continue with the routes of a newer config. */
  isServedBy(listener: CompiledListener): boolean {
    const route = listener.rawRoutes.best('')
    const { route: own, backendIndex, endpoint } = this.#run
    if (route === own) return true
    const key = own?.backends[backendIndex]?.key
    if (route === null || route.pick === null || key === undefined || endpoint === null) return false
    if (route.admits?.({ connection: this.#run.connection, listener, route }) === false) return false
    const index = route.backends.findIndex((backend) => backend.key === key)
    return index >= 0 && route.pick(0, index) === index && route.backends[index]?.hasEndpoint?.(endpoint) === true
  }

  end(cause: SessionEnd): void {
    this.#close()
    this.#target?.lease.ended()
    if (cause === 'denied') this.#run.end('NetworkAuthorization', 'the source is not admitted any more')
    else this.#run.end('Upstream', cause === 'shutdown' ? 'gateway is shutting down' : null)
  }

  #forward(datagram: Buffer): void {
    this.#run.requestBytes += datagram.length
    this.#socket?.send(datagram)
  }

  #replied(datagram: Buffer): void {
    if (!this.#hasReply) {
      this.#hasReply = true
      this.#target?.lease.connected()
      if (this.#target !== null) this.#services.failures.delete(this.#target.name)
    }
    this.#run.responseBytes += datagram.length
    this.#client.send(datagram)
  }

  /** The endpoint refused a datagram: the session ends, and the next datagram of the source opens another. */
  #refused(error: UpstreamError): void {
    if (this.#target !== null) this.#services.failures.add(this.#target.name)
    this.#target?.lease.failed(error)
    this.#dropQueue()
    this.#close()
    this.#client.ended()
    this.#run.end(upstreamFailure(error).reason, error.message)
  }

  /** The session could not be opened. */
  #fail(reason: string, error: string): void {
    this.#dropQueue()
    this.#client.failed()
    this.#run.end(reason, error)
  }

  #dropQueue(): void {
    for (const _datagram of this.#queue ?? []) this.#client.dropped('no_backend')
    this.#queue = null
  }

  #close(): void {
    this.#socket?.close()
    this.#socket = null
  }
}

/** Whether an endpoint is the port of the listener, on any address of this machine. */
function leadsTo(endpoint: string, listener: ConnectionInfo): boolean {
  const colon = endpoint.lastIndexOf(':')
  if (Number(endpoint.slice(colon + 1)) !== listener.destination().port) return false
  const host = endpoint.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  const isOwn = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === host))
  return isOwn || host.startsWith('127.') || host === '0.0.0.0' || host === '::'
}

/** While the socket is being opened, further datagrams of the source are dropped. */
const MOST_QUEUED = 16
/** How often a pick by weight is repeated to avoid a backend; a backend of little weight may be missed. */
const PICKS = 16
