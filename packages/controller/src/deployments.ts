import { parametersOfPlane, type Resource } from '@portico/translate'
import { Deployer, type DesiredState } from './deploy/deployer.ts'
import type { GatewayAddress } from './deploy/addresses.ts'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { findLevels, planeLevels } from './deploy/parameters-ref.ts'
import type { Cluster, Outcome } from './deploy/reconcile.ts'
import type { DeploySettings } from './deploy/render.ts'
import { ignoredParameters, planeResource } from './shared-plane.ts'

interface DeploymentsOptions {
  cluster: Cluster
  /** The settings for all Gateways. The object is read for every attempt, because its `controller` may change. */
  settings: DeploySettings
  controllerName: string
  find: (kind: 'Gateway' | 'GatewayClass' | 'GwParameters', key: string) => Resource | undefined
  /** Whether there is a config for the data plane with this key. */
  isOurs: (plane: string) => boolean
  /** The key of the data plane of a Gateway: its own key when the Gateway shares none. */
  planeOf: (gateway: string) => string
  /** The Gateways whose class refers to these GwParameters (`namespace/name`), and those whose class is missing. */
  gatewaysBy: (parameters: string) => readonly string[]
  /** Whether a ready Pod serves the newest config of the data plane of a Gateway. */
  isServing: (gateway: string) => boolean
  /** The listener ports of a Gateway, including those of its ListenerSets. */
  portsOf: (gateway: string) => readonly { port: number; transport?: 'udp' }[]
  /** Called when the deployment facts of a data plane may have changed. */
  changed: (plane: string) => void
  /** Called after every attempt. */
  tried: (gateway: string, outcome: Outcome) => void
}

/** The state of the deployment of a Gateway. */
export interface DeployedFacts {
  addresses: readonly GatewayAddress[] | null
  parameterProblems: readonly string[]
  /** Requests of the Gateway that have no effect, because it shares its data plane. */
  ignoredParameters?: readonly string[]
  /** The GwParameters of the shared data plane; absent for a Gateway with its own. */
  sharedBy?: string
  deployFailures: readonly string[]
  /** The generation of the Gateway that was deployed last; null before the first. */
  deployedGeneration: number | null
}

const UNKNOWN: DeployedFacts = {
  addresses: null,
  parameterProblems: [],
  deployFailures: [],
  deployedGeneration: null,
}

/** Decides what to deploy for each Gateway, and keeps the outcome. */
export class Deployments {
  readonly #options: DeploymentsOptions
  readonly #deployer: Deployer
  readonly #factsByKey = new Map<string, DeployedFacts>()
  /** The last desired state by Gateway as JSON, to detect changes. */
  readonly #desiredTexts = new Map<string, string>()
  readonly #generations = new Map<string, number>()
  /** Data planes that stay until others serve their Gateways. */
  readonly #replaced = new Set<string>()
  /** Data planes whose objects were seen before all resources were read. */
  readonly #seenEarly = new Set<string>()
  #isStarted = false

  constructor(options: DeploymentsOptions) {
    this.#options = options
    const { cluster, settings } = options
    this.#deployer = new Deployer({ cluster, settings, report: (key, outcome) => this.#report(key, outcome) })
  }

  factsOf(key: string): DeployedFacts {
    const plane = this.#options.planeOf(key)
    const facts = this.#factsByKey.get(plane) ?? UNKNOWN
    const gateway = plane === key ? undefined : this.#options.find('Gateway', key)
    if (gateway === undefined) return facts
    const { generation = 0 } = gateway.metadata
    return {
      ...facts,
      ignoredParameters: ignoredParameters(gateway, plane),
      sharedBy: parametersOfPlane(plane) ?? plane,
      deployedGeneration: facts.deployedGeneration === null ? null : generation,
    }
  }

  /** Called when a Gateway, its class, its parameters or its listeners may have changed. */
  refresh(key: string): void {
    const parameters = parametersOfPlane(key)
    if (parameters !== null) return this.#refreshPlane(key, parameters)
    const gateway = this.#options.find('Gateway', key)
    if (gateway === undefined || Reflect.get(gateway.metadata, 'deletionTimestamp') !== undefined)
      return this.#forget(key)
    if (this.#isOthers(gateway)) return this.#release(key, gateway)
    if (this.#options.planeOf(key) !== key) return this.#replace(key, gateway, [key])
    this.#replaced.delete(key)
    // The class does not exist. It may return, and until then the data planes keep serving.
    if (!this.#options.isOurs(key)) return this.#forget(key)
    const desired = this.#desiredOf(key, gateway)
    if (!('problems' in desired)) return this.#want(key, desired)
    this.#keep(key, desired.problems)
  }

  /** Deployed objects stay as they are until the parameters are valid. */
  #keep(key: string, parameterProblems: readonly string[]): void {
    this.#deployer.forget(key)
    this.#desiredTexts.delete(key)
    this.#set(key, { ...this.factsOf(key), parameterProblems })
  }

  /** Called when somebody changed an object of the Gateway, or when a setting of all Gateways changed. */
  touch(key: string): void {
    const gateway = this.#options.find('Gateway', key)
    // Objects of this Gateway may remain from before a restart of the controller.
    if (gateway !== undefined && this.#isOthers(gateway)) this.#deployer.release(key, gateway)
    else if (!this.#isStarted) this.#seenEarly.add(key)
    else if (this.#isReplaced(key)) {
      this.#factsByKey.set(key, this.#factsByKey.get(key) ?? UNKNOWN)
      this.refresh(key)
    } else this.#deployer.touch(key)
  }

  touchAll(): void {
    for (const key of this.#desiredTexts.keys()) this.#deployer.touch(key)
  }

  /** Called when the data plane of a Gateway may have begun to serve: those that it replaces may go. */
  servingChanged(): void {
    for (const key of [...this.#replaced]) this.refresh(key)
  }

  start(): void {
    this.#isStarted = true
    for (const key of this.#seenEarly) this.touch(key)
    this.#seenEarly.clear()
    this.#deployer.start()
  }

  stop(): Promise<void> {
    this.#isStarted = false
    return this.#deployer.stop()
  }

  /** Deploys a shared data plane, or removes it when no Gateway uses it any more. */
  #refreshPlane(key: string, from: string): void {
    const parameters = this.#options.find('GwParameters', from)
    // Kubernetes deletes the objects, because they name the GwParameters as owner.
    if (parameters === undefined) return this.#forget(key)
    const gateway = planeResource(parameters)
    if (!this.#options.isOurs(key)) return this.#replace(key, gateway, this.#options.gatewaysBy(from))
    this.#replaced.delete(key)
    const found = planeLevels(from, parameters)
    if (found.ok) this.#want(key, { gateway, className: '', ...this.#portsOf(key, []), levels: found.levels })
    else this.#keep(key, found.problems)
  }

  /** Removes a data plane once others serve its Gateways. Until then nothing changes, so that no request is lost. */
  #replace(key: string, owner: Resource, gateways: readonly string[]): void {
    if (!this.#factsByKey.has(key)) return
    if (gateways.every((gateway) => this.#options.isServing(gateway))) {
      this.#replaced.delete(key)
      return this.#release(key, owner)
    }
    this.#replaced.add(key)
    this.#desiredTexts.delete(key)
    this.#deployer.forget(key)
  }

  /** Whether objects with this key are to be removed, because other data planes serve the Gateways. */
  #isReplaced(key: string): boolean {
    const { find, isOurs, planeOf } = this.#options
    return parametersOfPlane(key) === null ? find('Gateway', key) !== undefined && planeOf(key) !== key : !isOurs(key)
  }

  /** Whether another controller serves the Gateway. */
  #isOthers(gateway: Resource): boolean {
    const gatewayClass = this.#options.find('GatewayClass', textAt(gateway.spec, 'gatewayClassName') ?? '')
    if (gatewayClass === undefined) return false
    return textAt(gatewayClass.spec, 'controllerName') !== this.#options.controllerName
  }

  #desiredOf(key: string, gateway: Resource): DesiredState | { problems: readonly string[] } {
    const { find } = this.#options
    const className = textAt(gateway.spec, 'gatewayClassName') ?? ''
    const gatewayClass = find('GatewayClass', className)
    const found = findLevels({ gatewayClass, gateway, find: (place) => find('GwParameters', place) })
    if (!found.ok) return found
    const own = listAt(gateway.spec, 'listeners').map((listener) => ({
      port: Number(valueAt(listener, 'port')),
      isUdp: textAt(listener, 'protocol') === 'UDP',
    }))
    return { gateway, className, ...this.#portsOf(key, own), levels: found.levels }
  }

  #portsOf(key: string, own: readonly { port: number; isUdp: boolean }[]): Pick<DesiredState, 'ports' | 'udpPorts'> {
    const served = this.#options.portsOf(key).map(({ port, transport }) => ({ port, isUdp: transport === 'udp' }))
    const sorted = (isUdp: boolean): number[] => {
      const ports = [...own, ...served].filter((each) => each.isUdp === isUdp).map(({ port }) => port)
      return [...new Set(ports)].toSorted((a, b) => a - b)
    }
    return { ports: sorted(false), udpPorts: sorted(true) }
  }

  #want(key: string, desired: DesiredState): void {
    const { uid, generation, labels, annotations } = desired.gateway.metadata
    const text = JSON.stringify([
      uid,
      generation,
      labels,
      annotations,
      desired.className,
      desired.ports,
      desired.udpPorts,
      desired.levels,
    ])
    if (this.#desiredTexts.get(key) === text) return
    this.#desiredTexts.set(key, text)
    this.#generations.set(key, generation ?? 0)
    if (!this.#factsByKey.has(key)) this.#factsByKey.set(key, UNKNOWN)
    this.#deployer.want(key, desired)
  }

  #release(key: string, gateway: Resource): void {
    if (!this.#factsByKey.delete(key)) return
    this.#desiredTexts.delete(key)
    this.#generations.delete(key)
    this.#deployer.release(key, gateway)
  }

  #forget(key: string): void {
    this.#replaced.delete(key)
    this.#factsByKey.delete(key)
    this.#desiredTexts.delete(key)
    this.#generations.delete(key)
    this.#deployer.forget(key)
  }

  #report(key: string, outcome: Outcome): void {
    this.#options.tried(key, outcome)
    if (!this.#desiredTexts.has(key)) return
    const { addresses, problems, failures } = outcome
    const known = this.factsOf(key).addresses
    const deployedGeneration = this.#generations.get(key) ?? null
    const facts = { addresses: addresses ?? known, parameterProblems: problems, deployFailures: failures }
    this.#set(key, { ...facts, deployedGeneration })
  }

  #set(key: string, facts: DeployedFacts): void {
    this.#factsByKey.set(key, facts)
    this.#options.changed(key)
  }
}
