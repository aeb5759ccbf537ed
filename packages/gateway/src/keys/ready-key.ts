import type { JsonObject } from '../pipeline/context/request-context.ts'
import type { SpendingBudget } from '../pipeline/context/spending.ts'
import type { SpendAccounts } from '../spending/spend-accounts.ts'
import type { SpendLimit } from '../spending/spend-limit.ts'
import type { KeyBudget, KeyLimit } from '../stores/key-store.ts'

/** A key of the store, as one worker knows it. A key that changes becomes another object. */
export interface ReadyKey {
  readonly id: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly expires: number
  readonly isDisabled: boolean
  /** `apiKey` in expressions. */
  readonly metadata: JsonObject
  /** Null when the key may use all models. */
  readonly models: ((name: string) => boolean) | null
  /** Null when the key may use all routes. */
  readonly routes: ReadonlySet<string> | null
  readonly own: Spender
  /** The key, its team, the parent of the team, and so on; those that have limits or budgets. */
  readonly spenders: readonly Spender[]
  /** The accounts once a policy has found them. */
  accounts: KeyAccounts | null
}

/** A key or a team with limits and budgets of its own. */
export interface Spender {
  readonly id: string
  /** Its name in responses, such as `the team support`. */
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
  /** The table of the limits. */
  readonly table: SpendAccounts
  readonly limits: readonly LimitShare[]
  readonly budgets: readonly SpendingBudget[]
  /** The name of a limit for which the table has no room; null when there is room for all. */
  readonly withoutRoom: string | null
}
