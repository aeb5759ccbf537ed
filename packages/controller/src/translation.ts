import type { ResourceChecks } from '@portico/gateway/checks'
import type { Ir } from '@portico/gateway/ir'
import type { Logger } from '@portico/gateway/log'
import {
  isMaterialKind,
  type Kind,
  type MaterialKind,
  pemChecks,
  type Resource,
  type Translated,
  type TranslatedChange,
  Translator,
} from '@portico/translate'
import type { Metrics } from './metrics.ts'
import { Batches } from './watch/batches.ts'
import { ContentChanges } from './watch/content-changes.ts'
import { Materials, type MaterialsOptions } from './watch/materials.ts'

/** Where configs go. */
export interface ConfigStreams {
  publish(gateway: string, ir: Ir): void
  reach(gateway: string, endpoints: Readonly<Record<string, readonly string[]>>): void
  retire(gateway: string): void
}

export interface TranslationOptions {
  controllerName: string
  clusterDomain: string
  checks: ResourceChecks
  streams: ConfigStreams
  /** What a Secret or ConfigMap holds that something refers to. */
  readMaterial: MaterialsOptions['read']
  /** Told after every batch, when all of it is handed out. */
  settled: (change: TranslatedChange) => void
  log: Logger
  metrics: Metrics
}

/** What changes in the cluster, translated in batches and handed out. */
export class Translation {
  readonly #options: TranslationOptions
  readonly #translator: Translator
  readonly #contents = new ContentChanges()
  readonly #materials: Materials
  readonly #batches = new Batches(() => this.settle())
  #changedAt: number | null = null
  #isStarted = false

  constructor(options: TranslationOptions) {
    this.#options = options
    const { controllerName, clusterDomain, checks } = options
    this.#translator = new Translator({
      controllerName,
      clusterDomain,
      withoutSlices: 'unavailable',
      pem: pemChecks,
      checks,
    })
    this.#materials = new Materials({
      read: options.readMaterial,
      changed: (kind, key, resource) => this.#take(kind, key, resource),
      troubled: (kind, key, error) => {
        options.metrics.count('material_troubles_total', { kind })
        options.log.warn('cannot read what it holds, and try again', { kind, key, error })
      },
    })
  }

  get translated(): Translated {
    return this.#translator
  }

  /** Whether it is too early to say anything of `Kind/namespace/name`: it is made of what is still to be read. */
  waits(id: string): boolean {
    return this.#translator.waits(id)
  }

  /** False for a change that leaves all but the status as it was. */
  take(kind: Kind, key: string, resource: Resource | undefined): boolean {
    const id = `${kind}/${key}`
    if (isMaterialKind(kind)) this.#materials.take(kind, key, resource)
    else if (resource === undefined || this.#contents.take(id, resource)) this.#take(kind, key, resource)
    else return false
    if (resource === undefined) this.#contents.drop(id)
    return true
  }

  #take(kind: Kind, key: string, resource: Resource | undefined): void {
    if (resource === undefined) this.#translator.drop(kind, key)
    else this.#translator.put(resource)
    this.#changedAt ??= performance.now()
    if (this.#isStarted) this.#batches.add()
  }

  /** All that there is has been taken: from now on every change is handed out. */
  start(): void {
    this.#isStarted = true
    this.settle()
  }

  stop(): void {
    this.#batches.stop()
    this.#materials.stop()
  }

  /** How many Secrets or ConfigMaps are held with what is in them. */
  held(kind: MaterialKind): number {
    return this.#materials.count(kind)
  }

  settle(): void {
    const { metrics, log, settled } = this.#options
    const startedAt = performance.now()
    const changedAt = this.#changedAt ?? startedAt
    this.#changedAt = null
    this.#materials.want(this.#translator.materials())
    const change = this.#translator.settle()
    this.#handOut(change)
    const endedAt = performance.now()
    metrics.count('settles_total')
    metrics.observe('settle_duration_seconds', (endedAt - startedAt) / 1000)
    if (change.gateways.length + change.endpoints.length > 0)
      metrics.observe('change_to_publish_seconds', (endedAt - changedAt) / 1000)
    // Data planes have the config by now, and find the same.
    const quarantined = this.#translator.findQuarantined(change.gateways)
    log.debug('settled', { ...change, quarantined: quarantined.length, ms: Math.round(endedAt - startedAt) })
    settled({ ...change, statuses: [...new Set([...change.statuses, ...quarantined])] })
  }

  /** Addresses first: no route goes live without them. */
  #handOut({ gateways, endpoints }: TranslatedChange): void {
    const { streams } = this.#options
    for (const key of new Set([...endpoints, ...gateways])) {
      const ir = this.#translator.gateways.get(key)
      if (ir === undefined) {
        streams.retire(key)
        continue
      }
      if (endpoints.includes(key)) streams.reach(key, this.#translator.endpoints.get(key) ?? {})
      if (gateways.includes(key)) streams.publish(key, ir)
    }
  }
}
