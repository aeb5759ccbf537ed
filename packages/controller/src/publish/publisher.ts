import type { ServerHttp2Stream } from 'node:http2'
import type { Ir } from '@portico/gateway/ir'
import { type DataPlaneMessage, type Hello, PING_EVERY_MS, StreamFault } from '@portico/gateway/stream'
import type { Reviewed } from '../kube/token-review.ts'
import type { KeyPair } from './certificate.ts'
import { PublishCounts } from './counts.ts'
import { DataPlane } from './data-plane.ts'
import { GatewayFeed } from './gateway-feed.ts'
import { RefusalLog } from './refusal-log.ts'
import { addressOf, type Caller, StreamServer, type StreamServerOptions, type Taken } from './stream-server.ts'

export interface GatewayState {
  connected: number
  /** A connected data plane has the newest config. */
  acknowledged: boolean
  /** Why a data plane does not have it. */
  problems: readonly string[]
}

type LogMethod = (message: string, fields?: Readonly<Record<string, unknown>>) => void

export interface PublisherOptions {
  /** Whose token it is; for the audience `portico`. */
  review: (token: string) => Promise<Reviewed>
  /** The name of the service account of a Gateway's Pods, which is in its own namespace. */
  serviceAccountOf: (gateway: string) => string
  /** The state of a Gateway is another one. */
  changed: (gateway: string) => void
  log: { info: LogMethod; warn: LogMethod; debug: LogMethod }
  pingEveryMs?: number
  limits?: Pick<StreamServerOptions, 'helloLimitMs' | 'mostReviews' | 'mostStreams' | 'lineLimit'>
}

/** All that is known of one Gateway, and who hears of it. */
interface Served {
  feed: GatewayFeed
  dataPlanes: Set<DataPlane>
  /** Who refused a config last. */
  refusing: DataPlane | null
  told: GatewayState
}

/** The controller's end of the streams: every data plane of a Gateway gets its config, its addresses, and nothing else. */
export class Publisher {
  readonly counts = new PublishCounts()
  readonly #options: PublisherOptions
  readonly #server: StreamServer
  readonly #servedByGateway = new Map<string, Served>()
  /** Gateways of which something is new: looked at when whoever changes them is done. */
  readonly #touched = new Set<string>()
  #pings: NodeJS.Timeout | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
    const refusals = new RefusalLog((reason, fields) => {
      const level = reason === 'handshake' || reason === 'closing' ? 'debug' : 'warn'
      options.log[level]('a stream is refused', { reason, ...fields })
    })
    this.#server = new StreamServer({
      ...options.limits,
      review: options.review,
      take: (hello, caller, stream) => this.#take(hello, caller, stream),
      refused: (reason, fields) => {
        this.counts.refused[reason]++
        refusals.note(reason, fields)
      },
    })
  }

  /** The port it listens at. */
  async listen(serving: KeyPair, place: { port: number; host?: string }): Promise<number> {
    const port = await this.#server.listen(serving, place)
    this.#pings = setInterval(() => this.#ping(), this.#options.pingEveryMs ?? PING_EVERY_MS)
    return port
  }

  /** Shows another certificate from now on; those who are connected stay so. */
  renew(serving: KeyPair): void {
    this.#server.renew(serving)
  }

  publish(gateway: string, ir: Ir): void {
    const { feed } = this.#serve(gateway)
    if (!feed.publish(ir)) return
    if (feed.problem !== null) this.#options.log.warn('a config cannot be sent', { gateway, problem: feed.problem })
    this.#touch(gateway)
  }

  reach(gateway: string, endpoints: Readonly<Record<string, readonly string[]>>): void {
    const { feed, dataPlanes } = this.#serve(gateway)
    const keys = feed.reach(endpoints)
    if (keys.length === 0) return
    for (const dataPlane of dataPlanes) dataPlane.touch(keys)
    this.#touch(gateway)
  }

  /** The Gateway is no more, or not ours. */
  retire(gateway: string): void {
    const served = this.#servedByGateway.get(gateway)
    if (served === undefined) return
    served.feed.close()
    this.#servedByGateway.delete(gateway)
    for (const dataPlane of served.dataPlanes) dataPlane.goodbye('the Gateway is gone')
  }

  stateOf(gateway: string): GatewayState {
    const served = this.#servedByGateway.get(gateway)
    return served === undefined ? NOBODY : stateOf(served)
  }

  /** Data planes that are connected, by Gateway. */
  connected(): Map<string, number> {
    return new Map([...this.#servedByGateway].map(([gateway, { dataPlanes }]) => [gateway, dataPlanes.size]))
  }

  async close(graceMs = 2_000): Promise<void> {
    clearInterval(this.#pings)
    for (const { feed, dataPlanes } of this.#servedByGateway.values()) {
      feed.close()
      for (const dataPlane of dataPlanes) dataPlane.goodbye('the controller is going away')
    }
    await this.#server.close(graceMs)
  }

  #serve(gateway: string): Served {
    let served = this.#servedByGateway.get(gateway)
    if (served === undefined) {
      served = { feed: new GatewayFeed(this.counts), dataPlanes: new Set(), refusing: null, told: NOBODY }
      this.#servedByGateway.set(gateway, served)
    }
    return served
  }

  #take({ gateway, instance, version, have }: Hello, caller: Caller, stream: ServerHttp2Stream): Taken | null {
    const [namespace = '', name] = gateway.split('/')
    const isOwn = caller.namespace === namespace && caller.serviceAccount === this.#options.serviceAccountOf(gateway)
    if (!isOwn || name === undefined) return null
    stream.respond({ ':status': 200, 'content-type': 'application/jsonl' })
    const served = this.#serve(gateway)
    // It has come back before its old connection was missed.
    for (const other of served.dataPlanes) {
      if (other.instance !== instance) continue
      served.dataPlanes.delete(other)
      other.goodbye('the same data plane is connected anew')
    }
    const dataPlane = new DataPlane({ instance, have, feed: served.feed, stream, counts: this.counts })
    served.dataPlanes.add(dataPlane)
    const fields = { gateway, instance, version, address: addressOf(stream) }
    this.#options.log.info('a data plane is connected', fields)
    if (served.feed.config === null) dataPlane.ping()
    this.#touch(gateway)
    return {
      heard: (message) => this.#heard(message, { gateway, served, dataPlane }),
      faulty: (reason) => dataPlane.goodbye(reason),
      closed: () => {
        if (!served.dataPlanes.delete(dataPlane)) return
        this.#options.log.info('a data plane is gone', fields)
        this.#touch(gateway)
      },
    }
  }

  #heard(
    message: DataPlaneMessage,
    { gateway, served, dataPlane }: { gateway: string; served: Served; dataPlane: DataPlane },
  ): void {
    dataPlane.heard()
    if (message.type === 'pong') return
    if (message.type === 'hello') throw new StreamFault('hello is said once')
    dataPlane.take(message)
    if (message.type === 'nack') served.refusing = dataPlane
    this.#touch(gateway)
  }

  #ping(): void {
    for (const [gateway, { dataPlanes }] of this.#servedByGateway) {
      for (const dataPlane of dataPlanes) {
        if (dataPlane.ping()) dataPlane.flush()
        else {
          this.counts.refused.silent++
          this.#options.log.warn('a data plane is silent', { gateway, instance: dataPlane.instance })
          dataPlane.cut()
        }
      }
    }
  }

  #touch(gateway: string): void {
    if (this.#touched.size === 0) queueMicrotask(() => this.#settle())
    this.#touched.add(gateway)
  }

  #settle(): void {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const gateway of touched) {
      const served = this.#servedByGateway.get(gateway)
      if (served === undefined) continue
      for (const dataPlane of served.dataPlanes) dataPlane.flush()
      // Of what was never published nothing is kept.
      const isUnknown = served.feed.config === null && served.feed.endpoints.size === 0
      if (isUnknown && served.dataPlanes.size === 0) this.#servedByGateway.delete(gateway)
      const state = stateOf(served)
      if (isSame(state, served.told)) continue
      served.told = state
      this.#options.changed(gateway)
    }
  }
}

const NOBODY: GatewayState = { connected: 0, acknowledged: false, problems: [] }

function stateOf({ feed, dataPlanes, refusing }: Served): GatewayState {
  const all = [...dataPlanes]
  const generation = feed.problem === null ? feed.config?.generation : undefined
  const acknowledged = generation !== undefined && all.some((one) => one.acknowledged === generation)
  if (feed.problem !== null) return { connected: all.length, acknowledged, problems: [feed.problem] }
  const refuser =
    all.find((one) => one === refusing && one.problems.length > 0) ?? all.find((one) => one.problems.length > 0)
  return { connected: all.length, acknowledged, problems: refuser?.problems ?? [] }
}

function isSame(one: GatewayState, other: GatewayState): boolean {
  return (
    one.connected === other.connected &&
    one.acknowledged === other.acknowledged &&
    one.problems.length === other.problems.length &&
    one.problems.every((problem, index) => problem === other.problems[index])
  )
}
