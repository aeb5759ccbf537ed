import type { GatewayChecks } from '../../core/import-result.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Environment } from './environment.ts'

/** The surroundings of a field. */
export interface Scope {
  readonly env: Environment
  readonly checks: GatewayChecks
  readonly backends: BackendNames
}

/** The status that replaces what cannot be imported: 403 where access was limited, 501 where the upstream is unknown. */
export type ClosedStatus = 403 | 501

/** The upstream that tests expect. */
export type TestedBackend =
  | { readonly kind: 'http'; readonly address: string }
  | { readonly kind: 'model'; readonly address: string; readonly model: string | undefined }
  | { readonly kind: 'unknown' }

/** The backends with names in the new config. */
interface BackendNames {
  /** The new name of a backend of the source; a status when it cannot be imported. */
  named(this: void, reference: string): string | ClosedStatus
  /** The upstream of a backend, for tests. */
  testedOf(this: void, reference: string): TestedBackend
  /** Whether a backend has one address, as a route of TCP needs. */
  isStatic(this: void, reference: string): boolean
  /** Adds a backend that a policy calls, and returns its name; null when the gateway would reject the backend. */
  add(this: void, name: string, backend: object): string | null
}

/** Converts a field and marks it; undefined when it is not carried, or stands for a default. */
export type Convert = (field: Field, scope: Scope) => unknown

/** A converter, with another name for the member in the new config. */
type Member = Convert | readonly [name: string, convert: Convert]
export type Members = Readonly<Record<string, Member>>

export function lost(field: Field, why: string): undefined {
  field.notCarried(why)
  return undefined
}

/** A text, number, boolean or duration. The schema of the gateway checks the result. */
export const scalar: Convert = (field, { env }) => {
  if (field.scalar === undefined || field.scalar === null) return lost(field, 'expected a single value')
  field.carried()
  return typeof field.scalar === 'string' ? env.valueOf(field.scalar) : field.scalar
}

/** Any JSON, in which variables are filled in. */
export const json: Convert = (field, { env }) => {
  field.carried()
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return env.valueOf(value)
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member)]))
  }
  return fill(field.plain)
}

/** One of some words; the values are those of the new config. */
export function choice(words: Readonly<Record<string, string>>): Convert {
  return (field) => {
    const word = field.text ?? ''
    if (!Object.hasOwn(words, word)) return lost(field, `expected one of ${Object.keys(words).join(', ')}`)
    field.carried()
    return words[word]
  }
}

/** Words that begin with a capital in the new config. */
export function capitalized(...words: readonly string[]): Convert {
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
  return choice(
    Object.fromEntries(
      words.flatMap((word) => [
        [word, capital(word)],
        [capital(word), capital(word)],
      ]),
    ),
  )
}

/** A mapping with known members; the report names the others. */
export function mapping(members: Members): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    return membersOf(field, members, scope)
  }
}

/** The members of a mapping that are known. */
export function membersOf(field: Field, members: Members, scope: Scope): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [name, member] of field.members) {
    const known = Object.hasOwn(members, name) ? members[name] : undefined
    if (known === undefined || member.scalar === null) continue
    const [to, convert] = typeof known === 'function' ? [name, known] : known
    const value = convert(member, scope)
    if (value !== undefined) found[to] = value
  }
  return found
}

/** A list; a single value counts as a list of one. */
export function list(item: Convert): Convert {
  return (field, scope) => {
    const isList = field.scalar === undefined && !field.isMapping
    return (isList ? field.items : [field]).flatMap((each) => {
      const value = item(each, scope)
      return value === undefined ? [] : [value]
    })
  }
}

/** A mapping of free names, as a list of names and values. */
export function pairs(name: string, value: string, convert: Convert = scalar): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    return field.members.flatMap(([key, member]) => {
      const found = convert(member, scope)
      return found === undefined ? [] : [{ [name]: key, [value]: found }]
    })
  }
}

/** A mapping of free names; undefined when it is empty. */
export function dictionary(convert: Convert = scalar): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    const found = field.members.flatMap(([key, member]) => {
      const value = convert(member, scope)
      return value === undefined ? [] : [[key, value] as const]
    })
    return found.length === 0 ? undefined : Object.fromEntries(found)
  }
}

/** A field whose value has the same effect when it is absent. */
export function implied(note: string, ...values: readonly unknown[]): Convert {
  return (field) => {
    if (!values.includes(field.scalar)) return lost(field, `expected ${values.join(' or ')}`)
    field.carried(note)
    return undefined
  }
}

/** A field that is not carried. */
export function missing(note: string, isProtection = false): Convert {
  return (field) => {
    field.notCarried(note, isProtection)
    return undefined
  }
}
