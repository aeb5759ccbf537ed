import { commented, withoutAbsent } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import type { Deployment } from './deployment.ts'
import type { Fallbacks } from './fallbacks.ts'

/** A model in our config. */
type Model = Readonly<Record<string, unknown>> & { readonly name: string }

/** A name that clients send, and its deployments. */
export interface Group {
  readonly name: string
  readonly deployments: readonly Deployment[]
}

/** So many providers may stand behind one model. */
const MOST_DEPLOYMENTS = 64

/** How LiteLLM chooses a deployment of a group. */
export type Strategy = 'Weight' | 'Speed' | 'Price'

/** The deployments by name, in the order of the file. A pattern has one deployment: virtual models have exact names. */
export function groupsOf(deployments: readonly Deployment[]): Group[] {
  const groups = new Map<string, Deployment[]>()
  for (const deployment of deployments) {
    const found = groups.get(deployment.name)
    if (found === undefined) groups.set(deployment.name, [deployment])
    else if (deployment.name.includes('*')) {
      deployment.field.notCarried('a pattern can have one deployment, because virtual models need exact names')
    } else if (found.length >= MOST_DEPLOYMENTS) {
      deployment.field.notCarried(`a model has at most ${MOST_DEPLOYMENTS} providers`)
    } else found.push(deployment)
  }
  return [...groups].map(([name, members]) => ({ name, deployments: members }))
}

/** The models of all groups: deployments, pools of deployments, and chains of fallbacks. */
export function modelsOf(groups: readonly Group[], fallbacks: Fallbacks, strategy: Strategy): Model[] {
  return groups.flatMap((group) => modelsOfGroup(group, fallbacks, strategy))
}

/** The model that has all deployments of a group, and no fallbacks. */
function poolName(name: string, fallbacks: Fallbacks): string {
  return hasChain(name, fallbacks) ? `${name}@pool` : name
}

function hasChain(name: string, { next, contextLength, contentFilter }: Fallbacks): boolean {
  return !name.includes('*') && [next, contextLength, contentFilter].some((table) => table.has(name))
}

function modelsOfGroup(group: Group, fallbacks: Fallbacks, strategy: Strategy): Model[] {
  const { name } = group
  const isChained = hasChain(name, fallbacks)
  const pool = poolModels(group, poolName(name, fallbacks), isChained, strategy)
  if (!isChained) return pool
  const next = fallbacks.next.get(name) ?? []
  const chain: Model = withoutAbsent({
    name,
    targets: [name, ...next].map((each) => ({ model: poolName(each, fallbacks) })),
    fallback: fallbackOf(name, fallbacks),
  })
  const extra = (['contextLength', 'contentFilter'] as const).flatMap((kind) => {
    const list = fallbacks[kind].get(name) ?? []
    if (list.length < 2) return []
    const targets = list.map((each) => ({ model: poolName(each, fallbacks) }))
    return [{ name: `${name}@${kind}`, visibility: 'Internal', targets }]
  })
  return [chain, ...pool, ...extra]
}

function fallbackOf(name: string, fallbacks: Fallbacks): object | undefined {
  const after = (kind: 'contextLength' | 'contentFilter'): string | undefined => {
    const list = fallbacks[kind].get(name)
    if (list === undefined) return fallbacks.isSilent[kind] && fallbacks.next.has(name) ? 'next' : undefined
    return list.length === 1 && list[0] !== undefined ? poolName(list[0], fallbacks) : `${name}@${kind}`
  }
  const found = withoutAbsent({ contextLength: after('contextLength'), contentFilter: after('contentFilter') })
  return Object.keys(found).length === 0 ? undefined : found
}

/** A deployment alone, or a virtual model over several; those with a smaller `order` come first. */
function poolModels({ deployments }: Group, name: string, isInternal: boolean, strategy: Strategy): Model[] {
  const [only] = deployments
  if (only !== undefined && deployments.length === 1) return [providerModel(only, name, isInternal)]
  const members = deployments.map((deployment, index) => ({ deployment, model: `${name}@${index + 1}` }))
  const orders = [...new Set(deployments.map(orderOf))].toSorted((a, b) => a - b)
  const choice = (own: string, list: typeof members, isHidden: boolean): Model[] =>
    choose(
      own,
      list.map(({ deployment, model }) => ({ model, weight: weightOf(deployment, deployments) })),
      { strategy, isHidden },
    )
  const steps = orders.map((order) => {
    const list = members.filter(({ deployment }) => orderOf(deployment) === order)
    const [first] = list
    if (first !== undefined && list.length === 1) return { model: first.model, models: [] }
    const own = orders.length === 1 ? name : `${name}@order${order}`
    return { model: own, models: choice(own, list, isInternal || orders.length > 1) }
  })
  const inOrder: Model = withoutAbsent({
    name,
    visibility: isInternal ? 'Internal' : undefined,
    targets: steps.map(({ model }) => ({ model })),
  })
  return [
    ...(orders.length === 1 ? [] : [inOrder]),
    ...steps.flatMap(({ models }) => models),
    ...members.map(({ deployment, model }) => providerModel(deployment, model, true)),
  ]
}

interface WeightedTarget {
  readonly model: string
  readonly weight: number
}

/** A virtual model has at most this many targets. */
const MOST_TARGETS = 16

/** A virtual model over targets; many targets are divided among further virtual models. */
function choose(
  name: string,
  targets: readonly WeightedTarget[],
  { strategy, isHidden }: { strategy: Strategy; isHidden: boolean },
): Model[] {
  const parts = targets.length <= MOST_TARGETS ? [] : chunksOf(targets, MOST_TARGETS)
  const inner = parts.map((part, index) => choose(`${name}@part${index + 1}`, part, { strategy, isHidden: true }))
  const listed =
    parts.length === 0
      ? targets
      : parts.map((part, index) => ({
          model: `${name}@part${index + 1}`,
          weight: part.reduce((sum, { weight }) => sum + weight, 0),
        }))
  // A choice needs a weight above 0, and LiteLLM cannot choose either when all are 0.
  const isWeighted = strategy === 'Weight' && listed.some(({ weight }) => weight > 0)
  const model: Model = withoutAbsent({
    name,
    visibility: isHidden ? 'Internal' : undefined,
    targets: listed.map(({ model: target, weight }) =>
      isWeighted && weight !== 1 ? { model: target, weight: Math.min(weight, 1_000_000) } : { model: target },
    ),
    by: strategy,
  })
  return [model, ...inner.flat()]
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_each, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

function orderOf({ order }: Deployment): number {
  return order ?? 1
}

/** LiteLLM shuffles by `weight`, else by `rpm`, else by `tpm`, when the first deployment has one. */
function weightOf({ weight, rpm, tpm }: Deployment, all: readonly Deployment[]): number {
  if (all[0]?.weight != null)
    return whole(
      weight ?? 0,
      all.map((each) => each.weight ?? 0),
    )
  if (all[0]?.rpm != null) return whole(rpm ?? 0, [])
  return all[0]?.tpm != null ? Math.min(whole(tpm ?? 0, []), 1_000_000) : 1
}

/** Weights are whole numbers here; fractions such as 0.9 and 0.1 are multiplied. */
function whole(value: number, all: readonly number[]): number {
  const factor = all.every((each) => Number.isInteger(each)) ? 1 : 1_000
  return Math.min(Math.round(value * factor), 1_000_000)
}

function providerModel({ provider, policies, price, field }: Deployment, name: string, isInternal: boolean): Model {
  return commented(
    withoutAbsent({
      name,
      visibility: isInternal ? 'Internal' : undefined,
      provider,
      policies: policies ?? undefined,
      price: price ?? undefined,
    }),
    positionText(field.at),
  )
}
