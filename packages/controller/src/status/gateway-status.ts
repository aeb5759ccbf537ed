import type { Condition, GatewayStatus, ListenerSetStatus, ListenerStatus, Reason } from '@portico/translate'
import { type AddressRequest, type GatewayAddress, printRequest, unsatisfiedRequests } from '../deploy/addresses.ts'
import type { WantedStatus } from './merge.ts'
import type { Verdict as Standing } from './programmed-tracker.ts'

/** Facts about a Gateway that translation cannot know. */
export interface GatewayFacts {
  addresses: readonly GatewayAddress[]
  /** The addresses that the Gateway requests; empty when requests name scopes. */
  askedAddresses: readonly string[]
  /** The requests of a Gateway that names scopes, once addresses are known; null for other Gateways. */
  scopedRequests: readonly AddressRequest[] | null
  /** Problems with its parameters. */
  parameterProblems: readonly string[]
  /** Requests that have no effect, because the Gateway shares its data plane. */
  ignoredParameters?: readonly string[]
  /** The GwParameters of the shared data plane; absent for a Gateway with its own. */
  sharedBy?: string
  /** Failures of the deployment. */
  deployFailures: readonly string[]
  /** Problems that data planes found with the newest config. */
  refusals: readonly string[]
  isProgrammed: boolean
  /** Whether the Gateway was served, and no data plane serves it any more. */
  isLost: boolean
  /** Connected data planes without a listening worker. */
  notServing: number
}

interface Verdict {
  reason: Reason
  message: string
}

/** Completes the status of a Gateway with its state in the cluster. */
export function completeGatewayStatus(translated: GatewayStatus, facts: GatewayFacts): WantedStatus {
  const { addresses } = facts
  const status = withIgnored(translated, facts)
  const verdict = verdictOf(facts)
  const assigned = assignment(status, facts)
  if (verdict === null) return { ...status, addresses, conditions: [...status.conditions, ...assigned] }
  const completed = status.conditions.map((condition) => {
    if (condition.type === 'Programmed') return unless(condition, verdict)
    const isInvalid = condition.type === 'Accepted' && facts.parameterProblems.length > 0
    return isInvalid ? unless(condition, { ...verdict, reason: 'InvalidParameters' }) : condition
  })
  const forListeners: Verdict = verdict.reason === 'Invalid' ? verdict : { ...verdict, reason: 'Pending' }
  const listeners = status.listeners.map((listener) => ({ ...listener, ...programmedUnless(listener, forListeners) }))
  return { ...status, addresses, conditions: [...completed, ...assigned], listeners }
}

/** A Gateway whose parameters have no effect is not accepted, but served. */
function withIgnored(status: GatewayStatus, { ignoredParameters = [] }: GatewayFacts): GatewayStatus {
  if (ignoredParameters.length === 0) return status
  const verdict: Verdict = { reason: 'InvalidParameters', message: ignoredParameters.join('; ') }
  const conditions = status.conditions.map((one) => (one.type === 'Accepted' ? unless(one, verdict) : one))
  return { ...status, conditions }
}

/** The condition that says which requests for addresses of a scope are satisfied. */
function assignment({ conditions: [first] }: GatewayStatus, facts: GatewayFacts): Condition[] {
  const { scopedRequests: requests, addresses } = facts
  if (requests === null) return []
  const lacking = unsatisfiedRequests(requests, addresses)
  const isWhole = lacking.length === 0
  const reason: Reason = isWhole ? 'Assigned' : lacking.length < requests.length ? 'PartiallyAssigned' : 'NotAssigned'
  const message = isWhole
    ? 'All addresses are assigned'
    : `Not assigned: ${lacking.map(printRequest).join(', ')}${unappliedAddresses(facts)}`
  const observedGeneration = first?.observedGeneration ?? 0
  return [{ type: 'AddressesAssigned', status: isWhole ? 'True' : 'False', reason, message, observedGeneration }]
}

/** One Gateway must not take addresses for all that share its data plane. */
function unappliedAddresses({ sharedBy }: Pick<GatewayFacts, 'sharedBy'>): string {
  return sharedBy === undefined
    ? ''
    : `; spec.addresses has no effect on a shared data plane: set the address in the overlay \`service\` of GwParameters ${sharedBy}`
}

/** Completes the status of a ListenerSet, which is programmed with its Gateway. */
export function completeListenerSetStatus(status: ListenerSetStatus, standing: Standing): ListenerSetStatus {
  if (standing === 'programmed' || standing === 'unanswered') return status
  const verdict: Verdict = { reason: 'Pending', message: standing === 'lost' ? NOT_SERVED : NOT_TAKEN }
  const listeners = status.listeners.map((listener) => ({ ...listener, ...programmedUnless(listener, verdict) }))
  return { ...programmedUnless(status, verdict), listeners }
}

function programmedUnless(
  { conditions }: Pick<ListenerStatus, 'conditions'>,
  verdict: Verdict,
): Pick<ListenerStatus, 'conditions'> {
  return { conditions: conditions.map((one) => (one.type === 'Programmed' ? unless(one, verdict) : one)) }
}

/** Returns why the Gateway is not programmed; null when it is. */
function verdictOf({
  addresses,
  askedAddresses,
  parameterProblems,
  deployFailures,
  refusals,
  isProgrammed,
  isLost,
  notServing,
  sharedBy,
}: GatewayFacts): Verdict | null {
  if (parameterProblems.length > 0) return { reason: 'Invalid', message: parameterProblems.join('; ') }
  if (refusals.length > 0)
    return { reason: 'Invalid', message: `A data plane rejected the config: ${refusals.join('; ')}` }
  const missing = askedAddresses.filter((asked) => addresses.every(({ value }) => value !== asked))
  if (missing.length > 0)
    return {
      reason: 'AddressNotUsable',
      message: `Not assigned by the platform: ${missing.join(', ')}${unappliedAddresses({ sharedBy })}`,
    }
  if (isLost && deployFailures.length === 0) {
    const why = notServing === 0 ? NOT_SERVED : `${NOT_SERVED}: ${notServing} connected without a listening worker`
    return { reason: 'NotServing', message: why }
  }
  if (!isProgrammed) {
    const why = deployFailures.length === 0 ? [NOT_TAKEN] : deployFailures
    return { reason: 'Pending', message: why.join('; ') }
  }
  if (addresses.length === 0) {
    return { reason: 'AddressNotAssigned', message: 'No address has been assigned yet' }
  }
  return null
}

/** Sets a condition to false, unless it is false already: the earlier reason wins. */
function unless(condition: Condition, { reason, message }: Verdict): Condition {
  return condition.status === 'True' ? { ...condition, status: 'False', reason, message: shorten(message) } : condition
}

function shorten(message: string): string {
  return message.length <= MOST_TEXT ? message : `${message.slice(0, MOST_TEXT - 1)}…`
}

/** The longest message; the server allows more, but nobody reads it. */
const MOST_TEXT = 4096
const NOT_SERVED = 'No data plane serves the Gateway any more'
const NOT_TAKEN = 'No data plane has accepted the config yet'
