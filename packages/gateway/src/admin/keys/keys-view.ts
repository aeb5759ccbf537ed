/** The types of the admin API for API keys, teams and prices. Times are RFC 3339. */

export interface KeyLimitView {
  readonly requests?: number
  readonly tokens?: number
  /** Requests at the same time. */
  readonly calls?: number
  readonly unit?: 'Seconds' | 'Minutes' | 'Hours'
}

export interface KeyBudgetView {
  /** US dollars. */
  readonly usd?: number
  readonly tokens?: number
  readonly per: 'Hour' | 'Day' | 'Week' | 'Month' | 'Lifetime'
  /** Whether the period is the last hour, day, 7 days or 30 days instead of a period of the calendar. */
  readonly rolling?: boolean
  readonly timeZone?: string
}

/** A budget with what is spent of it: exact decimal texts for US dollars, numbers for tokens. */
export interface SpentBudgetView extends KeyBudgetView {
  /** The amount that is spent or reserved in the current period; null while the store of budgets does not answer. */
  readonly spent: string | number | null
  readonly left: string | number | null
  /**
   * The start of the next period; for a rolling period, the time at which more of the budget is free; null for
   * `Lifetime`.
   */
  readonly resetsAt: string | null
}

/** A key that clients may present. A key has several while it is rotated. */
export interface KeySecretView {
  /** The first characters of the key. */
  readonly prefix: string
  readonly created: string
  /** The end of an old key. */
  readonly expires?: string
}

export type KeyStateView = 'active' | 'pending' | 'disabled' | 'expired' | 'revoked'

/** The response of `GET /api/keys/<name>`. */
export interface KeyView {
  readonly id: string
  readonly name: string
  readonly state: KeyStateView
  /** Changes with the fields; `basedOn` of a PATCH. */
  readonly version: string
  readonly owner?: string
  readonly team?: string
  readonly models?: readonly string[]
  readonly routes?: readonly string[]
  readonly limits?: readonly KeyLimitView[]
  readonly budgets?: readonly SpentBudgetView[]
  readonly notBefore?: string
  readonly expires?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly disabled?: true
  /** The newest one first; empty for a revoked key. */
  readonly secrets: readonly KeySecretView[]
  readonly created: string
  readonly changed: string
  readonly revoked?: string
}

/** The response of `GET /api/keys`, in the order of names. A search may have fewer keys than asked for, and go on. */
export interface KeyListView {
  readonly keys: readonly KeyView[]
  /** The value for `?after=`; null at the end. */
  readonly next: string | null
}

/** The response to a change of a key. */
export interface ChangedKeyView {
  /** Null for a key that was deleted. */
  readonly key: KeyView | null
  /** The key itself, when it is new. It is not stored, and cannot be shown again. */
  readonly secret: string | null
}

/** The response of `GET /api/teams/<name>`. */
export interface TeamView {
  readonly id: string
  readonly name: string
  /** Changes with the fields; `basedOn` of a PATCH. */
  readonly version: string
  readonly parent?: string
  readonly limits?: readonly KeyLimitView[]
  readonly budgets?: readonly SpentBudgetView[]
  readonly created: string
  readonly changed: string
}

/** The response of `GET /api/teams`, in the order of names. */
export interface TeamListView {
  readonly teams: readonly TeamView[]
}

/** A price in the store, with the same fields as a price in the config under `prices.models`. */
export interface StoredPriceView {
  readonly provider?: string
  readonly model: string
  readonly [field: string]: unknown
  readonly changed: string
}

/** The response of `GET /api/prices`, in the order of providers and models. */
export interface PriceListView {
  readonly prices: readonly StoredPriceView[]
}

/** The response to a request that sets or removes a price. */
export interface ChangedPriceView {
  /** The changed price; null when the price was removed. */
  readonly price: StoredPriceView | null
}

/**
 * One entry of the list of changes: a change of a key, a team or a price, a purge of response caches, or the start or
 * end of a rehearsal.
 */
export interface AuditEntryView {
  readonly id: number
  readonly at: string
  /** The credential of the person or program that made the change. */
  readonly by: string
  readonly action: string
  readonly kind: 'key' | 'team' | 'price' | 'cache' | 'rehearsal'
  readonly name: string
  /** The object before and after the change, without secrets; null when it did not exist. */
  readonly before: object | null
  readonly after: object | null
}

/** The response of `GET /api/audit`, the newest entry first. A search may have fewer entries than asked for, and go on. */
export interface AuditView {
  readonly entries: readonly AuditEntryView[]
  /** The value for `?before=`; null at the end. */
  readonly next: number | null
}
