import type { ResourceChecks } from '@portico/gateway/checks'
import type { Ir } from '@portico/gateway/ir'
import type { Logger } from '@portico/gateway/log'
import {
  isMaterialKind,
  type Kind,
  type MaterialKind,
  pemChecks,
  type Resource,
  type TranslationResult,
  type TranslatedChange,
  Translator,
} from '@portico/translate'
import type { Metrics } from './metrics.ts'
import { Batches } from './watch/batches.ts'
import { ContentChanges } from './watch/content-changes.ts'
import { Materials, type MaterialsOptions } from './watch/materials.ts'

/** Publishes configs and addresses. */
export interface ConfigStreams {
  publish(gateway: string, ir: Ir): void
  reach(gateway: string, endpoints: Readonly<Record<string, readonly string[]>>): void
  retire(gateway: string): void
}

interface TranslationOptions {
  controllerName: string
  clusterDomain: string
  externalNames: readonly string[]
  checks: ResourceChecks
  streams: ConfigStreams
  /** Reads the content of a referenced Secret or ConfigMap. */
  readMaterial: MaterialsOptions['read']
  /** Called after every batch, when all changes are published. */
  settled: (change: TranslatedChange) => void
  log: Logger
  metrics: Metrics
}

/** Translates changes of the cluster in batches, and publishes the configs. */
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
    const { controllerName, clusterDomain, externalNames, checks } = options
    this.#translator = new Translator({
      controllerName,
      clusterDomain,
      externalNames,
      withoutSlices: 'unavailable',
      verify: 'required',
      pem: pemChecks,
      checks,
    })
    this.#materials = new Materials({
      read: options.readMaterial,
      changed: (kind, key, resource) => this.#take(kind, key, resource),
      onError: (kind, key, error) => {
        options.metrics.count('material_troubles_total', { kind })
        options.log.warn('content read failed, retrying', { kind, key, error })
      },
    })
  }

  get translated(): TranslationResult {
    return this.#translator
  }

  /** The tests of GwPolicies, and the configs that they are about. */
  get trials(): Pick<Translator, 'takeVerifications' | 'verificationOf' | 'trialOf' | 'forceOf' | 'waits'> {
    return this.#translator
  }

  /** Whether `Kind/namespace/name` depends on content that is still to be read. */
  waits(id: string): boolean {
    return this.#translator.waits(id)
  }

  /** Takes a change; returns false when only the status changed. */
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

  /** Called when all objects were taken; from now on changes are published. */
  start(): void {
    this.#isStarted = true
    this.settle()
  }

  stop(): void {
    this.#batches.stop()
    this.#materials.stop()
  }

  /** The number of Secrets or ConfigMaps whose content is in memory. */
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
    // Data planes have the config by now, and will quarantine the same resources.
    const quarantined = this.#translator.findQuarantined(change.gateways)
    log.debug('translation finished', {
      ...change,
      quarantined: quarantined.length,
      ms: Math.round(endedAt - startedAt),
    })
    settled({ ...change, statuses: [...new Set([...change.statuses, ...quarantined])] })
  }

  /** Addresses are published first, because no route goes live without them. */
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
