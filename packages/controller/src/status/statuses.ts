import type { Logger } from '@portico/gateway/log'
import {
  type GatewayStatus,
  isKind,
  type Kind,
  listenerSetKinds,
  parametersOfPlane,
  type ListenerSetStatus,
  type PolicyStatus,
  type QuarantineNote,
  quarantineNotes,
  type Resource,
  withQuarantine,
} from '@portico/translate'
import { textAt, valueAt } from '@portico/translate/json'
import { Events } from '../kube/events.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import type { Metrics } from '../metrics.ts'
import type { Translation } from '../translation.ts'
import type { PolicyVerifier } from '../verify/policy-verifier.ts'
import type { Watches } from '../watch/watches.ts'
import { GatewayStatusTracker, type GatewayStatusTrackerOptions } from './gateway-status-tracker.ts'
import type { WantedStatus } from './merge.ts'
import { unservedGatewayStatus } from './unserved-status.ts'
import { StatusWriter } from './status-writer.ts'

interface StatusesOptions extends Pick<
  GatewayStatusTrackerOptions,
  'stateOf' | 'factsOf' | 'readyOf' | 'isReadyKnown' | 'isIncomplete'
> {
  client: KubeClient
  controllerName: string
  watches: Pick<Watches, 'get' | 'list' | 'apiOf' | 'kinds' | 'unserved' | 'unservedGateways'>
  translation: Pick<Translation, 'translated' | 'waits'>
  verifier: Pick<PolicyVerifier, 'verdictOf'>
  log: (module: string) => Logger
  metrics: Metrics
}

/**
 * The statuses of all resources, from translation and from the state of Gateways in the cluster. The leader writes them.
 */
export class Statuses {
  readonly #options: StatusesOptions
  readonly #writer: StatusWriter
  readonly #tracker: GatewayStatusTracker
  readonly #events: Events
  /** Quarantine notes from data planes, by Gateway and then by `Kind/namespace/name`. */
  readonly #notes = new Map<string, ReadonlyMap<string, readonly QuarantineNote[]>>()
  #isLeading = false

  constructor(options: StatusesOptions) {
    this.#options = options
    const { client, controllerName, watches, metrics, log } = options
    this.#events = new Events(client, controllerName, (error) =>
      log('events').warn('Event could not be written', { error }),
    )
    this.#writer = new StatusWriter({
      client,
      controllerName,
      apiOf: (kind) => watches.apiOf(kind),
      find: (kind, key) => watches.get(kind, key) ?? this.#unserved(kind, key)?.gateway,
      wanted: (kind, key) => this.#wanted(kind, key),
      onError: (kind, key, error) => log('status').warn('status write failed, retrying', { kind, key, error }),
      wrote: (kind, result) => metrics.count('status_writes_total', { kind, result }),
    })
    this.#tracker = new GatewayStatusTracker({
      ...options,
      find: (gateway) => watches.get('Gateway', gateway),
      changed: (gateway) => this.checkGateway(gateway),
      refused: (gateway, problems) => this.#tellRefusal(gateway, problems),
    })
  }

  /** Objects that wait for a check. */
  get backlog(): number {
    return this.#writer.backlog
  }

  /** Starts writing statuses, those of all existing objects first. */
  lead(): void {
    const { watches } = this.#options
    this.#isLeading = true
    this.#writer.start()
    for (const kind of watches.kinds.filter(hasStatus)) {
      for (const [key] of watches.list(kind)) this.#writer.check(kind, key)
    }
    for (const key of watches.unservedGateways()) this.#writer.check('Gateway', key)
  }

  /** Stops writing; resolves when no write is under way. */
  async follow(): Promise<void> {
    this.#isLeading = false
    await this.#writer.stop()
  }

  /** Ends all timers. */
  close(): void {
    this.#tracker.stop()
  }

  /** Called when an object is added, changed or deleted. */
  changed(kind: Kind, key: string, resource: Resource | undefined): void {
    if (resource === undefined) this.#writer.forget(kind, key)
    else if (hasStatus(kind)) this.#writer.check(kind, key)
  }

  /** Called with the Gateways and the `Kind/namespace/name` of resources that translation changed. */
  translated(gateways: Iterable<string>, ids: Iterable<string>): void {
    const { translated } = this.#options.translation
    for (const key of gateways) if (!translated.gateways.has(key)) this.#tracker.forget(key)
    for (const id of ids) this.#check(id)
  }

  /** Checks the status of one resource after a fact outside translation changed. */
  check(kind: Kind, key: string): void {
    this.#writer.check(kind, key)
  }

  /** Checks the status of one resource; `id` is `Kind/namespace/name`. */
  #check(id: string): void {
    const slash = id.indexOf('/')
    const kind = id.slice(0, slash)
    if (isKind(kind)) this.#writer.check(kind, id.slice(slash + 1))
  }

  /** Called when a data plane with this key connects, disconnects, applies or rejects a config. */
  stateChanged(gateway: string): void {
    this.#tracker.stateChanged(gateway)
    const before = this.#notes.get(gateway)
    const { quarantined = [] } = this.#options.stateOf(gateway)
    if (before === undefined && quarantined.length === 0) return
    const after = quarantineNotes(gateway, quarantined, this.#options.translation.translated.membersOf(gateway))
    if (after.size === 0) this.#notes.delete(gateway)
    else this.#notes.set(gateway, after)
    for (const id of new Set([...(before?.keys() ?? []), ...after.keys()])) this.#check(id)
  }

  /** Checks the statuses of the Gateways of a data plane after facts outside translation changed. */
  checkGateway(plane: string): void {
    const members = this.#options.translation.translated.membersOf(plane).map(({ gateway }) => gateway)
    const gateways = new Set(members.length === 0 ? [plane] : members)
    for (const gateway of gateways) this.#writer.check('Gateway', gateway)
    for (const kind of listenerSetKinds) {
      for (const [key, set] of this.#options.watches.list(kind)) {
        if (gateways.has(gatewayOfSet(set))) this.#writer.check(kind, key)
      }
    }
  }

  #wanted(kind: Kind, key: string): WantedStatus | null | undefined {
    const { translation, watches } = this.#options
    const unserved = this.#unserved(kind, key)
    if (unserved !== undefined) return unservedGatewayStatus(unserved.gateway, unserved.reason)
    if (translation.waits(`${kind}/${key}`)) return undefined
    const id = `${kind}/${key}`
    const found = translation.translated.statuses.get(id) ?? null
    if (found === null) return null
    const notes = [...this.#notes.values()].flatMap((byId) => byId.get(id) ?? [])
    const status = withQuarantine(id, found, notes)
    if (kind === 'GwPolicy') return this.#withVerdict(key, status as PolicyStatus)
    if (kind === 'Gateway') return this.#tracker.complete(key, status as GatewayStatus)
    if (kind !== 'ListenerSet' && kind !== 'XListenerSet') return status
    return this.#tracker.completeSet(gatewayOfSet(watches.get(kind, key)), status as ListenerSetStatus)
  }

  /** The status of a GwPolicy with the verdict of the newest run of its tests. */
  #withVerdict(key: string, status: PolicyStatus): PolicyStatus {
    const { watches, verifier } = this.#options
    const metadata = watches.get('GwPolicy', key)?.metadata
    const verdict = metadata === undefined || status.verified === undefined ? null : verifier.verdictOf(key, metadata)
    return verdict === null ? status : { ...status, conditions: [verdict.condition], verified: verdict.verified }
  }

  /** A Gateway of our class in a namespace that is not served, and the reason. */
  #unserved(kind: Kind, key: string): { gateway: Resource; reason: string } | undefined {
    const { watches, controllerName } = this.#options
    const found = kind === 'Gateway' ? watches.unserved(key) : undefined
    const gatewayClass = watches.get('GatewayClass', textAt(found?.gateway.spec, 'gatewayClassName') ?? '')
    return textAt(gatewayClass?.spec, 'controllerName') === controllerName ? found : undefined
  }

  #tellRefusal(gateway: string, message: string): void {
    const { metrics, log, watches } = this.#options
    metrics.count('config_refusals_total')
    log('publish').warn('data plane rejected the config', { gateway, problems: message })
    const parameters = parametersOfPlane(gateway)
    const about = parameters === null ? watches.get('Gateway', gateway) : watches.get('GwParameters', parameters)
    if (about === undefined || !this.#isLeading) return
    void this.#events.record({ about, type: 'Warning', reason: 'ConfigRefused', message })
  }
}

const withStatus: ReadonlySet<Kind> = new Set<Kind>([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'XListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
  'BackendTLSPolicy',
  'InferencePool',
  'XBackend',
  'XBackendTrafficPolicy',
  'XTelemetryPolicy',
  'GwBackend',
  'GwModel',
  'GwPolicy',
  'GwFilter',
])

function hasStatus(kind: Kind): boolean {
  return withStatus.has(kind)
}

/** `namespace/name` of the Gateway of a ListenerSet. */
function gatewayOfSet(set: Resource | undefined): string {
  const parent = valueAt(set?.spec, 'parentRef')
  return `${textAt(parent, 'namespace') ?? set?.metadata.namespace ?? ''}/${textAt(parent, 'name') ?? ''}`
}
