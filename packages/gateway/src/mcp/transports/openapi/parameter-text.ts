import type { OpenApiParameter } from '../../../formats/openapi/operation.ts'
import { isObject, type Json, type JsonObject } from '../../../wire/json.ts'

/** Why a call cannot be made; for the one who calls. */
export class BadArgument {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** A value taken apart into texts, before anything is escaped or joined. */
export type Texts =
  | { kind: 'one'; text: string }
  | { kind: 'list'; texts: string[] }
  | { kind: 'object'; entries: [string, string][] }

export function textsOf({ name, style, keys }: OpenApiParameter, value: Json): Texts | BadArgument {
  if (style === 'json') return { kind: 'one', text: JSON.stringify(value) }
  const one = scalarText(value)
  if (one !== null) return checked({ kind: 'one', text: one }, name)
  if (Array.isArray(value)) {
    const texts = value.map(scalarText)
    return texts.every((text) => text !== null) ? checked({ kind: 'list', texts }, name) : nested(name)
  }
  return isObject(value) ? entriesOf(name, value, keys) : nested(name)
}

function entriesOf(name: string, value: JsonObject, keys: readonly string[] | null): Texts | BadArgument {
  const entries: [string, string][] = []
  for (const [key, item] of Object.entries(value)) {
    if (keys !== null && !keys.includes(key)) return new BadArgument(`\`${name}\` has no member \`${short(key)}\``)
    const text = scalarText(item)
    if (text === null) return nested(name)
    entries.push([key, text])
  }
  return checked({ kind: 'object', entries }, name)
}

/** Null for what is no single value. Numbers that no double holds keep their digits. */
function scalarText(value: Json): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return JSON.isRawJSON(value) ? JSON.stringify(value) : null
}

function nested(name: string): BadArgument {
  return new BadArgument(`\`${name}\` must be a text, a number, true or false, or a list or an object of these`)
}

function checked(texts: Texts, name: string): Texts | BadArgument {
  return allOf(texts).every((text) => text.isWellFormed()) ? texts : new BadArgument(`\`${name}\` is not valid Unicode`)
}

export function allOf(texts: Texts): string[] {
  if (texts.kind === 'one') return [texts.text]
  return texts.kind === 'list' ? texts.texts : texts.entries.flat()
}

/** For messages. */
export function short(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

declare global {
  interface JSON {
    /** In the runtime, not yet in the types. */
    isRawJSON(value: unknown): boolean
  }
}
