import type { SharedDetails } from './table/entry-text.ts'
import { matcher } from './patterns.ts'
import type { ReadyKey, Spender } from './ready-key.ts'

/** The details of a key that many keys may share, such as models, routes and teams. */
export interface KeyProfile extends Pick<ReadyKey, 'isDisabled' | 'models' | 'routes'> {
  readonly shared: SharedDetails
  /** The team of the key, the parent of that team, and so on. */
  readonly teams: readonly Spender[]
  /** The estimated memory of each key with this profile, in bytes. */
  readonly keyBytes: number
}

export function createKeyProfile(shared: SharedDetails, teams: readonly Spender[]): KeyProfile {
  const { models, routes, disabled } = shared
  const shares = [shared, ...teams].reduce(
    (sum, { limits = [], budgets = [] }) => sum + limits.length + budgets.length,
    0,
  )
  return {
    shared,
    teams: teams.filter(isLimited),
    isDisabled: disabled === true,
    models: models === undefined ? null : matcher(models),
    routes: routes === undefined ? null : new Set(routes),
    keyBytes: KEY_BYTES + shares * SHARE_BYTES,
  }
}

/** Whether a key or a team has limits or budgets. */
export function isLimited({ limits, budgets }: Pick<Spender, 'limits' | 'budgets'>): boolean {
  return limits !== undefined || budgets !== undefined
}

/** The memory of a key without limits and budgets, in bytes: measured, and rounded up. */
const KEY_BYTES = 1_000
/** The memory of one limit or budget of a key, in bytes. */
const SHARE_BYTES = 600
