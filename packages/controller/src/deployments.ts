import type { Resource } from '@portico/translate'
import { Deployer, type WishedFor } from './deploy/deployer.ts'
import type { GatewayAddress } from './deploy/addresses.ts'
import { listAt, textAt, valueAt } from './deploy/json.ts'
import { findLevels } from './deploy/parameters-ref.ts'
import type { Cluster, Outcome } from './deploy/reconcile.ts'
import type { DeploySettings } from './deploy/render.ts'

export interface DeploymentsOptions {
  cluster: Cluster
  /** Read anew for every try. */
  settings: DeploySettings
  controllerName: string
  find: (kind: 'Gateway' | 'GatewayClass' | 'GwParameters', key: string) => Resource | undefined
  /** Whether the class of a Gateway is ours. */
  isOurs: (gateway: string) => boolean
  /** Ports that its config listens on, those of ListenerSets too. */
  portsOf: (gateway: string) => readonly number[]
  /** The facts about this Gateway may be others. */
  changed: (gateway: string) => void
  /** Told of every try. */
  tried: (gateway: string, outcome: Outcome) => void
}

/** How the data planes of a Gateway are deployed. */
export interface DeployedFacts {
  addresses: readonly GatewayAddress[] | null
  parameterProblems: readonly string[]
  deployFailures: readonly string[]
  /** Of the Gateway that was deployed last; null as long as none was. */
  deployedGeneration: number | null
}

const UNKNOWN: DeployedFacts = {
  addresses: null,
  parameterProblems: [],
  deployFailures: [],
  deployedGeneration: null,
}

/** Says what is to be deployed for each Gateway, and knows what has become of it. */
export class Deployments {
  readonly #options: DeploymentsOptions
  readonly #deployer: Deployer
  readonly #factsByKey = new Map<string, DeployedFacts>()
  /** What was last wished for, to see what is new. */
  readonly #wishTexts = new Map<string, string>()
  readonly #generations = new Map<string, number>()

  constructor(options: DeploymentsOptions) {
    this.#options = options
    const { cluster, settings } = options
    this.#deployer = new Deployer({ cluster, settings, report: (key, outcome) => this.#report(key, outcome) })
  }

  factsOf(gateway: string): DeployedFacts {
    return this.#factsByKey.get(gateway) ?? UNKNOWN
  }

  /** A Gateway, its class, its parameters or its listeners may be others. */
  refresh(key: string): void {
    const gateway = this.#options.find('Gateway', key)
    if (gateway === undefined || Reflect.get(gateway.metadata, 'deletionTimestamp') !== undefined)
      return this.#forget(key)
    if (this.#isOthers(gateway)) return this.#release(key, gateway)
    // Its class is not there: it may come back, and until then its data planes serve what they have.
    if (!this.#options.isOurs(key)) return this.#forget(key)
    const wish = this.#wishOf(key, gateway)
    if (!('problems' in wish)) return this.#want(key, wish)
    // What is deployed stays as it is until the parameters are right.
    this.#deployer.forget(key)
    this.#wishTexts.delete(key)
    this.#set(key, { ...this.factsOf(key), parameterProblems: wish.problems })
  }

  /** Somebody has changed something of it, or what holds for all Gateways is another. */
  touch(key: string): void {
    const gateway = this.#options.find('Gateway', key)
    // Deployed in an earlier life.
    if (gateway !== undefined && this.#isOthers(gateway)) this.#deployer.release(key, gateway)
    else this.#deployer.touch(key)
  }

  touchAll(): void {
    for (const key of this.#wishTexts.keys()) this.#deployer.touch(key)
  }

  start(): void {
    this.#deployer.start()
  }

  stop(): Promise<void> {
    return this.#deployer.stop()
  }

  /** Whether another controller serves it. */
  #isOthers(gateway: Resource): boolean {
    const gatewayClass = this.#options.find('GatewayClass', textAt(gateway.spec, 'gatewayClassName') ?? '')
    if (gatewayClass === undefined) return false
    return textAt(gatewayClass.spec, 'controllerName') !== this.#options.controllerName
  }

  #wishOf(key: string, gateway: Resource): WishedFor | { problems: readonly string[] } {
    const { find, portsOf } = this.#options
    const className = textAt(gateway.spec, 'gatewayClassName') ?? ''
    const gatewayClass = find('GatewayClass', className)
    const found = findLevels({ gatewayClass, gateway, find: (place) => find('GwParameters', place) })
    if (!found.ok) return found
    const own = listAt(gateway.spec, 'listeners').map((listener) => Number(valueAt(listener, 'port')))
    const ports = [...new Set([...own, ...portsOf(key)])].toSorted((one, other) => one - other)
    return { gateway, className, ports, levels: found.levels }
  }

  #want(key: string, wish: WishedFor): void {
    const { uid, generation, labels, annotations } = wish.gateway.metadata
    const text = JSON.stringify([uid, generation, labels, annotations, wish.className, wish.ports, wish.levels])
    if (this.#wishTexts.get(key) === text) return
    this.#wishTexts.set(key, text)
    this.#generations.set(key, generation ?? 0)
    if (!this.#factsByKey.has(key)) this.#factsByKey.set(key, UNKNOWN)
    this.#deployer.want(key, wish)
  }

  #release(key: string, gateway: Resource): void {
    if (!this.#factsByKey.delete(key)) return
    this.#wishTexts.delete(key)
    this.#generations.delete(key)
    this.#deployer.release(key, gateway)
  }

  #forget(key: string): void {
    this.#factsByKey.delete(key)
    this.#wishTexts.delete(key)
    this.#generations.delete(key)
    this.#deployer.forget(key)
  }

  #report(key: string, outcome: Outcome): void {
    this.#options.tried(key, outcome)
    if (!this.#wishTexts.has(key)) return
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
