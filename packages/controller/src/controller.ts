import type { Logger } from '@portico/gateway/log'
import {
  type GatewayStatus,
  isKind,
  type Kind,
  type ListenerSetStatus,
  type MaterialKind,
  materialKinds,
  type Resource,
  type Translated,
  type TranslatedChange,
} from '@portico/translate'
import { Deployments } from './deployments.ts'
import { textAt, valueAt } from './deploy/json.ts'
import { kubeCluster } from './deploy/kube-cluster.ts'
import type { DeploySettings } from './deploy/render.ts'
import { apiByKind } from './deploy/objects.ts'
import { Events } from './kube/events.ts'
import type { KubeClient } from './kube/kube-client.ts'
import { getObject } from './kube/objects.ts'
import type { ReflectorOptions } from './kube/reflector.ts'
import type { Metrics } from './metrics.ts'
import type { Peers } from './peers/peers.ts'
import { type GatewayState, GatewayTruth } from './status/gateway-truth.ts'
import type { WantedStatus } from './status/merge.ts'
import { StatusWriter } from './status/status-writer.ts'
import { type ConfigStreams, Translation } from './translation.ts'
import { DeployedWatch } from './watch/deployed-watch.ts'
import { Watches } from './watch/watches.ts'

/** Where configs go, and who knows what data planes made of them. */
export interface Streams extends ConfigStreams {
  /** Of data planes wherever they are connected. */
  stateOf(gateway: string): GatewayState
  /** How many are connected here, by Gateway. */
  connected(): ReadonlyMap<string, number>
}

export interface ControllerOptions {
  client: KubeClient
  streams: Streams
  controllerName: string
  clusterDomain: string
  namespaceSelector: string | null
  deploy: DeploySettings
  peers: Pick<Peers, 'take' | 'lead' | 'follow' | 'isBlind'>
  log: (module: string) => Logger
  metrics: Metrics
  reflector?: ReflectorOptions
}

/** What the cluster wants, translated and handed out; what became of it, told and deployed by the leader. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #translation: Translation
  readonly #watches: Watches
  readonly #deployed: DeployedWatch
  readonly #deployments: Deployments
  readonly #writer: StatusWriter
  readonly #events: Events
  readonly #truth: GatewayTruth
  /** Gateways about whose deployment something may be new. */
  readonly #unsettled = new Set<string>()
  #isReady = false
  #isLeading = false

  constructor(options: ControllerOptions) {
    this.#options = options
    const { client, controllerName, namespaceSelector, peers, log, metrics, reflector } = options
    this.#translation = new Translation({
      ...options,
      log: log('translate'),
      readMaterial: (kind, key, signal) => this.#readMaterial(kind, key, signal),
      settled: (change) => this.#settled(change),
    })
    const watchLog = log('watch')
    const troubled = (kind: string, error: unknown): void => {
      metrics.count('watch_troubles_total', { kind })
      watchLog.warn('cannot watch, and try again', { kind, error })
    }
    this.#watches = new Watches({
      client,
      ...(namespaceSelector !== null && { namespaceSelector }),
      changed: (kind, key, resource) => this.#changed(kind, key, resource),
      ready: () => this.#ready(),
      troubled,
      ...(reflector && { reflector }),
    })
    this.#deployed = new DeployedWatch({
      client,
      changed: (gateway) => this.#deployments.touch(gateway),
      readinessChanged: (gateway) => this.#checkGateway(gateway),
      troubled,
      ...(reflector && { reflector }),
    })
    this.#deployments = this.#createDeployments()
    this.#events = new Events(client, controllerName, (error) =>
      log('events').warn('cannot record an Event', { error }),
    )
    this.#writer = this.#createWriter()
    this.#truth = new GatewayTruth({
      find: (gateway) => this.#watches.get('Gateway', gateway),
      stateOf: (gateway) => options.streams.stateOf(gateway),
      factsOf: (gateway) => this.#deployments.factsOf(gateway),
      readyOf: (gateway) => this.#deployed.readyOf(gateway),
      isBlind: () => peers.isBlind,
      changed: (gateway) => this.#checkGateway(gateway),
      refused: (gateway, problems) => this.#tellRefusal(gateway, problems),
    })
  }

  get #translated(): Translated {
    return this.#translation.translated
  }

  /** What is still waited for; nothing means ready. */
  get pending(): readonly string[] {
    return this.#isReady ? [] : this.#watches.unread
  }

  /** Works until the signal is raised. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watches.run(signal), this.#deployed.run(signal)])
    this.#translation.stop()
    this.#truth.stop()
  }

  /** Writes statuses and deploys until it is told to stop. */
  lead(): void {
    this.#isLeading = true
    this.#options.peers.lead()
    if (this.#isReady) this.#startLeading()
  }

  /** Resolves when nothing is under way any more. */
  async follow(): Promise<void> {
    this.#isLeading = false
    this.#options.peers.follow()
    await Promise.all([this.#writer.stop(), this.#deployments.stop()])
  }

  /** A data plane of this Gateway came, went, took or refused a config. */
  stateChanged(gateway: string): void {
    this.#truth.stateChanged(gateway)
  }

  /** What is known of data planes may be something else for every Gateway. */
  sightChanged(): void {
    for (const gateway of this.#translated.gateways.keys()) this.#truth.stateChanged(gateway)
  }

  /** What holds for all data planes is another: their Deployments are looked at. */
  redeploy(): void {
    this.#deployments.touchAll()
  }

  /** Brings gauges up to date. */
  measure(): void {
    const { metrics, streams } = this.#options
    metrics.set('synchronized', this.#isReady ? 1 : 0)
    metrics.set('leader', this.#isLeading ? 1 : 0)
    metrics.set('gateways', this.#translated.gateways.size)
    metrics.set('status_backlog', this.#writer.backlog)
    metrics.set(
      'data_planes',
      streams
        .connected()
        .values()
        .reduce((sum, count) => sum + count, 0),
    )
    for (const kind of materialKinds) metrics.set('materials', this.#translation.held(kind), { kind })
    for (const kind of this.#watches.kinds) metrics.set('objects', this.#watches.count(kind), { kind })
  }

  #createDeployments(): Deployments {
    const { client, controllerName, deploy, metrics, log } = this.#options
    return new Deployments({
      cluster: kubeCluster(client),
      settings: deploy,
      controllerName,
      find: (kind, key) => this.#watches.get(kind, key),
      isOurs: (gateway) => this.#translated.gateways.has(gateway),
      portsOf: (gateway) => this.#translated.gateways.get(gateway)?.binds.map(({ port }) => port) ?? [],
      changed: (gateway) => this.#checkGateway(gateway),
      tried: (gateway, { applied, removed, problems, failures }) => {
        const isFine = problems.length + failures.length === 0
        metrics.count('deployments_total', { result: isFine ? 'success' : problems.length > 0 ? 'invalid' : 'error' })
        if (!isFine) log('deploy').warn('cannot deploy', { gateway, problems, failures })
        else if (applied.length + removed.length > 0) log('deploy').info('deployed', { gateway, applied, removed })
      },
    })
  }

  #createWriter(): StatusWriter {
    const { client, controllerName, metrics, log } = this.#options
    return new StatusWriter({
      client,
      controllerName,
      apiOf: (kind) => this.#watches.apiOf(kind),
      find: (kind, key) => this.#watches.get(kind, key),
      wanted: (kind, key) => this.#wantedStatus(kind, key),
      troubled: (kind, key, error) => log('status').warn('cannot write a status, and try again', { kind, key, error }),
      wrote: (kind, result) => metrics.count('status_writes_total', { kind, result }),
    })
  }

  #changed(kind: Kind, key: string, resource: Resource | undefined): void {
    const isOther = this.#translation.take(kind, key, resource)
    if (resource === undefined) this.#writer.forget(kind, key)
    else if (hasStatus(kind)) this.#writer.check(kind, key)
    if (!isOther) return
    if (kind === 'EndpointSlice') this.#options.peers.take(key, resource)
    if (kind === 'Gateway') this.#unsettled.add(key)
    if (kind === 'GatewayClass' || kind === 'GwParameters') {
      for (const [gateway] of this.#watches.list('Gateway')) this.#unsettled.add(gateway)
    }
  }

  #readMaterial(kind: MaterialKind, key: string, signal: AbortSignal): Promise<Resource | undefined> {
    const [namespace = '', name = ''] = key.split('/')
    const limits = { signal, limitMs: MATERIAL_LIMIT_MS }
    return getObject(this.#options.client, apiByKind[kind], { namespace, name }, limits)
  }

  #ready(): void {
    this.#translation.start()
    this.#isReady = true
    this.#options.log('watch').info('all kinds are read', { gateways: this.#translated.gateways.size })
    if (this.#isLeading) this.#startLeading()
  }

  #startLeading(): void {
    this.#writer.start()
    this.#deployments.start()
    for (const kind of this.#watches.kinds.filter(hasStatus)) {
      for (const [key] of this.#watches.list(kind)) this.#writer.check(kind, key)
    }
  }

  #settled({ gateways, statuses }: TranslatedChange): void {
    for (const key of gateways) if (!this.#translated.gateways.has(key)) this.#truth.forget(key)
    for (const key of [...gateways, ...this.#unsettled]) this.#deployments.refresh(key)
    this.#unsettled.clear()
    for (const id of statuses) {
      const slash = id.indexOf('/')
      const kind = id.slice(0, slash)
      if (isKind(kind)) this.#writer.check(kind, id.slice(slash + 1))
    }
  }

  #checkGateway(gateway: string): void {
    this.#writer.check('Gateway', gateway)
    for (const [key, set] of this.#watches.list('ListenerSet')) {
      if (gatewayOfSet(set) === gateway) this.#writer.check('ListenerSet', key)
    }
  }

  #wantedStatus(kind: Kind, key: string): WantedStatus | null | undefined {
    if (this.#translation.waits(`${kind}/${key}`)) return undefined
    const status = this.#translated.statuses.get(`${kind}/${key}`) ?? null
    if (status === null) return null
    if (kind === 'Gateway') return this.#truth.complete(key, status as GatewayStatus)
    if (kind !== 'ListenerSet') return status
    const gateway = gatewayOfSet(this.#watches.get(kind, key))
    return this.#truth.completeSet(gateway, status as ListenerSetStatus)
  }

  #tellRefusal(gateway: string, message: string): void {
    this.#options.metrics.count('config_refusals_total')
    this.#options.log('publish').warn('a data plane refuses the config', { gateway, problems: message })
    const about = this.#watches.get('Gateway', gateway)
    if (about === undefined || !this.#isLeading) return
    void this.#events.record({ about, type: 'Warning', reason: 'ConfigRefused', message })
  }
}

const MATERIAL_LIMIT_MS = 5_000

const withStatus: ReadonlySet<Kind> = new Set<Kind>([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'BackendTLSPolicy',
  'GwBackend',
  'GwPolicy',
])

function hasStatus(kind: Kind): boolean {
  return withStatus.has(kind)
}

/** `namespace/name` of the Gateway that a ListenerSet names. */
function gatewayOfSet(set: Resource | undefined): string {
  const parent = valueAt(set?.spec, 'parentRef')
  return `${textAt(parent, 'namespace') ?? set?.metadata.namespace ?? ''}/${textAt(parent, 'name') ?? ''}`
}
