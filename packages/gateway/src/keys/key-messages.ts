import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import type { AuditEntry, KeyFields, StoredKey, StoredPrice, StoredTeam, TeamFields } from '../stores/key-store.ts'
import type { PostgresSettings } from '../stores/postgres/postgres-settings.ts'
import type { ChangeSearch, FoundChanges } from './find-changes.ts'
import type { FoundKeys, KeySearch } from './find-keys.ts'

/** The settings of the thread. */
export interface KeyThreadSettings {
  /** The state folder, an absolute path. */
  readonly folder: string
  readonly table: SharedArrayBuffer
  readonly maxKeys: number
  /** The database of keys; null for the file in the state folder. */
  readonly postgres: PostgresSettings | null
  /** How long keys are accepted while the database does not answer. */
  readonly graceMs: number
}

/** A patch: fields that are absent stay, and those that are null are removed. */
export type Patch<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null }

/** The version that an edit began with. */
interface Edit {
  /** The version that the person saw; null for a change of any version. */
  readonly basedOn: string | null
}

/** A change of a key. */
export type KeyAction =
  | { readonly action: 'create'; readonly fields: KeyFields }
  | ({ readonly action: 'change'; readonly patch: Patch<KeyFields> } & Edit)
  | { readonly action: 'rotate'; readonly overlapMs: number }
  | { readonly action: 'enable' | 'disable' | 'revoke' | 'delete' }

export type TeamAction =
  | { readonly action: 'create'; readonly fields: TeamFields }
  | ({ readonly action: 'change'; readonly patch: Patch<TeamFields> } & Edit)
  | { readonly action: 'delete' }

export type KeyQuestion =
  | { readonly ask: 'keys'; readonly search: KeySearch }
  | { readonly ask: 'key'; readonly name: string }
  | { readonly ask: 'teams' }
  | { readonly ask: 'team'; readonly name: string }
  | { readonly ask: 'prices' }
  | { readonly ask: 'audit'; readonly search: ChangeSearch }
  /** Adds an audit entry about a change that the store of keys does not hold, such as a purge of response caches. */
  | { readonly ask: 'note'; readonly entry: AuditEntry }
  | { readonly ask: 'changeKey'; readonly name: string; readonly change: KeyAction; readonly by: AuditEntry['by'] }
  /** Sets the price of a model, or removes the price with null. */
  | {
      readonly ask: 'changePrice'
      readonly name: string
      readonly price: ModelPriceConfig | null
      readonly by: AuditEntry['by']
    }
  | { readonly ask: 'changeTeam'; readonly name: string; readonly change: TeamAction; readonly by: AuditEntry['by'] }

/** A key after a change; `secret` is the key itself, when it is new. */
export interface ChangedKey {
  readonly key: StoredKey | null
  readonly secret: string | null
}

/** The answers by question. */
export interface KeyAnswers {
  keys: FoundKeys
  key: StoredKey | null
  teams: readonly StoredTeam[]
  team: StoredTeam | null
  prices: readonly StoredPrice[]
  audit: FoundChanges
  note: null
  changeKey: ChangedKey
  changeTeam: StoredTeam | null
  changePrice: StoredPrice | null
}

/** Why a question has no answer; `status` is that of HTTP. */
export interface KeyRefusal {
  readonly status: 400 | 404 | 409 | 503
  readonly message: string
}

export type KeyAnswer = { readonly value: KeyAnswers[keyof KeyAnswers] } | { readonly refused: KeyRefusal }

export type ToKeyThread =
  | { readonly type: 'ask'; readonly id: number; readonly question: KeyQuestion }
  /** Ends the thread after everything before it. */
  | { readonly type: 'close' }

/** The state of the store: `problem` is null while keys are checked. */
export interface KeyStoreState {
  readonly problem: string | null
  /** The number of entries in the table: keys, the old secrets of keys, teams and prices. */
  readonly entries: number
  /** While the store fails: when keys that are loaded are refused, in milliseconds since 1970. Null when all are refused already. */
  readonly validUntil: number | null
}

export type FromKeyThread =
  | { readonly type: 'answered'; readonly id: number; readonly answer: KeyAnswer }
  | ({ readonly type: 'state' } & KeyStoreState)
  /** Other gateways have made more keys than the table has room for. */
  | { readonly type: 'full' }
