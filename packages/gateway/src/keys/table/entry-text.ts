import { hash } from 'node:crypto'
import type {
  KeyBudget,
  KeyFields,
  KeyLimit,
  KeySecret,
  StoredKey,
  StoredPrice,
  StoredTeam,
} from '../../stores/key-store.ts'

/** The details of a key or a team that workers need, as the table stores them. */
export interface EntryDetails {
  readonly id: string
  readonly name: string
  readonly limits?: readonly KeyLimit[]
  readonly budgets?: readonly KeyBudget[]
  /** The team of a key, or the parent of a team. */
  readonly team?: string
}

/** The details of a key that other keys hardly ever share. */
export interface OwnDetails extends Pick<KeyFields, 'owner' | 'notBefore' | 'expires'> {
  readonly id: string
  readonly name: string
}

/** The details of a key that many keys share, so that workers parse them once. */
export type SharedDetails = Omit<KeyFields, 'owner' | 'notBefore' | 'expires'>

/**
 * Returns the text of a key in the table: a line with the key's own details, and a line with the details that keys may
 * share. The table finds the text by the hash of one of the key's secrets.
 */
export function keyText({ id, name, fields }: StoredKey, secret: KeySecret): string {
  const ends = [fields.expires, secret.expires].filter((end) => end !== undefined)
  const [end] = ends.toSorted((one, other) => Date.parse(one) - Date.parse(other))
  const { owner, notBefore, expires: _, ...shared } = fields
  const own = { id, name, owner, notBefore, expires: end }
  return `${asciiJson(own)}\n${asciiJson(shared)}`
}

export function teamText({ id, name, fields: { parent, ...fields } }: StoredTeam): string {
  const details: EntryDetails = { id, name, ...fields, ...(parent !== undefined && { team: parent }) }
  return asciiJson(details)
}

/** Returns the hash that the table finds a team by. */
export function teamHash(name: string): Buffer {
  return hash('sha256', `team ${name}`, 'buffer')
}

/** Returns the text of a price in the table. */
export function priceText({ price, changed }: StoredPrice): string {
  return asciiJson({ price, changed })
}

/** Returns the hash that the table finds a price by. */
export function priceHash(name: string): string {
  return hash('sha256', `price ${name}`)
}

/** Returns JSON that escapes all characters outside of ASCII, because the table has one byte for each character. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
