import { isObject, type Json, type JsonObject, parseExactJson } from '@portico/http/json'

/**
 * Readings locate the text for the model in a request: each client format describes its body with them as data, and one
 * walk serves the guards of all formats. A member that a format does not describe is examined as JSON, and a block of an
 * unknown type is reported, so a new member or a new block type cannot pass unseen.
 */
export type Reading = (value: Json, at: ReadingPosition) => Json

export interface ReadingPosition {
  /** Path in the client's body, such as `messages[0].content[1]`. */
  readonly path: string
  readonly role: TextRole
  readonly visitor: RequestVisitor
}

export type TextRole = 'system' | 'user' | 'assistant' | 'tool'

/** Content that no guard can examine: `Stored` is text that the provider keeps, `Unknown` is an unlisted block type. */
export type UnexaminedKind = 'Image' | 'Audio' | 'File' | 'Stored' | 'Unknown'

export interface RequestVisitor {
  /** Returns the replacement of the text. */
  text(text: string, about: { role: TextRole; form: 'text' | 'json' }): string
  unexamined(kind: UnexaminedKind, path: string): void
  /** Called when a replaced text is not valid JSON, but must be. */
  broken(path: string): void
}

/** Any JSON, examined with its names and numbers. */
export const anything: Reading = (value, at) => {
  if (typeof value === 'string') return text(value, at)
  if (value === null || typeof value === 'boolean') return value
  const before = JSON.stringify(value)
  const after = at.visitor.text(before, { role: at.role, form: 'json' })
  if (after === before) return value
  const replaced = parseExactJson(after)
  if (replaced !== undefined) return replaced
  at.visitor.broken(at.path)
  return value
}

/** A text for the model. */
export const text: Reading = (value, at) =>
  typeof value === 'string' ? at.visitor.text(value, { role: at.role, form: 'text' }) : anything(value, at)

/** JSON written as a text, such as the arguments of a call. */
export const jsonText: Reading = (value, at) =>
  typeof value === 'string' ? at.visitor.text(value, { role: at.role, form: 'json' }) : anything(value, at)

/** An id, a number or a setting, which the model does not read. An object instead is examined. */
export const plain: Reading = (value, at) =>
  isPlainObject(value) || Array.isArray(value) ? anything(value, at) : value

/** Settings of any depth, made of single words; a text with blanks among them is examined. */
export const settings: Reading = (value, at) => {
  if (typeof value === 'string') return WORD.test(value) ? value : text(value, at)
  return eachChild(value, at, () => settings)
}

/** A single word, the form of ids, names and settings in all formats. */
const WORD = /^[\w$.:/+=#@|~-]{0,256}$/

/** Skips a value that the model does not see: metadata, credentials, data that a vendor signed and verifies. */
export const unread: Reading = (value) => value

/** Reports content that guards cannot examine. */
export function unexamined(kind: UnexaminedKind): Reading {
  return (value, at) => {
    if (value !== null && value !== '') at.visitor.unexamined(kind, at.path)
    return value
  }
}

/** An object with known members; the others are examined as JSON. Known members come first, in the order given. */
export function object(members: Readonly<Record<string, Reading>>): Reading {
  const known = Object.entries(members)
  const names: ReadonlySet<string> = new Set(Object.keys(members))
  return (value, at) => {
    if (!isPlainObject(value)) return anything(value, at)
    const changed = new Map<string, Json>()
    const read = (name: string, member: Json, reading: Reading): void => {
      const path = at.path === '' ? shownName(name) : `${at.path}.${shownName(name)}`
      const after = reading(member, { ...at, path })
      if (after !== member) changed.set(name, after)
    }
    for (const [name, reading] of known) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined
      if (member !== undefined) read(name, member, reading)
    }
    let isRenamed = false
    const after = Object.entries(value).map(([name, member]): [string, Json] => {
      if (names.has(name)) return [name, changed.get(name) ?? member]
      read(name, member, anything)
      const nameAfter = readName(name, at)
      if (nameAfter !== name) isRenamed = true
      return [nameAfter, changed.get(name) ?? member]
    })
    return changed.size === 0 && !isRenamed ? value : Object.fromEntries(after)
  }
}

export function list(reading: Reading): Reading {
  return (value, at) => (Array.isArray(value) ? eachChild(value, at, () => reading) : anything(value, at))
}

/** A block whose `type` selects the reading. */
export function block(types: Readonly<Record<string, Reading>>): Reading {
  const readings = new Map(Object.entries(types))
  return (value, at) => {
    const type = isObject(value) ? value.type : undefined
    const reading = typeof type === 'string' ? readings.get(type) : undefined
    if (reading !== undefined) return reading(value, at)
    at.visitor.unexamined('Unknown', at.path)
    return anything(value, at)
  }
}

/** A text, or a list of blocks. */
export function textOrList(items: Reading): Reading {
  const blocks = list(items)
  return (value, at) => (typeof value === 'string' ? text(value, at) : blocks(value, at))
}

/** Examines a malformed body twice: with the reading of its format, then whole as JSON. */
export function malformed(reading: Reading): Reading {
  return (value, at) => {
    reading(value, at)
    return anything(value, at)
  }
}

/** The same reading with another role. */
export function saidBy(role: TextRole, reading: Reading): Reading {
  return (value, at) => reading(value, { ...at, role })
}

/** A block that only its own format has: every string is examined, except ids, keywords and encrypted content. */
export const nested: Reading = (value, at) => {
  if (typeof value === 'string') return text(value, at)
  if (typeof value === 'number') return anything(value, at)
  return eachChild(value, at, nestedMember)
}

function nestedMember(name: string | null, member: Json): Reading {
  if (name === null) return nested
  if (SEALED.has(name) && typeof member === 'string') return unread
  return IDS_AND_WORDS.has(name) && typeof member !== 'object' ? settings : name === 'cache_control' ? settings : nested
}

const SEALED: ReadonlySet<string> = new Set([
  'encrypted_content',
  'encrypted_index',
  'encrypted_stdout',
  'signature',
  'fingerprint',
])
const IDS_AND_WORDS: ReadonlySet<string> = new Set([
  'type',
  'status',
  'role',
  'id',
  'call_id',
  'tool_use_id',
  'item_id',
  'file_id',
  'container_id',
  'approval_request_id',
  'name',
  'tool_name',
  'server_name',
  'server_label',
  'mcp_server_name',
])

/** A JSON Schema, with its names. Bounds are skipped, because a guard could take a large number for a card number. */
export const schema: Reading = (value, at) => {
  const read = withoutBounds(value)
  const after = anything(read, at)
  return after === read ? value : withBounds(after, value)
}

const BOUNDS: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
])

function withoutBounds(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutBounds)
  if (!isPlainObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    isBound(name, member) ? null : withoutBounds(member),
  ])
  return Object.fromEntries(members)
}

/** Restores the bounds. Masks change names and values, never their number or order. */
function withBounds(masked: Json, original: Json): Json {
  if (Array.isArray(masked) && Array.isArray(original)) {
    return masked.map((item, index) => withBounds(item, original[index] ?? null))
  }
  if (!isPlainObject(masked) || !isPlainObject(original)) return masked
  const renamed = Object.entries(original).filter(([name]) => !Object.hasOwn(masked, name))
  const members = Object.entries(masked).map(([name, member]): [string, Json] => {
    const before = Object.hasOwn(original, name) ? original[name] : renamed.shift()?.[1]
    return [name, isBound(name, before ?? null) ? (before ?? null) : withBounds(member, before ?? null)]
  })
  return Object.fromEntries(members)
}

function isBound(name: string, value: Json): boolean {
  return BOUNDS.has(name) && (typeof value === 'number' || JSON.isRawJSON(value))
}

/** Raw JSON numbers are objects too, but have no members. */
function isPlainObject(value: Json): value is JsonObject {
  return isObject(value) && !JSON.isRawJSON(value)
}

type ReadingOf = (name: string | null, member: Json) => Reading

/** Reads each member or item; returns the value itself when nothing changed. A name that is not a word is read as text. */
function eachChild(value: Json, at: ReadingPosition, readingOf: ReadingOf): Json {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => readingOf(null, item)(item, { ...at, path: `${at.path}[${index}]` }))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isPlainObject(value)) return value
  let isChanged = false
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    const after = readingOf(name, member)(member, { ...at, path: `${at.path}.${shownName(name)}` })
    const nameAfter = readName(name, at)
    if (after !== member || nameAfter !== name) isChanged = true
    return [nameAfter, after]
  })
  return isChanged ? Object.fromEntries(members) : value
}

function readName(name: string, at: ReadingPosition): string {
  return WORD.test(name) ? name : at.visitor.text(name, { role: at.role, form: 'text' })
}

/** The name as the trace shows it. A client may put text into a name, and the trace must not repeat text. */
function shownName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : '(name)'
}

declare global {
  interface JSON {
    isRawJSON(value: unknown): boolean
  }
}
