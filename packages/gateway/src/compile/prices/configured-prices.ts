import { type BackendKeys, indexPolicies, setsOfListeners } from '../../ir/merge.ts'
import { PoliciesByTarget } from '../../ir/policies-by-target.ts'
import type { Backend, Ir, Route } from '../../ir/resources.ts'
import { createProvider } from '../../llm/providers/index.ts'
import { createRowFinder } from '../../prices/create-pricer.ts'
import type { PriceRow } from '../../prices/price-row.ts'
import { pricedProvider } from './priced-provider.ts'

/** A model that a route can call, with its price. */
export interface ConfiguredPrice {
  readonly route: string
  readonly backend: string
  /** The vendor's name in telemetry, which rows of prices have. */
  readonly provider: string
  /** Null when the config leaves the model to clients. */
  readonly model: string | null
  /** Whether a `prices` policy applies. */
  readonly hasPolicy: boolean
  /** Null without a price. */
  readonly row: PriceRow | null
}

/** Returns the models of all routes, each once, or the price of one model at every provider. `now` is in milliseconds since 1970. */
export function configuredPrices(ir: Ir, model: string | null, now: number): ConfiguredPrice[] {
  const policies = indexPolicies(PoliciesByTarget.of(ir.policies), new Set(), setsOfListeners(ir.listeners))
  const backends = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const found = new Map<string, ConfiguredPrice>()
  for (const { route, keys, backend } of calledBackends(ir.routes, backends)) {
    if (backend.target.kind !== 'ai') continue
    const { groups, models } = backend.target
    for (const provider of groups.flat()) {
      const { key, pool } = provider
      const { prices, ai } = policies.backend({ ...keys, section: key, ...(pool !== undefined && { service: pool }) })
      const vendor = createProvider(provider.config)
      const priced = pricedProvider(provider, vendor, () => now)
      const aliases = Object.values(ai?.modelAliases ?? {})
      // A provider of `ai.models` without a model is called with the name of its model.
      const own = vendor.model ?? (models === undefined ? null : provider.name)
      const names = [...new Set([...(own === null ? [] : [own]), ...aliases])].filter((name) => !name.includes('*'))
      const find = prices === undefined ? null : createRowFinder(prices, priced)
      for (const name of model === null ? orUnknown(names) : [model]) {
        const row = name === null ? null : (find?.([name]) ?? null)
        const one = { route: route.name, backend: backend.name, provider: priced.provider, model: name }
        found.set(JSON.stringify([...Object.values(one), row?.table]), { ...one, hasPolicy: find !== null, row })
      }
    }
  }
  return [...found.values()]
}

function orUnknown(names: readonly string[]): readonly (string | null)[] {
  return names.length === 0 ? [null] : names
}

interface CalledBackend {
  readonly route: Route
  readonly keys: BackendKeys
  readonly backend: Backend
}

function calledBackends(routes: readonly Route[], backends: ReadonlyMap<string, Backend>): CalledBackend[] {
  return routes.flatMap((route) =>
    route.backends.flatMap((entry) => {
      const backend = backends.get(entry.backend)
      if (backend === undefined) return []
      const { listener, key, name } = route
      const keys = { listener, route: key, parent: `${listener}/${name}`, backend: entry.backend, entry: entry.key }
      return [{ route, keys, backend }]
    }),
  )
}
