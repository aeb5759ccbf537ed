import type { Resource } from '@portico/translate'
import { Deployer, type DesiredState } from './deploy/deployer.ts'
import type { GatewayAddress } from './deploy/addresses.ts'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { findLevels } from './deploy/parameters-ref.ts'
import type { Cluster, Outcome } from './deploy/reconcile.ts'
import type { DeploySettings } from './deploy/render.ts'

interface DeploymentsOptions {
  cluster: Cluster
  /** The settings for all Gateways. The object is read for every attempt, because its `controller` may change. */
  settings: DeploySettings
  controllerName: string
  find: (kind: 'Gateway' | 'GatewayClass' | 'GwParameters', key: string) => Resource | undefined
  /** Whether this controller owns the class of a Gateway. */
  isOurs: (gateway: string) => boolean
  /** The listener ports of a Gateway, including those of its ListenerSets. */
  portsOf: (gateway: string) => readonly { port: number; transport?: 'udp' }[]
  /** Called when the deployment facts of a Gateway may have changed. */
  changed: (gateway: string) => void
  /** Called after every attempt. */
  tried: (gateway: string, outcome: Outcome) => void
}

/** The state of the deployment of a Gateway. */
export interface DeployedFacts {
  addresses: readonly GatewayAddress[] | null
  parameterProblems: readonly string[]
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

  constructor(options: DeploymentsOptions) {
    this.#options = options
    const { cluster, settings } = options
    this.#deployer = new Deployer({ cluster, settings, report: (key, outcome) => this.#report(key, outcome) })
  }

  factsOf(gateway: string): DeployedFacts {
    return this.#factsByKey.get(gateway) ?? UNKNOWN
  }

  /** Called when a Gateway, its class, its parameters or its listeners may have changed. */
  refresh(key: string): void {
    const gateway = this.#options.find('Gateway', key)
    if (gateway === undefined || Reflect.get(gateway.metadata, 'deletionTimestamp') !== undefined)
      return this.#forget(key)
    if (this.#isOthers(gateway)) return this.#release(key, gateway)
    // The class does not exist. It may return, and until then the data planes keep serving.
    if (!this.#options.isOurs(key)) return this.#forget(key)
    const desired = this.#desiredOf(key, gateway)
    if (!('problems' in desired)) return this.#want(key, desired)
    // Deployed objects stay as they are until the parameters are valid.
    this.#deployer.forget(key)
    this.#desiredTexts.delete(key)
    this.#set(key, { ...this.factsOf(key), parameterProblems: desired.problems })
  }

  /** Called when somebody changed an object of the Gateway, or when a setting of all Gateways changed. */
  touch(key: string): void {
    const gateway = this.#options.find('Gateway', key)
    // Objects of this Gateway may remain from before a restart of the controller.
    if (gateway !== undefined && this.#isOthers(gateway)) this.#deployer.release(key, gateway)
    else this.#deployer.touch(key)
  }

  touchAll(): void {
    for (const key of this.#desiredTexts.keys()) this.#deployer.touch(key)
  }

  start(): void {
    this.#deployer.start()
  }

  stop(): Promise<void> {
    return this.#deployer.stop()
  }

  /** Whether another controller serves the Gateway. */
  #isOthers(gateway: Resource): boolean {
    const gatewayClass = this.#options.find('GatewayClass', textAt(gateway.spec, 'gatewayClassName') ?? '')
    if (gatewayClass === undefined) return false
    return textAt(gatewayClass.spec, 'controllerName') !== this.#options.controllerName
  }

  #desiredOf(key: string, gateway: Resource): DesiredState | { problems: readonly string[] } {
    const { find, portsOf } = this.#options
    const className = textAt(gateway.spec, 'gatewayClassName') ?? ''
    const gatewayClass = find('GatewayClass', className)
    const found = findLevels({ gatewayClass, gateway, find: (place) => find('GwParameters', place) })
    if (!found.ok) return found
    const own = listAt(gateway.spec, 'listeners').map((listener) => ({
      port: Number(valueAt(listener, 'port')),
      isUdp: textAt(listener, 'protocol') === 'UDP',
    }))
    const all = [...own, ...portsOf(key).map(({ port, transport }) => ({ port, isUdp: transport === 'udp' }))]
    const sorted = (isUdp: boolean): number[] =>
      [...new Set(all.filter((each) => each.isUdp === isUdp).map(({ port }) => port))].toSorted((a, b) => a - b)
    return { gateway, className, ports: sorted(false), udpPorts: sorted(true), levels: found.levels }
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
