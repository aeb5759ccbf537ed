import { hash } from 'node:crypto'
import type { KeyBudget, KeyFields, KeyLimit, KeySecret, StoredKey, StoredTeam } from '../stores/key-store.ts'

/** The details of a key or a team in the table: what workers need of it. */
export interface EntryDetails {
  readonly id: string
  readonly name: string
  readonly limits?: readonly KeyLimit[]
  readonly budgets?: readonly KeyBudget[]
  /** The team of a key, or the parent of a team. */
  readonly team?: string
}

export interface KeyDetails extends EntryDetails, Omit<KeyFields, 'limits' | 'budgets' | 'team'> {}

/** The text of a key in the table, under the hash of one of its secrets. */
export function keyText({ id, name, fields }: StoredKey, secret: KeySecret): string {
  const ends = [fields.expires, secret.expires].filter((end) => end !== undefined)
  const expires = ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0]
  const details: KeyDetails = { id, name, ...fields, ...(expires !== undefined && { expires }) }
  return JSON.stringify(details)
}

export function teamText({ id, name, fields: { parent, ...fields } }: StoredTeam): string {
  const details: EntryDetails = { id, name, ...fields, ...(parent !== undefined && { team: parent }) }
  return JSON.stringify(details)
}

/** The digest under which a team is found. */
export function teamHash(name: string): Buffer {
  return hash('sha256', `team ${name}`, 'buffer')
}
