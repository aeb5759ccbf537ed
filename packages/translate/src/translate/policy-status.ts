import { frontendPolicies, trafficPolicies } from '@portico/gateway/schema'
import { GATEWAY_GROUP, groupByKind } from '../resources/kinds.ts'
import { condition } from '../resources/status.ts'
import type { Condition, ParentReference, PolicyAncestorStatus, PolicyStatus } from '../resources/status.ts'
import type { Context, Query } from './context.ts'
import { gatewayConfig } from './gateway.ts'
import { isOurGateway } from './listeners.ts'
import { policyPlan, type PolicyPlan } from './policy-plan.ts'
import { type NamedTarget, namedTargets, placesOf } from './policy-targets.ts'

/** A status has room for so many entries. */
const MOST_ANCESTORS = 16

/** Keys of the backends of a Gateway: most changes of its config leave them as they are. */
const backendKeysOf: Query<string[]> = {
  name: 'backendKeysOf',
  compute: (context, gateway) =>
    (context.read(gatewayConfig, gateway)?.backends ?? []).map(({ key }) => key).toSorted(),
}

/** One entry for each Gateway that it reaches, and one for each target that no Gateway leads to. */
export const policyStatus: Query<PolicyStatus | null> = {
  name: 'policyStatus',
  compute(context, place) {
    const plan = context.read(policyPlan, place)
    const resource = context.get('GwPolicy', place)
    if (plan === null || resource === undefined) return null
    const { generation = 0 } = resource.metadata
    const accepted = acceptance(context, place, plan, generation)
    const { controllerName } = context.settings
    const entry = (ancestorRef: ParentReference, conditions: Condition[]): PolicyAncestorStatus => ({
      ancestorRef,
      controllerName,
      conditions,
    })
    const { gateways, loose } = whereabouts(context, plan)
    const attachedAt = gateways.map((gateway) => {
      const [namespace = '', name = ''] = gateway.split('/')
      return entry({ group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, [
        accepted,
        attachment(accepted, loose.length === 0, generation),
      ])
    })
    const unattached = loose.map(({ ref, message }) =>
      entry(ref, [
        accepted,
        condition('Attached', false, { reason: 'Pending', message: `Policy is not attached: ${message}`, generation }),
      ]),
    )
    const nowhere = attachedAt.length + unattached.length === 0 ? [entry(SUMMARY, [accepted])] : []
    return { ancestors: withinRoom([...attachedAt, ...unattached, ...nowhere], entry, generation) }
  },
}

/** Not an object: what could not be said of one. */
const SUMMARY: ParentReference = { group: groupByKind.GwPolicy, kind: 'GwPolicy', name: 'StatusSummary' }

function withinRoom(
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
        reason: 'Pending',
        message: 'Policy is not attached due to invalid status',
        generation,
      })
}

function acceptance(context: Context, place: string, plan: PolicyPlan, generation: number): Condition {
  const fields = fieldsOf(plan)
  const taken = conflicts(context, place, plan)
  const lost = [...new Set(taken.map(({ winner }) => winner))].map((winner) => {
    const names = taken.filter((each) => each.winner === winner).map(({ field }) => field)
    return `${[...new Set(names)].join(', ')} is set for the same target by GwPolicy ${winner}, which comes first`
  })
  const message = [...plan.problems, ...lost].join('; ')
  const say = (isTrue: boolean, reason: string): Condition =>
    condition('Accepted', isTrue, { reason, message, generation })
  if (message === '') return condition('Accepted', true, { reason: 'Valid', message: 'Policy accepted', generation })
  const left = fields.filter(({ id }) => !taken.some(({ field, isWhole }) => isWhole && field === id))
  if (fields.length > 0 && left.length === 0) return say(false, 'Conflicted')
  return fields.length === 0 ? say(false, 'Invalid') : say(true, 'PartiallyValid')
}

interface PolicyField {
  /** `traffic.cors`; before routing `traffic.PreRouting.cors`. */
  id: string
  isJoined: boolean
}

const JOINED = new Set(
  [...trafficPolicies, ...frontendPolicies]
    .filter(({ merge }) => merge === 'join')
    .map(({ section, name }) => `${section}.${name}`),
)

function fieldsOf({ frontend, traffic, backend, phase }: PolicyPlan): PolicyField[] {
  const named = (section: string, fields: object | null): PolicyField[] =>
    Object.keys(fields ?? {}).map((name) => ({
      id: section === 'traffic' && phase === 'PreRouting' ? `traffic.PreRouting.${name}` : `${section}.${name}`,
      // Rules about MCP are joined; who may call at all is not.
      isJoined: JOINED.has(`${section}.${name}`) || (name === 'mcp' && backend?.mcp?.authentication === undefined),
    }))
  return [...named('frontend', frontend), ...named('traffic', traffic), ...named('backend', backend)]
}

/** Fields that an older policy sets for the same target; `isWhole` where that is so for every target. */
function conflicts(
  context: Context,
  place: string,
  plan: PolicyPlan,
): { field: string; winner: string; isWhole: boolean }[] {
  const fields = fieldsOf(plan).filter(({ isJoined }) => !isJoined)
  const targets = targetIds(context, plan)
  if (fields.length === 0 || targets.length === 0) return []
  const older = context.keys('GwPolicy', { by: 'namespace', value: plan.namespace }).flatMap((other) => {
    const found = other === place ? null : context.read(policyPlan, other)
    if (found === null || found.age >= plan.age) return []
    return [
      {
        other,
        age: found.age,
        fields: new Set(fieldsOf(found).map(({ id }) => id)),
        targets: new Set(targetIds(context, found)),
      },
    ]
  })
  const first = older.toSorted((one, other) => (one.age < other.age ? -1 : 1))
  return fields.flatMap(({ id }) => {
    const winners = targets.map((target) => first.find((each) => each.fields.has(id) && each.targets.has(target)))
    const [winner] = winners.filter((each) => each !== undefined)
    return winner === undefined
      ? []
      : [{ field: id, winner: winner.other, isWhole: winners.every((each) => each !== undefined) }]
  })
}

function targetIds(context: Context, plan: PolicyPlan): string[] {
  const named = plan.targets.flatMap((target) => namedTargets(context, plan, target))
  return named.map(({ kind, key, sectionName = '' }) => `${kind}/${key}/${sectionName}`)
}

interface LooseTarget {
  ref: ParentReference
  message: string
}

/** Gateways that its targets are part of, and the targets that are part of none. */
function whereabouts(context: Context, plan: PolicyPlan): { gateways: string[]; loose: LooseTarget[] } {
  const gateways = new Set<string>()
  const loose: LooseTarget[] = []
  const ours = context.keys('Gateway').filter((gateway) => context.read(isOurGateway, gateway))
  for (const target of plan.targets) {
    const named = namedTargets(context, plan, target)
    if (named.length === 0) {
      const message = `no ${target.kind} matching selector found in namespace ${plan.namespace}`
      loose.push({ ref: { ...SUMMARY }, message })
    }
    for (const each of named) {
      const found = ours.filter((gateway) => isPartOf(context, gateway, each))
      for (const gateway of found) gateways.add(gateway)
      if (found.length === 0) loose.push({ ref: referenceTo(each), message: whyLoose(context, each, ours) })
    }
  }
  return { gateways: [...gateways].toSorted(), loose }
}

function isPartOf(context: Context, gateway: string, target: NamedTarget): boolean {
  const isBackend = target.kind === 'Service' || target.kind === 'GwBackend'
  const backends = new Set(isBackend ? context.read(backendKeysOf, gateway) : [])
  return placesOf(context, gateway, target, backends).length > 0
}

function referenceTo({ group, kind, key, sectionName }: NamedTarget): ParentReference {
  const [namespace = '', name = ''] = key.split('/')
  return { group, kind, namespace, name, ...(sectionName !== undefined && { sectionName }) }
}

function whyLoose(context: Context, target: NamedTarget, ours: readonly string[]): string {
  const { kind, key, sectionName } = target
  if (context.get(kind, key) === undefined) return `${kind} ${key} not found`
  const isWholeFound =
    sectionName !== undefined &&
    ours.some((gateway) => isPartOf(context, gateway, { ...target, sectionName: undefined }))
  if (isWholeFound) return `sectionName ${sectionName} of ${kind} ${key} not found`
  return kind === 'Gateway' ? `${kind} ${key} is of another class` : `${kind} ${key} is not attached to any Gateway`
}
