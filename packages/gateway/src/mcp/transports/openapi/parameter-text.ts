import type { OpenApiParameter } from '../../../formats/openapi/operation.ts'
import { isObject, type Json, type JsonObject } from '@portico/http/json'

/** The reason why a call cannot be sent, for the client. */
export class BadArgument {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** A value split into texts, before they are escaped or joined. */
export type Texts =
  | { kind: 'one'; text: string }
  | { kind: 'list'; texts: string[] }
  | { kind: 'object'; entries: [string, string][] }

/** The parts of a parameter that its texts depend on; `name` is for messages. */
export type ParameterStyle = Pick<OpenApiParameter, 'name' | 'style' | 'explode' | 'keys'>

export function textsOf({ name, style, keys }: ParameterStyle, value: Json): Texts | BadArgument {
  if (style === 'json') return { kind: 'one', text: JSON.stringify(value) }
  const one = scalarText(value)
  if (one !== null) return checked({ kind: 'one', text: one }, name)
  if (Array.isArray(value)) {
    const texts = value.map(scalarText)
    return texts.every((text) => text !== null) ? checked({ kind: 'list', texts }, name) : nested(name)
  }
  if (!isObject(value)) return nested(name)
  const unknown = unknownKey({ name, keys }, value)
  if (unknown !== null) return unknown
  return style === 'deepObject' ? deepEntries(name, value) : flatEntries(name, value)
}

function unknownKey({ name, keys }: Pick<ParameterStyle, 'name' | 'keys'>, value: JsonObject): BadArgument | null {
  const key = keys === null ? undefined : Object.keys(value).find((each) => !keys.includes(each))
  return key === undefined ? null : new BadArgument(`\`${name}\` has no member \`${short(key)}\``)
}

function flatEntries(name: string, value: JsonObject): Texts | BadArgument {
  const entries: [string, string][] = []
  for (const [key, item] of Object.entries(value)) {
    const text = scalarText(item)
    if (text === null) return nested(name)
    entries.push([key, text])
  }
  return checked({ kind: 'object', entries }, name)
}

/** Returns the members of nested objects with keys such as `[a][b]`; items of a list have the key of the list. */
function deepEntries(name: string, value: JsonObject): Texts | BadArgument {
  const entries: [string, string][] = []
  const isGood = add('', value, 0)
  return isGood ? checked({ kind: 'object', entries }, name) : nested(name)

  function add(key: string, item: Json, depth: number): boolean {
    const text = depth === 0 ? null : scalarText(item)
    if (text !== null) return entries.push([key, text]) > 0
    if (item === null || depth > MOST_LEVELS) return item === null
    if (Array.isArray(item)) return item.every((each) => !Array.isArray(each) && add(key, each, depth + 1))
    return isObject(item) && Object.entries(item).every(([name, each]) => add(`${key}[${name}]`, each, depth + 1))
  }
}

/** Returns the text of a single value, null for others. Numbers beyond double precision keep their digits. */
export function scalarText(value: Json): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return JSON.isRawJSON(value) ? JSON.stringify(value) : null
}

function nested(name: string): BadArgument {
  return new BadArgument(`\`${name}\` must be a string, number or boolean, or a list or object of these`)
}

function checked(texts: Texts, name: string): Texts | BadArgument {
  return allOf(texts).every((text) => text.isWellFormed()) ? texts : new BadArgument(`\`${name}\` is not valid Unicode`)
}

export function allOf(texts: Texts): string[] {
  if (texts.kind === 'one') return [texts.text]
  return texts.kind === 'list' ? texts.texts : texts.entries.flat()
}

/** Shortens a text for messages. */
export function short(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

const MOST_LEVELS = 16

declare global {
  interface JSON {
    /** Available in the runtime, but not yet in the types. */
    isRawJSON(value: unknown): boolean
  }
}
