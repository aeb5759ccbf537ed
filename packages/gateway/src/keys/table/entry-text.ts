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

/** The details of a key or a team in the table: what workers need of it. */
export interface EntryDetails {
  readonly id: string
  readonly name: string
  readonly limits?: readonly KeyLimit[]
  readonly budgets?: readonly KeyBudget[]
  /** The team of a key, or the parent of a team. */
  readonly team?: string
}

/** The details that keys hardly ever share. */
export interface OwnDetails extends Pick<KeyFields, 'owner' | 'notBefore' | 'expires'> {
  readonly id: string
  readonly name: string
}

/** The details that many keys share, so that workers read them once. */
export type SharedDetails = Omit<KeyFields, 'owner' | 'notBefore' | 'expires'>

/** The text of a key in the table, under the hash of one of its secrets: its own details, and those that it may share, each in one line. */
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

/** The digest under which a team is found. */
export function teamHash(name: string): Buffer {
  return hash('sha256', `team ${name}`, 'buffer')
}

/** The text of a price in the table. */
export function priceText({ price, changed }: StoredPrice): string {
  return asciiJson({ price, changed })
}

/** The digest under which a price is found. */
export function priceHash(name: string): string {
  return hash('sha256', `price ${name}`)
}

/** JSON in which other characters than those of ASCII are escaped, because the table has one byte for each character. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
