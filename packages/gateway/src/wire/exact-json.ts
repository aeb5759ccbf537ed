import { isObject, parseJson, type Json, type JsonObject } from './json.ts'

/**
 * JSON whose integers survive: ids of 17 digits and more do not fit into a double, and a model would see another id in
 * its own tool call. Such numbers become values that only `JSON.stringify` reads. Undefined when the text is no JSON.
 */
export function parseExactJson(text: string): Json | undefined {
  const parsed = parseJson(text)
  if (parsed === null) return undefined
  return hasLargeNumber(text) ? JSON.parse(text, keepLargeNumber) : parsed.value
}

/** Whether exact reading may give anything else than the usual one: a quick look, that takes digits of texts for numbers. */
export function hasLargeNumber(text: string): boolean {
  return LARGE_NUMBER.test(text)
}

/** Null when it is no object. */
export function parseExactObject(text: string): JsonObject | null {
  const value = parseExactJson(text)
  return isObject(value) ? value : null
}

const LARGE_NUMBER = /\d{16}|\d[eE]/

function keepLargeNumber(_key: string, value: Json, context?: { source?: string }): Json {
  if (typeof value !== 'number' || context?.source === undefined) return value
  const fits = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  return fits ? value : JSON.rawJSON(context.source)
}

declare global {
  interface JSON {
    /** In the runtime, not yet in the types. What it gives is opaque to all but `JSON.stringify`. */
    rawJSON(text: string): Json
  }
}
