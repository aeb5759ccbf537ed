import type { JsonObject } from '../pipeline/context/request-context.ts'
import type { SpendingBudget } from '../pipeline/context/spending.ts'
import type { SpendAccounts } from '../spending/spend-accounts.ts'
import type { SpendLimit } from '../spending/spend-limit.ts'
import type { KeyBudget, KeyLimit } from '../stores/key-store.ts'

/** A key of the store, as one worker has read it. A change of the key creates a new object. */
export interface ReadyKey {
  readonly id: string
  readonly name: string
  /** The start and the end of the key's validity, in milliseconds since 1970. */
  readonly notBefore: number
  readonly expires: number
  readonly isDisabled: boolean
  /** The value of `apiKey` in expressions. */
  readonly metadata: JsonObject
  /** Tells whether the key may use a model; null when the key may use all models. */
  readonly models: ((name: string) => boolean) | null
  /** The names of the routes that the key may use; null when the key may use all routes. */
  readonly routes: ReadonlySet<string> | null
  readonly own: Spender
  /** The key, its team, the parent of the team, and so on, without those that have no limits and no budgets. */
  readonly spenders: readonly Spender[]
  /** The accounts of the key's limits and budgets; null until a policy has looked them up. */
  accounts: KeyAccounts | null
}

/** A key or a team with limits and budgets of its own. */
export interface Spender {
  readonly id: string
  /** The name of the key or team in responses, such as `the team support`. */
  readonly title: string
  readonly limits?: readonly KeyLimit[] | undefined
  readonly budgets?: readonly KeyBudget[] | undefined
  readonly models?: readonly string[] | undefined
}

/** One limit of a key or a team. */
export interface LimitShare {
  readonly limit: SpendLimit
  readonly slot: number
}

/** The limits and budgets of a key and of its teams, the innermost first. */
export interface KeyAccounts {
  /** The table that holds the amounts of the limits. */
  readonly table: SpendAccounts
  readonly limits: readonly LimitShare[]
  readonly budgets: readonly SpendingBudget[]
  /** The name of a limit that the table has no room for; null when the table has room for all limits. */
  readonly withoutRoom: string | null
}
