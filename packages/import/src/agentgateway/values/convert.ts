import type { GatewayChecks } from '../../core/import-result.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Environment } from './environment.ts'

/** The context in which a field is converted. */
export interface Scope {
  readonly env: Environment
  readonly checks: GatewayChecks
  readonly backends: BackendNames
}

/**
 * The status in place of config that cannot be imported: 403 where access was limited, 501 where the upstream is
 * unknown.
 */
export type ClosedStatus = 403 | 501

/** The upstream that generated tests expect. */
export type TestedBackend =
  | { readonly kind: 'http'; readonly address: string }
  | { readonly kind: 'model'; readonly address: string; readonly model: string | undefined }
  | { readonly kind: 'unknown' }

/** The named backends of the Portico config. */
interface BackendNames {
  /**
   * Returns the name that an agentgateway backend has in the Portico config; a status when the backend cannot be
   * imported.
   */
  named(this: void, reference: string): string | ClosedStatus
  /** Returns the upstream that generated tests expect for a backend. */
  testedOf(this: void, reference: string): TestedBackend
  /** Whether a backend has one fixed address, which TCP routes need. */
  isStatic(this: void, reference: string): boolean
  /**
   * Adds a backend for a service that a policy calls, and returns its name; null when Portico would reject the backend.
   */
  add(this: void, name: string, backend: object): string | null
}

/**
 * Converts a field and sets its verdict in the import report. Returns undefined when the field is not carried, or has a
 * default value.
 */
export type Convert = (field: Field, scope: Scope) => unknown

/** A converter of a member. The pair gives the member another name in the Portico config. */
type Member = Convert | readonly [name: string, convert: Convert]
export type Members = Readonly<Record<string, Member>>

export function lost(field: Field, why: string): undefined {
  field.notCarried(why)
  return undefined
}

/** Converts a text, number, boolean or duration. The schema of Portico checks the result. */
export const scalar: Convert = (field, { env }) => {
  if (field.scalar === undefined || field.scalar === null) return lost(field, 'expected a single value')
  field.carried()
  return typeof field.scalar === 'string' ? env.valueOf(field.scalar) : field.scalar
}

/** Converts any JSON value, and replaces environment variables in its texts. */
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

/** Converts a word to the word of the Portico config; other words are not carried. */
export function choice(words: Readonly<Record<string, string>>): Convert {
  return (field) => {
    const word = field.text ?? ''
    if (!Object.hasOwn(words, word)) return lost(field, `expected one of ${Object.keys(words).join(', ')}`)
    field.carried()
    return words[word]
  }
}

/** Converts words to the same words with an initial capital. */
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

/** Converts a mapping with known members. Other members are reported as unknown. */
export function mapping(members: Members): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    return membersOf(field, members, scope)
  }
}

/** Converts the known members of a mapping. */
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

/** Converts a list. A single value counts as a list with one item. */
export function list(item: Convert): Convert {
  return (field, scope) => {
    const isList = field.scalar === undefined && !field.isMapping
    return (isList ? field.items : [field]).flatMap((each) => {
      const value = item(each, scope)
      return value === undefined ? [] : [value]
    })
  }
}

/** Converts a mapping with free keys to a list of names and values. */
export function pairs(name: string, value: string, convert: Convert = scalar): Convert {
  return (field, scope) => {
    if (!field.isMapping) return lost(field, 'expected a mapping')
    return field.members.flatMap(([key, member]) => {
      const found = convert(member, scope)
      return found === undefined ? [] : [{ [name]: key, [value]: found }]
    })
  }
}

/** Converts a mapping with free keys; returns undefined when the mapping is empty. */
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

/** Accepts a field whose value has the same effect as an absent field. */
export function implied(note: string, ...values: readonly unknown[]): Convert {
  return (field) => {
    if (!values.includes(field.scalar)) return lost(field, `expected ${values.join(' or ')}`)
    field.carried(note)
    return undefined
  }
}

/** Reports a field as not carried, for fields without a counterpart in Portico. */
export function missing(note: string, isProtection = false): Convert {
  return (field) => {
    field.notCarried(note, isProtection)
    return undefined
  }
}
