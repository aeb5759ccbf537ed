import { backendsNamedIn } from '@portico/gateway/ir'
import type { AttachedPolicy, Backend, PolicyTarget } from '@portico/gateway/ir'
import { ownBackend } from '../backends/backend.ts'
import { placeOfOwn } from '../backends/referred-objects.ts'
import type { Context } from '../context.ts'
import { attachFilters } from './filter-plan.ts'
import { membersOf, sharedPlaneOf } from '../listeners/shared-data-plane.ts'
import { cutSize, MOST_KEYS, shareKeys } from './key-shares.ts'
import { policyPlan, type PolicyPlan } from './policy-plan.ts'
import { namedTargets, attachmentPointsOf } from './policy-targets.ts'
import { modelTable } from '../models/model-table.ts'
import { isTable } from '../models/table-members.ts'
import { compare } from '../precedence.ts'
import { placeOfPool, poolBackend } from '../backends/inference-pool.ts'
import { placeOfService, serviceBackend } from '../backends/service.ts'

/** The backends and policies that the GwPolicies of the cluster add to a Gateway. */
export interface PoliciesOfGateway {
  /** Backends of routes, and all backends that policies and backends call. */
  backends: Backend[]
  /**
   * When two policies target the same object, the later entry wins. So GwPolicies are sorted with the oldest last, and
   * inline policies of backends follow them.
   */
  policies: AttachedPolicy[]
  /** The key table size of each limit of a GwPolicy, by `namespace/name`, when it is smaller than requested. */
  keySizes: Record<string, number>
}

/**
 * Collects backends and policies until nothing new is found: policies target backends of routes, and call further backends
 * with policies. A cycle of calls yields each backend once.
 */
export function attachPolicies(
  context: Context,
  gateway: string,
  ofRoutes: { backends: readonly Backend[]; filters: readonly { filter: string; rule: string }[] },
): PoliciesOfGateway {
  const plans = context
    .keys('GwPolicy')
    .flatMap((place): [string, PolicyPlan][] => {
      const plan = context.read(policyPlan, place)
      return plan === null ? [] : [[place, plan]]
    })
    .toSorted(([, one], [, other]) => compare(other.age, one.age))
  const backends = new Map(ofRoutes.backends.map((backend) => [backend.key, backend]))
  const invalid = new Map(plans.flatMap(([, plan]) => plan.invalid.map((backend) => [backend.key, backend] as const)))
  const filters = attachFilters(context, ofRoutes.filters)
  for (;;) {
    const before = backends.size
    const targeted = [
      ...plans.flatMap(([place, plan]) => attachmentsOfPlan(context, gateway, { place, plan }, backends)),
      // A filter of a rule wins over policies that target the rule.
      ...filters,
    ]
    const inline = [...backends.keys()].flatMap((key) => inlineOf(context, key))
    for (const key of [...targeted, ...inline, ...backends.values()].flatMap(backendsNamedIn)) {
      const found = backends.has(key) ? null : (invalid.get(key) ?? backendAt(context, key))
      if (found !== null) backends.set(key, found)
    }
    if (backends.size !== before) continue
    const shared = shareKeys(targeted, keyRoom(context, gateway))
    return { backends: [...backends.values()], policies: [...shared, ...inline], keySizes: cutSizes(targeted, shared) }
  }
}

/** The Gateways of a shared data plane get equal shares of its memory. */
function keyRoom(context: Context, gateway: string): number {
  const plane = context.read(sharedPlaneOf, gateway)
  return plane === null ? MOST_KEYS : Math.floor(MOST_KEYS / context.read(membersOf, plane).length)
}

function attachmentsOfPlan(
  context: Context,
  gateway: string,
  { place, plan }: { place: string; plan: PolicyPlan },
  backends: ReadonlyMap<string, Backend>,
): AttachedPolicy[] {
  const { frontend, traffic, phase, backend } = plan
  if ([frontend, traffic, backend].every((part) => Object.keys(part ?? {}).length === 0)) return []
  const keys = new Set(backends.keys())
  const places = plan.targets
    .flatMap((target) => namedTargets(context, plan, target))
    .flatMap((target) => attachmentPointsOf(context, gateway, target, keys))
  // Two selectors may match the same object.
  const distinct = new Map(places.map((target) => [printTarget(target), target]))
  return [...distinct].map(([name, target]) => ({
    key: `policy/${place}@${name}`,
    target,
    frontend,
    traffic,
    phase,
    backend,
  }))
}

function printTarget(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway' : `${target.kind}/${target.key}`
}

function cutSizes(asked: readonly AttachedPolicy[], given: readonly AttachedPolicy[]): Record<string, number> {
  const sizes = asked.flatMap((policy, index) => {
    const size = policy.key.startsWith('policy/') ? cutSize(policy, given[index] ?? policy) : null
    const place = policy.key.slice('policy/'.length, policy.key.indexOf('@'))
    return size === null ? [] : [[place, size] as const]
  })
  return Object.fromEntries(sizes)
}

/** Inline policies of a GwBackend or of GwModels. */
function inlineOf(context: Context, key: string): AttachedPolicy[] {
  if (isTable(key)) return context.read(modelTable, key).policies
  const place = placeOfOwn(key)
  const made = place === null ? null : context.read(ownBackend, place)
  return made === null || 'reason' in made ? [] : made.policies
}

/** The backend of a key; one that cannot be used fails every call. */
function backendAt(context: Context, key: string): Backend | null {
  const service = placeOfService(key)
  const place = placeOfOwn(key)
  const pool = placeOfPool(key)
  const found =
    place !== null
      ? context.read(ownBackend, place)
      : service !== null
        ? context.read(serviceBackend, service)
        : pool !== null
          ? context.read(poolBackend, pool)
          : null
  if (found === null) return null
  return 'reason' in found
    ? { key, name: 'invalid', target: { kind: 'invalid', reason: found.message } }
    : found.backend
}
