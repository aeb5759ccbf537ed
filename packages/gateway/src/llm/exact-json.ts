import { parseJson } from './json.ts'
import type { Json } from './middle.ts'

/**
 * JSON whose integers survive: ids of 17 digits and more do not fit into a double, and a model would see another id in
 * its own tool call. Such numbers become values that only `JSON.stringify` reads. Undefined when the text is no JSON.
 */
export function parseExactJson(text: string): Json | undefined {
  const parsed = parseJson(text)
  if (parsed === null) return undefined
  return LARGE_NUMBER.test(text) ? JSON.parse(text, keepLargeNumber) : parsed.value
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
