import { entryVersion } from '../../keys/entry-version.ts'
import { stateOf } from '../../keys/find-keys.ts'
import type { StoredKey, StoredPrice, StoredTeam } from '../../stores/key-store.ts'
import type { KeysSource } from './keys-routes.ts'
import type { KeyView, StoredPriceView, TeamView } from './keys-view.ts'

/** A key as people see it: without hashes, and with what is spent. */
export async function viewKey(key: StoredKey, source: KeysSource): Promise<KeyView> {
  const { id, name, fields, secrets, ...times } = key
  const { budgets, ...others } = fields
  const [state, version] = [stateOf(key, new Date().toISOString()), entryVersion(key)]
  return {
    ...{ id, name, state, version, ...others },
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    secrets: secrets.map(({ hash: _hash, ...secret }) => secret),
    ...times,
  }
}

export async function viewTeam(team: StoredTeam, source: KeysSource): Promise<TeamView> {
  const { id, name, fields, ...times } = team
  const { budgets, ...others } = fields
  return {
    ...{ id, name, version: entryVersion(team), ...others },
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    ...times,
  }
}

/** Returns a price in US dollars, in the form of configs. */
export function viewPrice({ price, changed }: StoredPrice): StoredPriceView {
  const { provider, model, rates, perCall, units, tiers } = price
  return {
    ...(provider !== undefined && { provider }),
    model,
    ...(rates !== undefined && { rates: inDollars(rates, RATE) }),
    ...(perCall !== undefined && { perCall: perCall / RATE }),
    ...(units !== undefined && { units: inDollars(units, UNIT) }),
    ...(tiers.length > 0 && { tiers: tiers.map((tier) => ({ ...tier, rates: inDollars(tier.rates, RATE) })) }),
    changed,
  }
}

function inDollars(prices: Readonly<Record<string, number | undefined>>, unit: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(prices).flatMap(([name, price]) => (price === undefined ? [] : [[name, price / unit]])),
  )
}

/** The divisor that turns trillionths of a dollar per token into US dollars per million tokens. */
const RATE = 1e6
/** The divisor that turns trillionths of a dollar into US dollars. */
const UNIT = 1e12
