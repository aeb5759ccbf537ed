import type { AttachedPolicy } from '@portico/gateway/ir'

/**
 * The number of rate limit keys for all resources of a Gateway. A data plane has memory for four million; the rest is
 * reserved for its config file.
 */
export const MOST_KEYS = 3_500_000

type RateLimit = NonNullable<NonNullable<AttachedPolicy['traffic']>['rateLimit']>
type Forms = readonly { policy: { local?: readonly LocalLimit[] | undefined } }[]
type LocalLimit = NonNullable<RateLimit['local']>[number]

const DEFAULT_SIZE = 10_000

/**
 * Cuts the key tables of policies so that they fit into the memory of a data plane. Namespaces get equal shares, and the
 * limits of a namespace share equally. A request below its share is granted in full, so no namespace takes memory from
 * another that stays within its share.
 */
export function shareKeys(policies: readonly AttachedPolicy[], room: number = MOST_KEYS): AttachedPolicy[] {
  const asked = new Map<string, number[]>()
  for (const policy of policies) {
    for (const { keys } of keyedLimits(policy)) {
      const namespace = namespaceOf(policy.key)
      const sizes = asked.get(namespace) ?? []
      asked.set(namespace, sizes)
      sizes.push(keys?.size ?? DEFAULT_SIZE)
    }
  }
  const totals = [...asked.values()].map(sum)
  const share = levelOf(totals, room)
  const mostByNamespace = new Map([...asked].map(([namespace, sizes]) => [namespace, levelOf(sizes, share)]))
  return policies.map((policy) => {
    const most = mostByNamespace.get(namespaceOf(policy.key)) ?? Infinity
    const isWithin = keyedLimits(policy).every(({ keys }) => (keys?.size ?? DEFAULT_SIZE) <= most)
    return isWithin ? policy : { ...policy, traffic: { ...policy.traffic, rateLimit: cutTo(policy, most) } }
  })
}

/** The size to which the tables of a policy were cut; null when they were not. */
export function cutSize(asked: AttachedPolicy, given: AttachedPolicy): number | null {
  const sizes = keyedLimits(given).map(({ keys }) => keys?.size ?? DEFAULT_SIZE)
  const isCut = keyedLimits(asked).some(({ keys }, index) => (keys?.size ?? DEFAULT_SIZE) !== sizes[index])
  return isCut ? Math.max(...sizes) : null
}

/** Returns the largest cap with which all sizes fit into the room; Infinity when no size has to be cut. */
function levelOf(asked: readonly number[], room: number): number {
  let [left, count] = [room, asked.length]
  for (const amount of asked.toSorted((one, other) => one - other)) {
    if (amount * count > left) return Math.max(1, Math.floor(left / count))
    left -= amount
    count--
  }
  return Infinity
}

function keyedLimits({ traffic }: AttachedPolicy): LocalLimit[] {
  const limits = traffic?.rateLimit
  if (limits === undefined) return []
  const forms: Forms = limits.conditional ?? [{ policy: limits }]
  return forms.flatMap(({ policy }) => policy.local ?? []).filter(({ key }) => key !== undefined)
}

function cutTo({ traffic }: AttachedPolicy, most: number): RateLimit {
  const cut = <Limits extends { local?: LocalLimit[] | undefined }>(limits: Limits): Limits =>
    limits.local === undefined ? limits : { ...limits, local: limits.local.map((each) => cutLimit(each, most)) }
  const limits = traffic?.rateLimit ?? {}
  const { conditional } = limits
  if (conditional === undefined) return cut(limits)
  return {
    ...limits,
    conditional: conditional.map((form) => ({ ...form, policy: cut(form.policy as RateLimit) })),
  }
}

function cutLimit(limit: LocalLimit, most: number): LocalLimit {
  if (limit.key === undefined) return limit
  const { size = DEFAULT_SIZE, failureMode = 'FailClosed' as const } = limit.keys ?? {}
  return size <= most ? limit : { ...limit, keys: { size: most, failureMode } }
}

/** Returns the namespace in `policy/<namespace>/<name>@…`, the key of an attached GwPolicy. */
function namespaceOf(key: string): string {
  return key.split('/')[1] ?? ''
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
