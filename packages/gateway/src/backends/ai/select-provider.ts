import type { Provider } from '../../llm/providers/provider.ts'
import { choose, type EndpointLease, type Endpoints, type Standing } from '@portico/http/client'
import type { ReadyProvider } from './provider.ts'

export interface ChosenProvider {
  provider: ReadyProvider
  /** The provider's endpoint, in use until the call has ended. */
  lease: EndpointLease
}

interface ChoiceServices {
  endpoints: Pick<Endpoints, 'lease'>
  random: () => number
  monotonic: () => number
}

/** The providers of one backend, in groups of equal priority. */
export class ProviderGroups {
  readonly #groups: readonly (readonly ReadyProvider[])[]
  readonly #services: ChoiceServices
  /** The number of providers in all groups. */
  readonly count: number

  constructor(groups: readonly (readonly ReadyProvider[])[], services: ChoiceServices) {
    this.#groups = groups
    this.#services = services
    this.count = groups.flat().length
  }

  /**
   * Chooses the provider of the next try, with its lease; null when all providers, or all of `vendor` if given, were
   * tried.
   */
  next(tried: ReadonlySet<ReadyProvider>, vendor?: Provider['name']): ChosenProvider | null {
    const { endpoints, random, monotonic } = this.#services
    // A single provider needs no comparison, and no clock.
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
    return provider === null ? null : { provider, lease: endpoints.lease(provider.owner, provider.endpoint) }
  }
}

/**
 * The provider for the next try: from the first group with a provider that is neither tried nor evicted, by power of
 * two choices within the group. Evicted providers are used when no other is left. Null when all were tried.
 */
export function selectProvider(
  groups: readonly (readonly ReadyProvider[])[],
  tried: ReadonlySet<ReadyProvider>,
  standingOf: (provider: ReadyProvider) => Standing,
  random: () => number,
): ReadyProvider | null {
  // Most backends have one provider, which is used even when evicted.
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
