import type { QuarantinedResource } from '@portico/gateway/checks'
import type { GatewayStatus, ListenerSetStatus, Resource } from '@portico/translate'
import type { DeployedFacts } from '../deployments.ts'
import { addressRequests, type GatewayAddress, hasScopes } from '../deploy/addresses.ts'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import { completeGatewayStatus, completeListenerSetStatus, type GatewayFacts } from './gateway-status.ts'
import { Grace } from './grace.ts'
import type { WantedStatus } from './merge.ts'
import { ProgrammedTracker, type Verdict } from './programmed-tracker.ts'

/** The state of the data planes of a Gateway, at whichever controller they are connected. */
export interface GatewayState {
  connected: number
  /** Connected data planes without a listening worker; omitted when there are none. */
  notServing?: number
  /** Whether a serving data plane runs the newest config. */
  acknowledged: boolean
  /** Problems of the newest rejection. */
  problems: readonly string[]
  /** Resources that a data plane quarantined, while it serves the rest; omitted when there are none. */
  quarantined?: readonly QuarantinedResource[]
}

export interface GatewayStatusTrackerOptions {
  find: (gateway: string) => Resource | undefined
  stateOf: (gateway: string) => GatewayState
  factsOf: (gateway: string) => DeployedFacts
  /** The number of ready Pods. */
  readyOf: (gateway: string) => number
  /** Whether all workloads were read, so that `readyOf` counts. */
  isReadyKnown: () => boolean
  /** Whether another controller is unreachable, so its data planes are unknown. */
  isIncomplete: () => boolean
  /** Called when the status of a Gateway may have changed. */
  changed: (gateway: string) => void
  /** Called when data planes reject the config of a Gateway for new reasons. */
  refused: (gateway: string, problems: string) => void
}

const COME_BACK_MS = 500

/** Combines deployment and data plane state into the status of Gateways. */
export class GatewayStatusTracker {
  readonly #options: GatewayStatusTrackerOptions
  readonly #programmed = new ProgrammedTracker()
  readonly #grace = new Grace()
  readonly #refusals = new Map<string, string>()
  /** Timers that check again Gateways that wait for data planes. */
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: GatewayStatusTrackerOptions) {
    this.#options = options
  }

  /** Completes a status; undefined when it is too early to report. */
  complete(key: string, status: GatewayStatus): WantedStatus | undefined {
    const { find, stateOf, factsOf } = this.#options
    const gateway = find(key)
    const generation = gateway?.metadata.generation ?? 0
    const { problems, notServing = 0 } = stateOf(key)
    const verdict = this.#judge(key, gateway)
    const { deployedGeneration, ...deployed } = factsOf(key)
    const requests = addressRequests(gateway)
    const isScoped = hasScopes(requests)
    const facts: GatewayFacts = {
      ...deployed,
      // Until the deployment reports addresses, those in the status stay.
      addresses: deployed.addresses ?? (listAt(gateway, 'status', 'addresses') as GatewayAddress[]),
      askedAddresses: isScoped ? [] : requests.flatMap(({ value }) => value || []),
      scopedRequests: isScoped && deployed.addresses !== null ? requests : null,
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
    const { stateOf, readyOf, isReadyKnown, isIncomplete } = this.#options
    const { connected, notServing = 0, acknowledged } = stateOf(key)
    return this.#programmed.judge(key, {
      connected,
      notServing,
      acknowledged,
      generation: gateway?.metadata.generation ?? 0,
      ready: readyOf(key),
      isReadyKnown: isReadyKnown(),
      isIncomplete: isIncomplete(),
      saidBefore: saysProgrammed(gateway),
    })
  }

  /** Called when a data plane of this Gateway connects, disconnects, applies or rejects a config. */
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

/** Whether this generation is deployed with the requested addresses, or cannot be. */
function isDeployed(
  { addresses, askedAddresses, parameterProblems, deployFailures }: GatewayFacts,
  generation: number,
  deployedGeneration: number | null,
): boolean {
  if (parameterProblems.length + deployFailures.length > 0) return true
  const isGiven = (asked: string): boolean => addresses.some(({ value }) => value === asked)
  return deployedGeneration === generation && askedAddresses.every(isGiven)
}

/** Whether the status belongs to an earlier generation. */
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
