import type { ServerHttp2Stream } from 'node:http2'
import {
  type Ack,
  differingParts,
  endpointPart,
  type EndpointsMessage,
  type Generation,
  type Have,
  type Health,
  lineOf,
  type Nack,
  PING_EVERY_MS,
  SILENCE_LIMIT_MS,
} from '@portico/gateway/stream'
import type { QuarantinedResource } from '@portico/gateway/checks'
import type { PublishCounts } from './counts.ts'
import type { Config, GatewayFeed } from './gateway-feed.ts'
import { LineWire } from '../line-wire.ts'

interface DataPlaneOptions {
  instance: string
  have: Have | null
  /** Hashes of the endpoint addresses of the data plane; null when it does not report them. */
  endpoints: readonly string[] | null
  feed: GatewayFeed
  stream: ServerHttp2Stream
  counts: PublishCounts
}

/** One connected data plane: it gets the newest config whenever it can take more. */
export class DataPlane {
  readonly instance: string
  readonly #feed: GatewayFeed
  readonly #wire: LineWire
  readonly #counts: PublishCounts
  /** The state of the data plane when it connected; only the first config is relative to it. */
  #have: Have | null
  #sent: Config | null = null
  /** The config that was sent and neither acknowledged nor rejected. */
  #awaited: { generation: Generation; ticks: number } | null = null
  #acknowledged: Generation | null = null
  #problems: readonly string[] = []
  #isServing = true
  #quarantined: readonly QuarantinedResource[] = []
  /** Hashes of the addresses that the data plane had when it connected. */
  #endpointHashes: readonly string[] | null
  #hasEndpoints = false
  #quietTicks = 0
  #toldAt = -Infinity
  #telling: NodeJS.Timeout | null = null
  /** Backends whose new addresses were not sent yet. */
  readonly #untold = new Set<string>()

  constructor({ instance, have, endpoints, feed, stream, counts }: DataPlaneOptions) {
    this.instance = instance
    this.#have = have
    this.#endpointHashes = endpoints
    this.#feed = feed
    this.#wire = new LineWire(stream, (isAll) => {
      if (isAll) this.flush()
      else this.heard()
    })
    this.#counts = counts
  }

  /** The config that the data plane acknowledged on this stream. */
  get acknowledged(): Generation | null {
    return this.#acknowledged
  }

  /** Why the data plane rejected the config it was sent. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Whether one of its workers listens, as reported on this stream. */
  get isServing(): boolean {
    return this.#isServing
  }

  /** Resources of its config that the data plane has quarantined. */
  get quarantined(): readonly QuarantinedResource[] {
    return this.#quarantined
  }

  /**
   * Sends the newest state if the stream is free; changes in the meantime are sent together later. A config also waits
   * for the answer to the config before.
   */
  flush(): void {
    const { config } = this.#feed
    if (config === null || this.#wire.isBusy) return
    const isNew = this.#awaited === null && this.#sent?.generation !== config.generation
    // A new config may need the addresses at once.
    if (isNew || this.#mayTellAddresses()) this.#sendEndpoints(config)
    if (!isNew) return
    this.#send('config', this.#lineFor(config))
    this.#sent = config
    this.#have = null
    this.#awaited = { generation: config.generation, ticks: 0 }
  }

  /** Marks backends whose addresses changed. */
  touch(keys: readonly string[]): void {
    if (this.#hasEndpoints) for (const key of keys) this.#untold.add(key)
  }

  take(answer: Ack | Nack): void {
    if (answer.generation === this.#awaited?.generation) this.#awaited = null
    if (answer.type === 'ack') {
      this.#counts.acks++
      this.#acknowledged = answer.generation
      this.#problems = []
      this.#quarantined = answer.quarantined?.slice(0, MOST_PROBLEMS) ?? []
    } else {
      this.#counts.nacks++
      this.#problems = answer.problems.slice(0, MOST_PROBLEMS).map((problem) => problem.slice(0, LONGEST_PROBLEM))
    }
  }

  takeHealth({ serving }: Health): void {
    this.#isServing = serving
  }

  /** Notes a sign of life. */
  heard(): void {
    this.#quietTicks = 0
  }

  /** Returns false when the data plane has been silent for too long. */
  ping(): boolean {
    // Data under way is also a sign of life, so a busy stream needs no ping.
    if (!this.#wire.isBusy) this.#send('ping', Buffer.from(lineOf({ type: 'ping' })))
    // A data plane that never answers still gets newer configs.
    if (this.#awaited !== null && ++this.#awaited.ticks > PATIENCE_TICKS) this.#awaited = null
    return ++this.#quietTicks <= MOST_QUIET_TICKS
  }

  /**
   * The first address change is sent at once, and later ones are batched, because each costs every worker of the data
   * plane.
   */
  #mayTellAddresses(): boolean {
    if (this.#untold.size === 0) return !this.#hasEndpoints
    const rest = this.#toldAt + ADDRESSES_GAP_MS - performance.now()
    if (rest <= 0) return true
    if (this.#telling === null) {
      this.#telling = setTimeout(() => {
        this.#telling = null
        this.flush()
      }, rest).unref()
    }
    return false
  }

  /** Sends a last message and ends the stream; a busy stream is cut without the message. */
  goodbye(reason: string): void {
    if (this.#wire.isBusy) return this.cut()
    this.#send('goodbye', Buffer.from(lineOf({ type: 'goodbye', reason })))
    this.#wire.end()
  }

  cut(): void {
    this.#wire.cut()
  }

  #lineFor(config: Config): Buffer {
    if (this.#have !== null) return this.#feed.lineSinceHashes(this.#have, config)
    return this.#feed.lineSince(this.#sent, config)
  }

  #sendEndpoints(config: Config): void {
    const { endpoints } = this.#feed
    if (!this.#hasEndpoints) {
      this.#hasEndpoints = true
      this.#sendAddresses(this.#firstEndpoints())
      this.#endpointHashes = null
      return
    }
    if (this.#untold.size === 0) return
    // The data plane may still run the previous config, which needs addresses that the newest does not.
    const mayDrop = this.#acknowledged === config.generation
    const put: [string, readonly string[]][] = []
    const drop: string[] = []
    for (const key of this.#untold) {
      const addresses = endpoints.get(key)
      if (addresses !== undefined) put.push([key, addresses])
      else if (mayDrop) drop.push(key)
      else continue
      this.#untold.delete(key)
    }
    if (put.length > 0 || drop.length > 0) this.#sendAddresses({ whole: false, put, drop })
  }

  /** The addresses that differ from those the data plane reported. */
  #firstEndpoints(): Omit<EndpointsMessage, 'type'> {
    const { endpoints, endpointHashes } = this.#feed
    if (this.#endpointHashes === null) return { whole: true, put: [...endpoints], drop: [] }
    const parts = differingParts(endpointHashes, this.#endpointHashes)
    const meant = new Set(parts)
    return { whole: true, parts, put: [...endpoints].filter(([key]) => meant.has(endpointPart(key))), drop: [] }
  }

  #sendAddresses(change: Omit<EndpointsMessage, 'type'>): void {
    this.#toldAt = performance.now()
    this.#send('endpoints', Buffer.from(lineOf({ type: 'endpoints', ...change })))
  }

  #send(type: keyof PublishCounts['messages'], line: Buffer): void {
    this.#counts.messages[type]++
    this.#counts.bytes += line.length
    this.#wire.send(line)
  }
}

const ADDRESSES_GAP_MS = 50
const PATIENCE_TICKS = 1
const MOST_QUIET_TICKS = SILENCE_LIMIT_MS / PING_EVERY_MS
const MOST_PROBLEMS = 100
const LONGEST_PROBLEM = 2_000
