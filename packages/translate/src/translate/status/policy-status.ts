import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import type { Reason } from '../../resources/reasons.ts'
import type { Resource } from '../../resources/resource.ts'
import { condition } from '../../resources/status.ts'
import type { Condition, ParentReference, PolicyAncestorStatus, PolicyStatus } from '../../resources/status.ts'
import { recordOf, testsOf, verifiedCondition } from '../verified-policy.ts'
import type { Context, Query } from '../context.ts'
import { gatewayConfig } from '../gateways/gateway.ts'
import { gatewayBackends } from '../gateways/gateway-backends.ts'
import { isOurGateway } from '../listeners/listeners.ts'
import { MOST_KEYS } from '../policies/key-shares.ts'
import { unappliedHere } from '../policies/connection-policies.ts'
import { conflicts, fieldsOf } from '../policies/policy-conflicts.ts'
import { overriddenFields } from './overridden-fields.ts'
import { unheldAtPools } from './pool-policies.ts'
import { unheldAtSharedPlane } from '../policies/shared-plane-policies.ts'
import { policyPlan, type PolicyPlan } from '../policies/policy-plan.ts'
import { policyForce } from '../policy-force.ts'
import { type NamedTarget, namedTargets, attachmentPointsOf, hasListenerSet } from '../policies/policy-targets.ts'

const NO_BACKENDS: ReadonlySet<string> = new Set()

/** The limit of entries in a status. */
const MOST_ANCESTORS = 16

/** Keys of the backends of a Gateway. A separate query, because most changes keep them. */
const backendKeysOf: Query<string[]> = {
  name: 'backendKeysOf',
  compute: (context, gateway) =>
    (context.read(gatewayConfig, gateway)?.backends ?? []).map(({ key }) => key).toSorted(),
}

/** Sizes of key tables. A separate query, because most changes keep them. */
const keySizesOf: Query<Record<string, number>> = {
  name: 'keySizesOf',
  compute: (context, gateway) => context.read(gatewayBackends, gateway).keySizes,
}

/** One entry for each Gateway that the policy reaches, and one for each target without a Gateway. */
export const policyStatus: Query<PolicyStatus | null> = {
  name: 'policyStatus',
  compute(context, place) {
    const plan = context.read(policyPlan, place)
    const force = context.read(policyForce, place)
    if (plan === null || force === null) return null
    // The conditions describe the spec in force; `Verified` describes the newest one.
    const { generation = 0 } = (force.inForce ?? force.written).metadata
    const accepted = acceptance(context, place, plan, generation)
    const { controllerName } = context.settings
    const entry = (ancestorRef: ParentReference, conditions: Condition[]): PolicyAncestorStatus => ({
      ancestorRef,
      controllerName,
      conditions,
    })
    const { gateways, loose } = locateTargets(context, plan)
    const attachedAt = gateways.map((gateway) => {
      const [namespace = '', name = ''] = gateway.split('/')
      const size = context.read(keySizesOf, gateway)[place]
      const points = plan.targets
        .flatMap((target) => namedTargets(context, plan, target))
        .flatMap((target) => attachmentPointsOf(context, gateway, target, NO_BACKENDS))
      const overridden = context.read(overriddenFields, gateway)[`GwPolicy/${place}`] ?? []
      const unheld = [...unheldAtSharedPlane(context, gateway, plan, points), ...unheldAtPools(context, gateway, plan)]
      const notes = [
        ...(size === undefined ? [] : [printCut(size)]),
        unappliedHere(context, gateway, plan.traffic, points) ?? [],
        overridden,
        unheld,
      ]
      const isPart = accepted.status === 'True' && overridden.length + unheld.length > 0
      return entry({ group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, [
        {
          ...accepted,
          ...(isPart && { reason: 'PartiallyValid' as const }),
          message: [accepted.message, ...notes.flat()].join('; '),
        },
        attachment(accepted, loose.length === 0, generation),
      ])
    })
    const unattached = loose.map(({ ref, reason, message }) =>
      entry(ref, [
        accepted,
        condition('Attached', false, { reason, message: `Policy is not attached: ${message}`, generation }),
      ]),
    )
    const nowhere = attachedAt.length + unattached.length === 0 ? [entry(SUMMARY, [accepted])] : []
    return {
      ancestors: withinRoom([...attachedAt, ...unattached, ...nowhere], entry, generation),
      ...(context.settings.verify === 'required' && verificationOf(force.written)),
    }
  },
}

/** The part of the status about `spec.verify`, as the leader wrote it after the last run of the tests. */
function verificationOf(written: Resource): Pick<PolicyStatus, 'conditions' | 'verified'> {
  if (testsOf(written) === null) return {}
  const { generation = 0 } = written.metadata
  const message = 'The tests have not run yet'
  const pending: Condition = {
    ...condition('Verified', false, { reason: 'Pending', message, generation }),
    status: 'Unknown',
  }
  return { conditions: [verifiedCondition(written) ?? pending], verified: recordOf(written) ?? {} }
}

/** The Gateways that a GwPolicy reaches, by `namespace/name`. */
export const gatewaysOfPolicy: Query<string[]> = {
  name: 'gatewaysOfPolicy',
  compute(context, place) {
    const plan = context.read(policyPlan, place)
    return plan === null ? [] : locateTargets(context, plan).gateways
  },
}

function printCut(size: number): string {
  return `spec.traffic.rateLimit: each keyed limit is reduced to ${size} keys here, because all limits of the Gateway share ${MOST_KEYS}`
}

/** A reference to no object, for the entry that summarizes those left out, and for a policy without any target. */
const SUMMARY: ParentReference = { group: groupByKind.GwPolicy, kind: 'GwPolicy', name: 'StatusSummary' }

/** Leaves out entries that a status has no room for, and says so. */
export function withinRoom(
  ancestors: PolicyAncestorStatus[],
  entry: (ref: ParentReference, conditions: Condition[]) => PolicyAncestorStatus,
  generation: number,
): PolicyAncestorStatus[] {
  if (ancestors.length <= MOST_ANCESTORS) return ancestors
  const shown = ancestors.slice(0, MOST_ANCESTORS - 1)
  const message = `${ancestors.length - shown.length} more ancestors are left out`
  const summarized = condition('StatusSummarized', true, { reason: 'StatusSummarized', message, generation })
  return [...shown, entry(SUMMARY, [summarized])]
}

function attachment(accepted: Condition, isAll: boolean, generation: number): Condition {
  return accepted.status === 'True'
    ? condition('Attached', true, {
        reason: 'Attached',
        message: isAll ? 'Attached to all targets' : 'Attached to its targets here',
        generation,
      })
    : condition('Attached', false, {
        reason: 'Invalid',
        message: 'Policy is not attached due to invalid status',
        generation,
      })
}

function acceptance(context: Context, place: string, plan: PolicyPlan, generation: number): Condition {
  const fields = fieldsOf(plan)
  const taken = conflicts(context, place, plan)
  const lost = [...new Set(taken.map(({ winner }) => winner))].map((winner) => {
    const names = taken.filter((each) => each.winner === winner).map(({ field }) => field)
    return `${[...new Set(names)].join(', ')} is set for the same target by GwPolicy ${winner}, which takes precedence`
  })
  const message = [...plan.problems, ...lost].join('; ')
  const say = (isTrue: boolean, reason: Reason): Condition =>
    condition('Accepted', isTrue, { reason, message, generation })
  if (message === '') return condition('Accepted', true, { reason: 'Valid', message: 'Policy accepted', generation })
  const left = fields.filter(({ id }) => !taken.some(({ field, isWhole }) => isWhole && field === id))
  if (fields.length > 0 && left.length === 0) return say(false, 'Conflicted')
  return fields.length === 0 ? say(false, 'Invalid') : say(true, 'PartiallyValid')
}

interface LooseTarget {
  ref: ParentReference
  /** `Pending` when the target exists, but belongs to no Gateway yet. */
  reason: 'TargetNotFound' | 'Pending'
  message: string
}

/** Returns the Gateways of the targets, and the targets without a Gateway. */
function locateTargets(context: Context, plan: PolicyPlan): { gateways: string[]; loose: LooseTarget[] } {
  const gateways = new Set<string>()
  const loose: LooseTarget[] = []
  const ours = context.keys('Gateway').filter((gateway) => context.read(isOurGateway, gateway))
  for (const target of plan.targets) {
    const named = namedTargets(context, plan, target)
    if (named.length === 0) {
      const message = `no ${target.kind} matching selector found in namespace ${plan.namespace}`
      loose.push({ ref: { ...SUMMARY }, reason: 'TargetNotFound', message })
    }
    for (const each of named) {
      const found = ours.filter((gateway) => isPartOf(context, gateway, each))
      for (const gateway of found) gateways.add(gateway)
      if (found.length === 0) loose.push({ ref: referenceTo(each), ...whyLoose(context, each, ours) })
    }
  }
  return { gateways: [...gateways].toSorted(), loose }
}

function isPartOf(context: Context, gateway: string, target: NamedTarget): boolean {
  const isBackend = target.kind === 'Service' || target.kind === 'GwBackend' || target.kind === 'InferencePool'
  const backends = new Set(isBackend ? context.read(backendKeysOf, gateway) : [])
  return attachmentPointsOf(context, gateway, target, backends).length > 0
}

function referenceTo({ group, kind, key, sectionName }: NamedTarget): ParentReference {
  const [namespace = '', name = ''] = key.split('/')
  return { group, kind, namespace, name, ...(sectionName !== undefined && { sectionName }) }
}

function whyLoose(context: Context, target: NamedTarget, ours: readonly string[]): Omit<LooseTarget, 'ref'> {
  const { kind, key, sectionName } = target
  const missing = (message: string) => ({ reason: 'TargetNotFound', message }) as const
  if (context.get(kind, key) === undefined) return missing(`${kind} ${key} not found`)
  const isWholeFound =
    sectionName !== undefined &&
    ours.some((gateway) => isPartOf(context, gateway, { ...target, sectionName: undefined }))
  if (isWholeFound) return missing(`sectionName ${sectionName} of ${kind} ${key} not found`)
  return { reason: 'Pending', message: `${kind} ${key} ${whyUnused(context, target, ours)}` }
}

function whyUnused(context: Context, { kind, key }: NamedTarget, ours: readonly string[]): string {
  if (kind === 'Gateway') return ours.includes(key) ? 'has no usable listener' : 'belongs to another class'
  const isPart = kind === 'ListenerSet' && ours.some((gateway) => hasListenerSet(context, gateway, key))
  return isPart ? 'has no usable listener' : 'is not attached to any Gateway'
}
