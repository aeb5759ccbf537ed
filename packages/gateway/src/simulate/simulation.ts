import { compile, type CompiledConfig } from '../compile/index.ts'
import type { CompiledBind } from '../compile/bind.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { type ConnectionInfo, type Exchange, type HeaderBlock as Headers, HeaderBlock, sourceOf } from '@portico/http'
import { UpstreamError, type UpstreamRequest } from '@portico/http/client'
import { loadHttp2, memorySockets, type ReceivedResponse, sendOver } from '@portico/http/memory'
import { BindServer } from '@portico/http/server'
import type { Bind, Ir } from '../ir/resources.ts'
import type { Outcome, SimulatedRequest, SimulatedResponse } from './outcome.ts'
import type { RecordStore } from '../telemetry/recorder/record-store.ts'
import { EVERY_HEADER, type MissingHeaders, TrackedHeaders } from './tracked-headers.ts'
import { DetailRecorder } from './detail-recorder.ts'
import { createSimulationServices, type Observations } from './simulation-services.ts'
import type { SimulatedUpstreams } from './upstreams.ts'
import { VirtualTime } from './virtual-time.ts'
import { linesOf, type World } from './world.ts'

interface SimulationOptions {
  /** Whether outcomes have trace events and a record with all details, which costs more than the request itself. */
  hasDetails: boolean
  /** Addresses of Services, by the key of their backends. */
  endpoints?: Readonly<Record<string, readonly string[]>>
  /** The memory for records, which simulations that run one after the other may share. */
  records?: RecordStore
}

/** A gateway without sockets: a config that was compiled as for a worker, in a world. State stays between requests. */
export class Simulation {
  readonly time: VirtualTime
  /** Restarts the random number generator from a seed. */
  readonly reseed: (seed: number) => void
  readonly #ir: Ir
  readonly #config: CompiledConfig
  readonly #upstreams: SimulatedUpstreams
  readonly #recorder: DetailRecorder
  readonly #observed: Observations
  readonly #servers = new Map<string, BindServer<string>>()
  /** Copies of requests may be sent after the response. */
  readonly #hasMirrors: boolean
  #missing: MissingHeaders | null = null
  #missingReads: string[] = []

  private constructor(ir: Ir, world: World, { hasDetails, endpoints, records }: SimulationOptions) {
    this.#ir = ir
    this.#hasMirrors = ir.policies.some(({ traffic }) => traffic?.requestMirror !== undefined)
    this.time = new VirtualTime(world.clock)
    this.#observed = { access: null, request: null, events: [], isTraced: hasDetails }
    this.#recorder = new DetailRecorder(this.time.now, hasDetails, records)
    const { services, upstreams, addresses, reseed } = createSimulationServices({
      ir,
      world,
      time: this.time,
      observed: this.#observed,
      recorder: this.#recorder,
    })
    this.#upstreams = upstreams
    this.reseed = reseed
    if (endpoints !== undefined) addresses.take({ put: Object.entries(endpoints), drop: [] })
    this.#config = compile(ir, services, null)
    this.#recorder.use(this.#config.recorder)
  }

  /** Compiles the config and loads what it needs. */
  static async start(ir: Ir, world: World, options: SimulationOptions): Promise<Simulation> {
    await loadFeatures(ir)
    // A connection must not wait for its code, which would take real time.
    await loadHttp2()
    return new Simulation(ir, world, options)
  }

  /** The endpoint of the call to a backend in progress, `host:port`; null before the request has one. */
  get endpoint(): string | null {
    return this.#observed.request?.endpoint ?? null
  }

  /**
   * Sends one request. Requests must be sent one after the other. The outcome names the headers of `missing` that were
   * read before the response.
   */
  async send(request: SimulatedRequest, missing: MissingHeaders | null = null): Promise<Outcome> {
    this.#upstreams.forget()
    this.#missing = missing
    this.#missingReads = []
    this.#observed.access = null
    this.#observed.events = []
    this.#observed.request = null
    const result = await this.#exchange(request)
    // The record of a request is complete a moment after its response, and a mirrored request may still be sent.
    const isSettled = (): boolean => this.#observed.access !== null && this.#upstreams.active === 0
    for (let turns = 0; !isSettled() && turns < TURNS_TO_RECORD; turns++) await nextTurn()
    // The record is written once the shadow policies of the request have ended; the response did not wait for them.
    const { shadows = null } = this.#observed.request ?? {}
    if (shadows !== null) await this.#waitFor(isSettled, () => {})
    if (this.#hasMirrors) for (let turns = 0; turns < TURNS_TO_MIRROR; turns++) await nextTurn()
    const isAnswered = !(result instanceof UpstreamError) && typeof result !== 'string'
    return {
      response: isAnswered ? responseOf(result) : null,
      closedBy: isAnswered ? null : typeof result === 'string' ? result : result.message,
      access: this.#observed.access,
      request: this.#observed.request,
      matched: matchOf(this.#observed.request),
      missingReads: this.#missingReads,
      record: this.#recorder.take(),
      events: this.#observed.events,
      upstreamRequests: this.#upstreams.requests,
      unknowns: this.#upstreams.unknowns,
    }
  }

  async #exchange(request: SimulatedRequest): Promise<ReceivedResponse | UpstreamError | string> {
    const entrance = this.#entranceOf(request)
    if (entrance === null) {
      this.#upstreams.unknown('listener', `${request.scheme} port ${request.port ?? '(any)'}`)
      return `no listener for ${request.scheme} on port ${request.port ?? '(any)'}`
    }
    const admitted = entrance.server.admitStream(connectionOf(request, entrance.port))
    if (typeof admitted === 'string') return `connection refused: ${admitted}`
    const [near, far] = memorySockets()
    admitted(far)
    let isOver = false
    const sent = sendOver(near, request.version, outgoingOf(request), this.time.deadlines).finally(() => {
      isOver = true
    })
    await this.#waitFor(
      () => isOver,
      () => near.resetAndDestroy(),
    )
    return sent
  }

  /**
   * Waits until the request is over. The virtual clock moves only when nothing else can happen: at once while a response
   * of the world is late, and after a pause in which work outside of this thread, such as the check of a signature, ends.
   */
  async #waitFor(isOver: () => boolean, giveUp: () => void): Promise<void> {
    const { deadlines, now } = this.time
    const horizon = now() + HORIZON_MS
    for (let turn = 0; !isOver(); turn++) {
      await nextTurn()
      if (isOver()) return
      const isDue = this.#upstreams.waiting > 0 ? turn >= QUIET_TURNS : turn >= IDLE_TURNS
      if (turn > SPIN_TURNS && this.#upstreams.waiting === 0) await pause()
      if (!isDue) continue
      turn = 0
      if (deadlines.next > horizon) return giveUp()
      this.time.moveTo(deadlines.next)
    }
  }

  #entranceOf({ port, scheme, authority, sni }: SimulatedRequest): { server: BindServer<string>; port: number } | null {
    const isTls = scheme === 'https'
    for (const bind of this.#ir.binds) {
      if (port !== null && bind.port !== port) continue
      const compiled = this.#config.binds.get(bind.key)
      if (compiled?.transport !== 'tcp' || (compiled.state.kind === 'tls') !== isTls) continue
      if (compiled.state.kind === 'tcp') continue
      return { server: this.#serverOf(bind, compiled, isTls ? (sni ?? hostOf(authority)) : ''), port: bind.port }
    }
    return null
  }

  /** Replaces the headers of a request by a header block that reports reads of headers missing in the record. */
  #track(exchange: Exchange): void {
    const missing = this.#missing
    if (missing === null || (!missing.others && missing.names.size === 0)) return
    const reads = this.#missingReads
    const writable: WritableExchange = exchange
    writable.headers = new TrackedHeaders(exchange.headers, missing, (name) => {
      // Reads after the decision do not count: logs, metrics and records read headers too.
      const isDecided = this.#upstreams.requests.length > 0 || this.#observed.access !== null
      if (!isDecided && (name !== EVERY_HEADER || this.endpoint === null)) reads.push(name)
    })
  }

  #serverOf(bind: Bind, { state }: CompiledBind, sni: string): BindServer<string> {
    const listener = state.kind === 'tls' ? (state.chooseTls(helloOf(sni))?.listener ?? null) : null
    const key = `${bind.key} ${listener ?? ''}`
    let server = this.#servers.get(key)
    if (server === undefined) {
      // The handshake is over: its certificate is outside of a simulation.
      const plain = { ...state, kind: 'http' as const, proxyProtocol: null }
      const onExchange: typeof state.onExchange = (exchange) => {
        this.#track(exchange)
        state.onExchange(exchange, listener)
      }
      server = new BindServer({ ...plain, onExchange }, this.time.deadlines)
      this.#servers.set(key, server)
    }
    return server
  }
}

interface WritableExchange {
  headers: Headers
}

function matchOf(request: Observations['request']): Outcome['matched'] {
  const match = request?.match ?? null
  return match === null ? null : { route: match.routeKey, index: match.matchIndex }
}

function helloOf(sni: string): Parameters<CompiledBind['state']['chooseTls']>[0] {
  return { sni, random: '' } as Parameters<CompiledBind['state']['chooseTls']>[0]
}

function outgoingOf({ method, target, authority, headers, body, trailers }: SimulatedRequest): UpstreamRequest {
  const isUpgrade = headers.find(([name]) => name.toLowerCase() === 'upgrade')?.[1] ?? ''
  const sent = headers.filter(([name]) => name.toLowerCase() !== 'upgrade')
  const teTrailers = headers.some(([name, value]) => name.toLowerCase() === 'te' && value === 'trailers')
  return {
    ...{ method, target, authority, teTrailers, upgrade: isUpgrade.toLowerCase() },
    headers: HeaderBlock.of(sent.filter(([name]) => name.toLowerCase() !== 'te')),
    body: sourceOf(body, trailers === null ? null : HeaderBlock.of(trailers)),
  }
}

function responseOf({ status, headers, body, trailers, brokenBy }: ReceivedResponse): SimulatedResponse {
  return { status, headers: linesOf(headers), body, trailers: lines(trailers), isBroken: brokenBy !== null }
}

function lines(headers: Headers | null): [name: string, value: string][] | null {
  return headers === null ? null : linesOf(headers)
}

function connectionOf({ client, server, scheme, authority, sni }: SimulatedRequest, port: number): ConnectionInfo {
  const { address } = client
  const info = {
    ...{ address, port: client.port, rawAddress: address, rawPort: client.port, scheme, handshake: '' },
    sni: scheme === 'https' ? (sni ?? hostOf(authority)) : '',
    source: (address.includes(':') ? `[${address}]` : address) + ':' + client.port,
    destination: () => server ?? { address: '127.0.0.1', port },
    principal: () => '',
  }
  return info
}

function hostOf(authority: string): string {
  return authority.replace(/:\d+$/, '').toLowerCase()
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}

/** Turns of the event loop without progress before the clock moves to a late response. */
const QUIET_TURNS = 8
const SPIN_TURNS = 50
/** Turns, most of them of a millisecond, before the clock moves for another reason. */
const IDLE_TURNS = 120
const TURNS_TO_RECORD = 50
const TURNS_TO_MIRROR = 20
/** The most virtual milliseconds that one request takes. */
const HORIZON_MS = 3_600_000
