import type { ResourceChecks } from '@portico/gateway/checks'
import type { Logger } from '@portico/gateway/log'
import { type Kind, materialKinds, type Resource, type TranslatedChange } from '@portico/translate'
import { Deployments } from './deployments.ts'
import { kubeCluster } from './deploy/kube-cluster.ts'
import type { DeploySettings } from './deploy/render.ts'
import { textAt, valueAt } from '@portico/translate/json'
import { reportOutcome } from './deploy/report-outcome.ts'
import type { KubeClient } from './kube/kube-client.ts'
import type { ReflectorOptions } from './kube/reflector.ts'
import type { Metrics } from './metrics.ts'
import type { Peers } from './peers/peers.ts'
import type { GatewayState } from './status/gateway-status-tracker.ts'
import { Statuses } from './status/statuses.ts'
import { type ConfigStreams, Translation } from './translation.ts'
import { PolicyVerifier, type PolicyVerifierOptions } from './verify/policy-verifier.ts'
import { DeployedWatch } from './watch/deployed-watch.ts'
import { readMaterial } from './watch/read-material.ts'
import { Watches } from './watch/watches.ts'

/** Publishes configs and reports what data planes made of them. */
export interface Streams extends ConfigStreams {
  /** The state of a Gateway's data planes, at whichever controller they are connected. */
  stateOf(gateway: string): GatewayState
  /** Data planes connected to this controller, by Gateway. */
  connected(): ReadonlyMap<string, number>
}

interface ControllerOptions {
  client: KubeClient
  streams: Streams
  controllerName: string
  clusterDomain: string
  /** Hosts that Services of type ExternalName and XBackends may name. */
  externalNames: readonly string[]
  checks: ResourceChecks
  /** The namespace of the controller itself. */
  namespace: string
  /** The only namespaces in which the controller has rights; null when it has rights in all. */
  namespaces: readonly string[] | null
  namespaceSelector: string | null
  deploy: DeploySettings
  testPolicy: PolicyVerifierOptions['test']
  peers: Pick<Peers, 'take' | 'lead' | 'follow' | 'isIncomplete'>
  log: (module: string) => Logger
  metrics: Metrics
  reflector?: ReflectorOptions
}

/**
 * Translates the resources of the cluster, publishes configs, and, as the leader, writes statuses and deploys data planes.
 */
export class Controller {
  readonly #options: ControllerOptions
  readonly #translation: Translation
  readonly #watches: Watches
  readonly #deployed: DeployedWatch
  readonly #deployments: Deployments
  readonly #statuses: Statuses
  readonly #verifier: PolicyVerifier
  /** Gateways whose deployment needs a check. */
  readonly #unsettled = new Set<string>()
  #isReady = false
  #isLeading = false

  constructor(options: ControllerOptions) {
    this.#options = options
    const { client, namespace, namespaces, namespaceSelector, peers, streams, log, metrics, reflector } = options
    this.#translation = new Translation({
      ...options,
      log: log('translate'),
      readMaterial: (kind, key, signal) => readMaterial(client, { kind, key, signal }),
      settled: (change) => this.#settled(change),
    })
    this.#verifier = new PolicyVerifier({
      translator: this.#translation.trials,
      test: options.testPolicy,
      decided: (key) => this.#statuses.check('GwPolicy', key),
      log: log('verify'),
      metrics,
    })
    const watchLog = log('watch')
    const onError = (kind: string, error: unknown): void => {
      metrics.count('watch_troubles_total', { kind })
      watchLog.warn('watch failed, retrying', { kind, error })
    }
    this.#watches = new Watches({
      client,
      ownNamespace: namespace,
      ...(namespaces !== null && { namespaces }),
      ...(namespaceSelector !== null && { namespaceSelector }),
      changed: (kind, key, resource) => this.#changed(kind, key, resource),
      unservedChanged: (gateway) => this.#statuses.checkGateway(gateway),
      ready: () => this.#ready(),
      onError,
      ...(reflector && { reflector }),
    })
    this.#deployed = new DeployedWatch({
      client,
      ...(namespaces !== null && { namespaces }),
      changed: (gateway) => this.#deployments.touch(gateway),
      readinessChanged: (plane) => {
        this.#deployments.servingChanged()
        this.#statuses.checkGateway(plane)
      },
      onError,
      ...(reflector && { reflector }),
    })
    this.#deployments = this.#createDeployments()
    this.#statuses = new Statuses({
      ...options,
      watches: this.#watches,
      translation: this.#translation,
      verifier: this.#verifier,
      stateOf: (gateway) => streams.stateOf(this.#planeOf(gateway)),
      factsOf: (gateway) => this.#deployments.factsOf(gateway),
      readyOf: (gateway) => this.#deployed.readyOf(this.#planeOf(gateway)),
      isReadyKnown: () => this.#deployed.isReadyKnown,
      isIncomplete: () => peers.isIncomplete,
    })
  }

  /** Kinds that are not read yet; the controller is ready when the list is empty. */
  get pending(): readonly string[] {
    return this.#isReady ? [] : this.#watches.unread
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watches.run(signal), this.#deployed.run(signal)])
    this.#translation.stop()
    this.#statuses.close()
  }

  /** Writes statuses and deploys until `follow` is called. */
  lead(): void {
    this.#isLeading = true
    this.#options.peers.lead()
    if (this.#isReady) this.#startLeading()
  }

  /** Stops leading; resolves when all writes under way are done. */
  async follow(): Promise<void> {
    this.#isLeading = false
    this.#options.peers.follow()
    await Promise.all([this.#statuses.follow(), this.#deployments.stop(), this.#verifier.follow()])
  }

  /** Called when a data plane with this key connects, disconnects, applies or rejects a config. */
  stateChanged(gateway: string): void {
    this.#deployments.servingChanged()
    this.#statuses.stateChanged(gateway)
  }

  /**
   * Called when another controller appears, disappears, connects or is lost, which may change the state of every
   * Gateway.
   */
  peersChanged(): void {
    for (const gateway of this.#translation.translated.gateways.keys()) this.#statuses.stateChanged(gateway)
  }

  /** Checks all Deployments again, after a setting of all data planes changed. */
  redeploy(): void {
    this.#deployments.touchAll()
  }

  /** Updates the gauges. */
  measure(): void {
    const { metrics, streams } = this.#options
    const connected = streams.connected().values()
    metrics.set('synchronized', this.#isReady ? 1 : 0)
    metrics.set('leader', this.#isLeading ? 1 : 0)
    metrics.set('gateways', this.#countGateways())
    metrics.set('status_backlog', this.#statuses.backlog)
    metrics.set('policy_verification_backlog', this.#verifier.backlog)
    metrics.set(
      'data_planes',
      connected.reduce((sum, count) => sum + count, 0),
    )
    for (const kind of materialKinds) metrics.set('materials', this.#translation.held(kind), { kind })
    for (const kind of this.#watches.kinds) metrics.set('objects', this.#watches.count(kind), { kind })
  }

  #createDeployments(): Deployments {
    const { client, controllerName, deploy, metrics, log } = this.#options
    const { translated } = this.#translation
    return new Deployments({
      cluster: kubeCluster(client),
      settings: deploy,
      controllerName,
      find: (kind, key) => this.#watches.get(kind, key),
      isOurs: (plane) => translated.gateways.has(plane),
      planeOf: (gateway) => this.#planeOf(gateway),
      gatewaysBy: (parameters) => this.#gatewaysBy(parameters),
      isServing: (gateway) => this.#isServing(gateway),
      portsOf: (gateway) => translated.gateways.get(gateway)?.binds ?? [],
      changed: (gateway) => this.#statuses.checkGateway(gateway),
      tried: (gateway, outcome) => reportOutcome(gateway, outcome, { metrics, log: log('deploy') }),
    })
  }

  #changed(kind: Kind, key: string, resource: Resource | undefined): void {
    const isOther = this.#translation.take(kind, key, resource)
    this.#statuses.changed(kind, key, resource)
    if (!isOther) return
    if (kind === 'EndpointSlice') this.#options.peers.take(key, resource)
    if (kind === 'Gateway') this.#unsettled.add(key)
    if (kind === 'GatewayClass' || kind === 'GwParameters') {
      for (const [gateway] of this.#watches.list('Gateway')) this.#unsettled.add(gateway)
      for (const plane of this.#translation.translated.gateways.keys()) this.#unsettled.add(plane)
    }
  }

  #planeOf(gateway: string): string {
    return this.#translation.translated.planeOf(gateway)
  }

  #countGateways(): number {
    const { translated } = this.#translation
    return [...translated.gateways.keys()].reduce((sum, key) => sum + (translated.membersOf(key).length || 1), 0)
  }

  #gatewaysBy(parameters: string): string[] {
    return [...this.#watches.list('Gateway')].flatMap(([key, gateway]) => {
      const found = this.#watches.get('GatewayClass', textAt(gateway.spec, 'gatewayClassName') ?? '')
      if (found === undefined) return [key]
      const ref = valueAt(found.spec, 'parametersRef')
      const isOurs = textAt(found.spec, 'controllerName') === this.#options.controllerName
      return isOurs && `${textAt(ref, 'namespace')}/${textAt(ref, 'name')}` === parameters ? [key] : []
    })
  }

  #isServing(gateway: string): boolean {
    const plane = this.#planeOf(gateway)
    const { gateways } = this.#translation.translated
    return gateways.has(plane) && this.#deployed.readyOf(plane) > 0 && this.#options.streams.stateOf(plane).acknowledged
  }

  #ready(): void {
    this.#translation.start()
    this.#isReady = true
    const gateways = this.#countGateways()
    this.#options.log('watch').info('initial sync complete', { gateways })
    if (this.#isLeading) this.#startLeading()
  }

  #startLeading(): void {
    this.#statuses.lead()
    this.#deployments.start()
    this.#verifier.lead()
  }

  #settled({ gateways, statuses }: TranslatedChange): void {
    for (const key of [...gateways, ...this.#unsettled]) this.#deployments.refresh(key)
    this.#unsettled.clear()
    this.#statuses.translated(gateways, statuses)
    this.#verifier.changed(this.#translation.trials.takeVerifications(), { hasNewConfig: gateways.length > 0 })
  }
}
