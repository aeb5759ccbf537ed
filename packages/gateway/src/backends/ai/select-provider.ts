import type { Provider } from '../../llm/providers/provider.ts'
import { choose, type Standing } from '../../upstream/balance.ts'
import type { EndpointCall } from '../../upstream/endpoint-call.ts'
import type { Endpoints } from '../../upstream/endpoints.ts'
import type { ReadyProvider } from './provider.ts'

export interface ChosenProvider {
  provider: ReadyProvider
  visit: EndpointCall
}

interface ChoiceServices {
  endpoints: Pick<Endpoints, 'visit'>
  random: () => number
  monotonic: () => number
}

/** The providers of one backend, in groups of equals. */
export class ProviderGroups {
  readonly #groups: readonly (readonly ReadyProvider[])[]
  readonly #services: ChoiceServices
  /** Of all groups. */
  readonly count: number

  constructor(groups: readonly (readonly ReadyProvider[])[], services: ChoiceServices) {
    this.#groups = groups
    this.#services = services
    this.count = groups.flat().length
  }

  /** The one for the next try, with its visit; null when all were tried, or all of one vendor where that matters. */
  next(tried: ReadonlySet<ReadyProvider>, vendor?: Provider['name']): ChosenProvider | null {
    const { endpoints, random, monotonic } = this.#services
    // One provider has nobody to be compared with, and needs no look at the clock.
    let now = NaN
    const standingOf = ({ endpoint, owner }: ReadyProvider): Standing => {
      if (Number.isNaN(now)) now = monotonic()
      return endpoint.standing(now, owner.health?.eviction ?? null, false)
    }
    const groups =
      vendor === undefined
        ? this.#groups
        : this.#groups.map((group) => group.filter((each) => each.vendor.name === vendor))
    const provider = selectProvider(groups, tried, standingOf, random)
    return provider === null ? null : { provider, visit: endpoints.visit(provider.owner, provider.endpoint) }
  }
}

/**
 * The provider for the next try: from the first group that has one which was not tried and is not evicted; among the
 * equals of a group by power of two choices. Evicted ones are better than none. Null when all were tried.
 */
export function selectProvider(
  groups: readonly (readonly ReadyProvider[])[],
  tried: ReadonlySet<ReadyProvider>,
  standingOf: (provider: ReadyProvider) => Standing,
  random: () => number,
): ReadyProvider | null {
  // Most backends have one provider, and it is better than none.
  const only = groups.length === 1 && groups[0]?.length === 1 ? groups[0][0] : undefined
  if (only !== undefined && !tried.has(only)) return only
  const left = groups.map((group) =>
    group.filter((provider) => !tried.has(provider)).map((provider) => ({ provider, standing: standingOf(provider) })),
  )
  const usable = left.map((group) => group.filter(({ standing }) => !standing.evicted))
  const group = [...usable, ...left].find(({ length }) => length > 0)
  if (group === undefined) return null
  const standings = group.map(({ standing }) => standing)
  return group[choose(standings, random)]?.provider ?? null
}
