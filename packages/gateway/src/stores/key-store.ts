import type { ModelPriceConfig } from '../schema/fields/prices.ts'

/** The contract of stores for API keys, teams and prices. Times are RFC 3339; amounts are those of the config. */

/** A limit of a key or a team; exactly one of `requests`, `tokens` and `calls` is set. */
export interface KeyLimit {
  readonly requests?: number
  readonly tokens?: number
  /** The most calls at the same time. */
  readonly calls?: number
  /** The window of `requests` and `tokens`. */
  readonly unit?: 'Seconds' | 'Minutes' | 'Hours'
}

/** A budget of a key or a team; exactly one of `usd` and `tokens` is set. */
export interface KeyBudget {
  readonly usd?: number
  readonly tokens?: number
  readonly per: 'Hour' | 'Day' | 'Week' | 'Month' | 'Lifetime'
  /** Whether the period is the last hour, day, 7 days or 30 days instead of a period of the calendar. */
  readonly rolling?: boolean
  readonly timeZone?: string
}

interface Spender {
  readonly limits?: readonly KeyLimit[]
  readonly budgets?: readonly KeyBudget[]
}

/** The fields of a key that people set. */
export interface KeyFields extends Spender {
  readonly owner?: string
  readonly team?: string
  /** Names and patterns of models; all models when it is absent. */
  readonly models?: readonly string[]
  /** Names of routes; all routes when it is absent. */
  readonly routes?: readonly string[]
  readonly notBefore?: string
  readonly expires?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly disabled?: true
}

/** The fields of a team that people set. */
export interface TeamFields extends Spender {
  /** The team that this one belongs to. */
  readonly parent?: string
}

/** The hash of a key. A key has several while it is rotated. */
export interface KeySecret {
  /** The SHA-256 of the key, 64 hexadecimal digits. */
  readonly hash: string
  /** The first characters of the key, by which people recognize it. */
  readonly prefix: string
  readonly created: string
  /** The end of an old key after a rotation. */
  readonly expires?: string
}

export interface StoredKey {
  /** Stays the same for the life of the key, and is never used again. */
  readonly id: string
  readonly name: string
  readonly fields: KeyFields
  /** The newest one first; empty for a revoked key. */
  readonly secrets: readonly KeySecret[]
  readonly created: string
  readonly changed: string
  /** When the key was revoked. */
  readonly revoked?: string
}

export interface StoredTeam {
  readonly id: string
  readonly name: string
  readonly fields: TeamFields
  readonly created: string
  readonly changed: string
}

/** The price of a model in the store, which takes precedence over prices of the config. */
export interface StoredPrice {
  /** The provider or `*`, then a slash and the model. */
  readonly name: string
  /** The price in the form that the config has after parsing. */
  readonly price: ModelPriceConfig
  readonly changed: string
}

/** A change that somebody made. It contains no secret. */
export interface AuditEntry {
  readonly at: string
  /** The credential of the person or program that made the change. */
  readonly by: string
  readonly action: string
  readonly kind: 'key' | 'team' | 'price' | 'cache' | 'rehearsal'
  readonly name: string
  /** The object before and after the change; null when it did not exist. */
  readonly before: object | null
  readonly after: object | null
}

export interface NumberedAuditEntry extends AuditEntry {
  /** Counts up by one from entry to entry. */
  readonly id: number
}

/**
 * A change of one key, one team or one price. A change of kind `cache` has an audit entry only, because the store of
 * keys holds nothing of it.
 */
export type KeyStoreChange =
  | {
      readonly kind: 'key'
      readonly name: string
      /** The key before the change; null for a new one. */
      readonly from: StoredKey | null
      readonly to: StoredKey | null
    }
  | { readonly kind: 'team'; readonly name: string; readonly to: StoredTeam | null }
  | { readonly kind: 'price'; readonly name: string; readonly to: StoredPrice | null }
  | { readonly kind: 'cache'; readonly name: string; readonly to: null }

/** A page of a list, in the order of names. */
export interface KeyPage {
  /** Names after this one. */
  readonly after: string
  readonly limit: number
  /** Only keys of this team, if it is set. */
  readonly team: string | null
}

/** Adapters may be synchronous; every method throws when the store cannot be used. */
export interface KeyStore {
  key(name: string): StoredKey | null | Promise<StoredKey | null>
  team(name: string): StoredTeam | null | Promise<StoredTeam | null>
  keys(page: KeyPage): readonly StoredKey[] | Promise<readonly StoredKey[]>
  teams(): readonly StoredTeam[] | Promise<readonly StoredTeam[]>
  /** All prices, in the order of names. */
  prices(): readonly StoredPrice[] | Promise<readonly StoredPrice[]>
  /** The number of changes so far. */
  version(): number | Promise<number>
  /**
   * Stores the change and its audit entry, or neither. Throws `StaleChange` unless the store has the version at which the
   * change was prepared.
   */
  commit(change: KeyStoreChange, entry: AuditEntry, version: number): void | Promise<void>
  /** The newest entries with ids below `before`. */
  audit(before: number, limit: number): readonly NumberedAuditEntry[] | Promise<readonly NumberedAuditEntry[]>
  close(): void | Promise<void>
}

/** The store was changed after a change was prepared. */
export class StaleChange extends Error {
  constructor() {
    super('the keys were changed meanwhile')
  }
}

/** A place in the list of changes: the number of a change, and a mark that no change of another database has. */
export interface ChangeCursor {
  readonly id: number
  readonly mark: string
}

/** The outcome of some changes: entries as they are now, and null for those that are gone. */
export interface KeyChanges {
  /** The last one of the changes. */
  readonly cursor: ChangeCursor
  readonly keys: ReadonlyMap<string, StoredKey | null>
  readonly teams: ReadonlyMap<string, StoredTeam | null>
  readonly prices: ReadonlyMap<string, StoredPrice | null>
  /** Hashes that were valid before one of the changes. */
  readonly ended: readonly string[]
  readonly hasMore: boolean
}

/** A store that several gateways change. */
export interface SharedKeyStore extends KeyStore {
  /** The place of the last change. */
  cursor(): Promise<ChangeCursor>
  /** A number of changes after a place; null when this database does not have the place, because it is another one. */
  changesAfter(cursor: ChangeCursor): Promise<KeyChanges | null>
}

export function isShared(store: KeyStore): store is SharedKeyStore {
  return 'changesAfter' in store
}
