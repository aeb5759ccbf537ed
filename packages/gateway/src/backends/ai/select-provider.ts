import type { Standing } from '../../upstream/balance.ts'
import { choose } from '../../upstream/balance.ts'
import type { ReadyProvider } from './provider.ts'

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
  const [first] = groups
  // Most backends have one provider, and it is better than none.
  if (groups.length === 1 && first?.length === 1 && !tried.has(first[0]!)) return first[0]!
  const left = groups.map((group) => group.filter((provider) => !tried.has(provider)))
  const standings = new Map(left.flat().map((provider) => [provider, standingOf(provider)]))
  const usable = left.map((group) => group.filter((provider) => !standings.get(provider)!.evicted))
  const group = usable.find((providers) => providers.length > 0) ?? left.find((providers) => providers.length > 0)
  if (group === undefined) return null
  return (
    group[
      choose(
        group.map((provider) => standings.get(provider)!),
        random,
      )
    ] ?? null
  )
}
