import type { Ir } from '../../ir/resources.ts'
import type { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import type { QuarantinedResource } from '../../ir/quarantine.ts'
import { ConfigReceiver, type ReceivedConfig } from '../../stream/config-receiver.ts'
import { ControllerClient, type ClientOptions } from '../../stream/controller-client.ts'
import { endpointHashesOf, endpointPart } from '../../stream/endpoint-parts.ts'
import { generationOf } from '../../stream/hashes.ts'
import type { KeptConfig } from '../../stream/kept-config.ts'
import type { ControllerMessage, DataPlaneMessage } from '../../stream/messages.ts'
import { ServingReport } from '../../stream/serving-report.ts'
import { StreamFault } from '../../stream/stream-fault.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { EndpointsChange } from '@portico/http/client'
import { closeUnknown, explainIn } from './controller-parts.ts'

/** The receiver of the config of a controller. */
interface ControllerTarget {
  apply(ir: Ir, explain: (fault: ConfigFault) => string | null): Promise<string[]>
  /** Resources of the config that went live last, which are closed because they cannot be compiled. */
  quarantined(): QuarantinedResource[]
  /** Whether a worker listens on the ports of the live config. */
  isServing(): boolean
  services: {
    take(change: EndpointsChange): void
    takeAll(addresses: EndpointsChange['put'], isMeant?: (key: string) => boolean): void
    all(): EndpointsChange['put']
  }
}

export interface ControllerSourceOptions extends Omit<ClientOptions, 'hello' | 'opened' | 'received'> {
  target: ControllerTarget
  /** `namespace/name` */
  gateway: string
  instance: string
  version: string
  /** The store on disk; null when configs are not stored. */
  kept: KeptConfig | null
  log: Logger
  clock?: () => number
  /** The time without listening workers after which the controller is told. */
  patienceMs?: number
}

/** The config of one Gateway, from its controller or from the copy on disk. */
export class ControllerSource {
  readonly #options: ControllerSourceOptions
  readonly #receiver: ConfigReceiver
  readonly #clock: () => number
  readonly #report: ServingReport
  #client: ControllerClient | null = null
  /** The time of the last message of the controller, which confirms the live config; null before the first. */
  #heardAt: number | null = null
  #isFirst = true
  /** Resources with parts that this version does not know. */
  #closed: readonly QuarantinedResource[] = []
  #isClosed = false

  constructor(options: ControllerSourceOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
    this.#receiver = new ConfigReceiver({
      apply: (ir) => this.#apply(ir),
      wentLive: (live) => this.#wentLive(live),
      quarantined: () => this.#quarantined(),
    })
    this.#report = new ServingReport({
      isServing: () => options.target.isServing(),
      send: (serving) => this.#client?.send({ type: 'health', serving }),
      ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
    })
  }

  /** Starts with the stored config, so that traffic is served without a controller, and then connects to the controller. */
  async start(): Promise<void> {
    await this.#useKept()
    if (this.#isClosed) return
    const { gateway, instance, version, target } = this.#options
    this.#client = new ControllerClient({
      ...this.#options,
      hello: () => {
        this.#isFirst = true
        const have = this.#receiver.hello()
        return { type: 'hello', gateway, instance, version, have, endpoints: endpointHashesOf(target.services.all()) }
      },
      opened: () => this.#report.opened(),
      received: (message, answer) => this.#received(message, answer),
    })
  }

  /** A worker began to listen, or died. */
  checkServing(): void {
    this.#report.check()
  }

  get isConnected(): boolean {
    return this.#client?.isConnected === true
  }

  /** The live generation; null before the first. */
  get generation(): string | null {
    return this.#receiver.live?.generation ?? null
  }

  get counts(): Readonly<ConfigReceiver['counts']> {
    return this.#receiver.counts
  }

  /** Seconds since the controller last confirmed the live config; null when it never did. */
  get ageSeconds(): number | null {
    return this.#heardAt === null ? null : Math.max(0, (this.#clock() - this.#heardAt) / 1_000)
  }

  /** Configs go live no more; addresses of Services still do. */
  hold(): void {
    this.#receiver.hold()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#receiver.hold()
    this.#report.close()
    this.#client?.close()
    await this.#options.kept?.flush()
  }

  #received(message: ControllerMessage, answer: (message: DataPlaneMessage) => void): void {
    this.#heardAt = this.#clock()
    if (message.type === 'config') return this.#receiver.take(message, answer)
    if (message.type !== 'endpoints') return
    const { services } = this.#options.target
    if (this.#isFirst && !message.whole) throw new StreamFault('the first set of endpoints is incomplete')
    this.#isFirst = false
    const parts = message.parts && new Set(message.parts)
    if (message.whole) services.takeAll(message.put, (key) => parts?.has(endpointPart(key)) ?? true)
    else services.take(message)
    this.#options.kept?.keep('endpoints', () => services.all())
  }

  async #apply(ir: Ir): Promise<string[]> {
    const { ir: known, closed, refusing } = closeUnknown(ir)
    const { target, log } = this.#options
    const problems = refusing.length > 0 ? refusing : await target.apply(known, (fault) => explainIn(known, fault))
    if (problems.length === 0) {
      this.#closed = closed
      for (const { object, problem, units } of this.#quarantined().slice(0, 20)) {
        log.error('resource quarantined', { object, problem, units: units.length })
      }
      return []
    }
    log.error('config from the controller rejected, the last good config stays active', { problems: problems.length })
    for (const problem of problems.slice(0, 20)) log.error(problem.replaceAll(/\n */g, '; '))
    return problems
  }

  #quarantined(): QuarantinedResource[] {
    return [...this.#options.target.quarantined(), ...this.#closed]
  }

  #wentLive({ generation, ir }: ReceivedConfig): void {
    const { kept, version, log } = this.#options
    log.info('config from the controller active', { generation, routes: ir.routes.length })
    kept?.keep('config', () => ({ version, generation, at: this.#heardAt ?? this.#clock(), ir }))
  }

  async #useKept(): Promise<void> {
    const { kept, version, target, log } = this.#options
    const found = kept?.read('config') as KeptParts | undefined
    if (found === undefined) return
    // The file is encrypted, so this data plane wrote it, but perhaps in another version with other config types.
    if (found.version !== version || generationOf(found.ir) !== found.generation) {
      return log.warn('stored config ignored', { cause: `written by version ${found.version}` })
    }
    const endpoints = (kept?.read('endpoints') ?? []) as EndpointsChange['put']
    target.services.takeAll(endpoints)
    const isLive = await this.#receiver.begin(found)
    if (!isLive) return
    this.#heardAt = found.at
    log.info('serving the stored config', { generation: found.generation, ageSeconds: this.ageSeconds })
  }
}

/** The encrypted config on disk. */
interface KeptParts extends ReceivedConfig {
  version: string
  /** The time at which a controller last confirmed it. */
  at: number
}
