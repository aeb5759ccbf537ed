import type { ServerHttp2Stream } from 'node:http2'
import type { Ir } from '@portico/gateway/ir'
import { type DataPlaneMessage, type Generation, type Hello, PING_EVERY_MS, StreamFault } from '@portico/gateway/stream'
import type { TokenReview } from '../kube/token-review.ts'
import { PeerStatePublisher } from '../peers/peer-state-publisher.ts'
import type { GatewayState } from '../status/gateway-status-tracker.ts'
import type { Identity } from './certificate.ts'
import { PublishCounts, type Refusal } from './counts.ts'
import { DataPlane } from './data-plane.ts'
import { NOBODY, type ServedGateway, stateOf } from './gateway-state.ts'
import {
  type Caller,
  StreamAcceptor,
  ACCEPTOR_LIMITS,
  type AcceptorLimits,
  type StreamHandler,
} from './stream-acceptor.ts'
import { RefusalLog } from './refusal-log.ts'
import { addressOf } from './refuse-stream.ts'
import { ServedGateways } from './served-gateways.ts'
import { StreamServer } from './stream-server.ts'

type LogMethod = (message: string, fields?: Readonly<Record<string, unknown>>) => void

export interface PublisherOptions {
  /** Reviews a token for the audience `portico`. */
  review: (token: string) => Promise<TokenReview>
  /** The name of the service account of a Gateway's Pods, in its namespace. */
  serviceAccountOf: (gateway: string) => string
  /** Called when the state of a Gateway changes. */
  changed: (gateway: string) => void
  log: { info: LogMethod; warn: LogMethod; debug: LogMethod }
  pingEveryMs?: number
  limits?: Partial<AcceptorLimits>
}

/**
 * The controller side of the config streams: every data plane of a Gateway gets its config and addresses, and nothing else.
 */
export class Publisher {
  readonly counts = new PublishCounts()
  readonly #options: PublisherOptions
  readonly #server: StreamServer
  readonly #peerPublisher = new PeerStatePublisher()
  readonly #gateways: ServedGateways
  #pings: NodeJS.Timeout | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#gateways = new ServedGateways({
      peerPublisher: this.#peerPublisher,
      counts: this.counts,
      changed: options.changed,
    })
    const refusals = new RefusalLog((reason, fields) => {
      const level = reason === 'handshake' || reason === 'closing' ? 'debug' : 'warn'
      options.log[level]('stream rejected', { reason, ...fields })
    })
    const limits = { ...ACCEPTOR_LIMITS, ...options.limits }
    const refused = (reason: Refusal, fields: Readonly<Record<string, unknown>>): void => {
      this.counts.refused[reason]++
      refusals.note(reason, fields)
    }
    const take = (hello: Hello, caller: Caller, stream: ServerHttp2Stream): StreamHandler | null =>
      this.#take(hello, caller, stream)
    this.#server = new StreamServer({
      acceptor: new StreamAcceptor({ review: options.review, take, refused, limits }),
      takePeer: (stream) => this.#peerPublisher.take(stream),
      refused,
      idleMs: 2 * limits.helloLimitMs,
      mostStreams: limits.mostStreams,
    })
  }

  /** Listens, and returns the port. */
  async listen(serving: Identity, place: { port: number; host?: string }): Promise<number> {
    const port = await this.#server.listen(serving, place)
    this.#pings = setInterval(() => this.#ping(), this.#options.pingEveryMs ?? PING_EVERY_MS)
    return port
  }

  /** Uses another certificate from now on; open connections stay. */
  renew(serving: Identity): void {
    this.#server.renew(serving)
  }

  publish(gateway: string, ir: Ir): void {
    const { feed } = this.#gateways.serve(gateway)
    if (!feed.publish(ir)) return
    if (feed.problem !== null) this.#options.log.warn('config cannot be published', { gateway, problem: feed.problem })
    this.#gateways.touch(gateway)
  }

  reach(gateway: string, endpoints: Readonly<Record<string, readonly string[]>>): void {
    const { feed, dataPlanes } = this.#gateways.serve(gateway)
    const keys = feed.reach(endpoints)
    if (keys.length === 0) return
    for (const dataPlane of dataPlanes) dataPlane.touch(keys)
    this.#gateways.touch(gateway)
  }

  /** Called when the Gateway is deleted or belongs to another controller. */
  retire(gateway: string): void {
    const served = this.#gateways.remove(gateway)
    if (served === undefined) return
    served.feed.close()
    for (const dataPlane of served.dataPlanes)
      dataPlane.goodbye('the Gateway was deleted, or another controller serves its class')
  }

  stateOf(gateway: string): GatewayState {
    const served = this.#gateways.get(gateway)
    return served === undefined ? NOBODY : stateOf(served)
  }

  /** The generation of the newest config; null when there is none that can be sent. */
  generationOf(gateway: string): Generation | null {
    const { feed } = this.#gateways.get(gateway) ?? {}
    return feed === undefined || feed.problem !== null ? null : (feed.config?.generation ?? null)
  }

  /** Connected data planes, by Gateway. */
  connected(): Map<string, number> {
    return new Map(this.#gateways.all().map(([gateway, { dataPlanes }]) => [gateway, dataPlanes.size]))
  }

  async close(graceMs = 2_000): Promise<void> {
    clearInterval(this.#pings)
    this.#peerPublisher.close()
    for (const [, { feed, dataPlanes }] of this.#gateways.all()) {
      feed.close()
      for (const dataPlane of dataPlanes) dataPlane.goodbye('controller is shutting down')
    }
    await this.#server.close(graceMs)
  }

  #take(
    { gateway, instance: said, version, have, endpoints }: Hello,
    caller: Caller,
    stream: ServerHttp2Stream,
  ): StreamHandler | null {
    const [namespace = '', name] = gateway.split('/')
    const isOwn = caller.namespace === namespace && caller.serviceAccount === this.#options.serviceAccountOf(gateway)
    if (!isOwn || name === undefined) return null
    stream.respond({ ':status': 200, 'content-type': 'application/jsonl' })
    const served = this.#gateways.serve(gateway)
    // The token identifies the Pod. The name that a data plane reports comes from a variable, which replicas may share.
    const instance = caller.pod ?? said
    // The data plane reconnected before its old connection timed out.
    for (const other of served.dataPlanes) {
      if (other.instance !== instance) continue
      served.dataPlanes.delete(other)
      other.goodbye('data plane reconnected')
    }
    const dataPlane = new DataPlane({ instance, have, endpoints, feed: served.feed, stream, counts: this.counts })
    served.dataPlanes.add(dataPlane)
    const fields = { gateway, instance, version, address: addressOf(stream) }
    this.#options.log.info('data plane connected', fields)
    if (served.feed.config === null) dataPlane.ping()
    this.#gateways.touch(gateway)
    return {
      heard: (message) => this.#heard(message, { gateway, served, dataPlane }),
      faulty: (reason) => dataPlane.goodbye(reason),
      closed: () => {
        if (!served.dataPlanes.delete(dataPlane)) return
        this.#options.log.info('data plane disconnected', fields)
        this.#gateways.touch(gateway)
      },
    }
  }

  #heard(
    message: DataPlaneMessage,
    { gateway, served, dataPlane }: { gateway: string; served: ServedGateway; dataPlane: DataPlane },
  ): void {
    dataPlane.heard()
    if (message.type === 'pong' || message.type === 'unknown') return
    if (message.type === 'hello') throw new StreamFault('hello may be sent only once')
    if (message.type === 'health') {
      dataPlane.takeHealth(message)
      const fields = { gateway, instance: dataPlane.instance }
      if (message.serving) this.#options.log.info('data plane serves again', fields)
      else this.#options.log.warn('data plane has no listening worker', fields)
      return this.#gateways.touch(gateway)
    }
    dataPlane.take(message)
    if (message.type === 'nack') served.refusing = dataPlane
    this.#gateways.touch(gateway)
  }

  #ping(): void {
    this.#peerPublisher.ping()
    for (const [gateway, { dataPlanes }] of this.#gateways.all()) {
      for (const dataPlane of dataPlanes) {
        if (dataPlane.ping()) dataPlane.flush()
        else {
          this.counts.refused.silent++
          this.#options.log.warn('data plane is silent', { gateway, instance: dataPlane.instance })
          dataPlane.cut()
        }
      }
    }
  }
}
