import type { Quarantined } from '@portico/gateway/checks'
import type { GatewayStatus, ListenerSetStatus, Resource } from '@portico/translate'
import type { DeployedFacts } from '../deployments.ts'
import type { GatewayAddress } from '../deploy/addresses.ts'
import { listAt, textAt, valueAt } from '../deploy/json.ts'
import { completeGatewayStatus, completeListenerSetStatus, type GatewayFacts } from './gateway-status.ts'
import { Grace } from './grace.ts'
import type { WantedStatus } from './merge.ts'
import { Programmed, type Verdict } from './programmed.ts'

/** What is known of the data planes of a Gateway, wherever they are connected. */
export interface GatewayState {
  connected: number
  /** Connected data planes of which no worker listens; left out where there are none. */
  notServing?: number
  /** A data plane that serves runs the newest config. */
  acknowledged: boolean
  /** Of the newest refusal. */
  problems: readonly string[]
  /** Resources that a data plane closed, while it runs the rest; left out where there are none. */
  quarantined?: readonly Quarantined[]
}

export interface GatewayTruthOptions {
  find: (gateway: string) => Resource | undefined
  stateOf: (gateway: string) => GatewayState
  factsOf: (gateway: string) => DeployedFacts
  /** Pods that can serve. */
  readyOf: (gateway: string) => number
  /** There is another controller of which nothing is heard. */
  isBlind: () => boolean
  /** Its status may be another. */
  changed: (gateway: string) => void
  /** Data planes refuse its config, for other reasons than before. */
  refused: (gateway: string, problems: string) => void
}

const COME_BACK_MS = 500

/** What has become of Gateways in the cluster: deployed or not, taken by data planes or not. */
export class GatewayTruth {
  readonly #options: GatewayTruthOptions
  readonly #programmed = new Programmed()
  readonly #grace = new Grace()
  readonly #refusals = new Map<string, string>()
  /** Looks again at those that wait for data planes. */
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: GatewayTruthOptions) {
    this.#options = options
  }

  /** Undefined when it is too early to tell. */
  complete(key: string, status: GatewayStatus): WantedStatus | undefined {
    const { find, stateOf, factsOf } = this.#options
    const gateway = find(key)
    const generation = gateway?.metadata.generation ?? 0
    const { problems, notServing = 0 } = stateOf(key)
    const verdict = this.#judge(key, gateway)
    const { deployedGeneration, ...deployed } = factsOf(key)
    const facts: GatewayFacts = {
      ...deployed,
      // As long as nobody has looked, what was found before counts.
      addresses: deployed.addresses ?? (listAt(gateway, 'status', 'addresses') as GatewayAddress[]),
      askedAddresses: listAt(gateway, 'spec', 'addresses').flatMap((address) => textAt(address, 'value') || []),
      refusals: problems,
      isProgrammed: verdict === 'programmed',
      isLost: verdict === 'lost',
      notServing,
    }
    const isThere = isDeployed(facts, generation, deployedGeneration)
    const isOpen = verdict === 'unanswered' || (speaksOfEarlier(gateway) && !isThere)
    if (isOpen && this.#grace.holds(key, generation)) return this.#comeBack(key)
    return completeGatewayStatus(status, facts)
  }

  /** A ListenerSet is served with its Gateway. */
  completeSet(gateway: string, status: ListenerSetStatus): ListenerSetStatus {
    const verdict = this.#judge(gateway, this.#options.find(gateway))
    return completeListenerSetStatus(status, verdict)
  }

  #judge(key: string, gateway: Resource | undefined): Verdict {
    const { stateOf, readyOf, isBlind } = this.#options
    const { connected, notServing = 0, acknowledged } = stateOf(key)
    return this.#programmed.judge(key, {
      connected,
      notServing,
      acknowledged,
      generation: gateway?.metadata.generation ?? 0,
      ready: readyOf(key),
      isBlind: isBlind(),
      saidBefore: saysProgrammed(gateway),
    })
  }

  /** A data plane of this Gateway came, went, took or refused a config. */
  stateChanged(key: string): void {
    const problems = this.#options.stateOf(key).problems.join('; ')
    const before = this.#refusals.get(key) ?? ''
    if (problems === '') this.#refusals.delete(key)
    else this.#refusals.set(key, problems)
    if (problems !== '' && problems !== before) this.#options.refused(key, problems)
    this.#options.changed(key)
  }

  forget(key: string): void {
    this.#programmed.forget(key)
    this.#grace.forget(key)
    this.#refusals.delete(key)
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #comeBack(key: string): undefined {
    if (this.#timers.has(key)) return undefined
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      this.#options.changed(key)
    }, COME_BACK_MS)
    this.#timers.set(key, timer)
    return undefined
  }
}

/** Whether this generation is deployed, with the addresses that it asks for, or cannot be. */
function isDeployed(
  { addresses, askedAddresses, parameterProblems, deployFailures }: GatewayFacts,
  generation: number,
  deployedGeneration: number | null,
): boolean {
  if (parameterProblems.length + deployFailures.length > 0) return true
  const isGiven = (asked: string): boolean => addresses.some(({ value }) => value === asked)
  return deployedGeneration === generation && askedAddresses.every(isGiven)
}

/** Its status is that of a generation before. */
function speaksOfEarlier(gateway: Resource | undefined): boolean {
  const spoken = listAt(gateway, 'status', 'conditions').map((condition) => valueAt(condition, 'observedGeneration'))
  return spoken.some((generation) => typeof generation === 'number' && generation < (gateway?.metadata.generation ?? 0))
}

function saysProgrammed(gateway: Resource | undefined): boolean {
  return listAt(gateway, 'status', 'conditions').some(
    (condition) =>
      textAt(condition, 'type') === 'Programmed' &&
      textAt(condition, 'status') === 'True' &&
      valueAt(condition, 'observedGeneration') === gateway?.metadata.generation,
  )
}
