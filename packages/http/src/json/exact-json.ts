import { isObject, parseJson, type Json, type JsonObject } from './json.ts'

/**
 * Parses JSON and keeps large integers exact: ids of 17 digits and more do not fit into a double, and a model would see
 * a different id in its own tool call. Such numbers become values that only `JSON.stringify` reads. Returns undefined
 * when the text is not JSON.
 */
export function parseExactJson(text: string): Json | undefined {
  const parsed = parseJson(text)
  if (parsed === null) return undefined
  return hasLargeNumber(text) ? JSON.parse(text, keepLargeNumber) : parsed.value
}

/**
 * Returns whether exact parsing may differ from `JSON.parse`. The check is fast and also counts digits inside strings.
 */
export function hasLargeNumber(text: string): boolean {
  return LARGE_NUMBER.test(text)
}

/** Returns null when the value is not an object. */
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
    /** Present in the runtime, missing in the types. Only `JSON.stringify` can read the returned value. */
    rawJSON(text: string): Json
  }
}
