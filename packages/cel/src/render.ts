import { CelError } from './error.ts'
import { encodeBase64 } from './run/base64.ts'
import { convertToString } from './run/convert.ts'
import { entriesOf } from './run/maps.ts'
import { MAX_SIZE, meter } from './run/meter.ts'
import { isList, isMap } from './run/type-of.ts'
import { decodeUtf8 } from './run/utf8.ts'
import { Double, Opaque, Optional, Uint } from './value.ts'
import type { MapKey, Result, Value } from './value.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * Limits for rendering. A value may contain the same list or text many times, and would exhaust memory when written out.
 */
interface JsonLimits {
  values: number
  characters: number
}

const MAX_DEPTH = 200
const MAX_VALUES = 1_000_000

/**
 * Converts a value to JSON: bytes as base64, times as RFC 3339 in UTC, durations as text, integers beyond 2^53 as text.
 * Errors, values without a JSON form, and values beyond the limits become null. `limits` is decremented.
 */
export function toJson(value: Result, limits: JsonLimits = { values: MAX_VALUES, characters: MAX_SIZE }): Json {
  return withMeter(() => convert(value, 0))

  function convert(item: Result | undefined, depth: number): Json {
    if (item === undefined || item === null || depth > MAX_DEPTH || --limits.values < 0) return null
    if (typeof item === 'boolean') return item
    if (typeof item === 'number') return Number.isFinite(item) ? item : null
    if (item instanceof Double) return item.value
    if (item instanceof Uint || typeof item === 'bigint') return wholeNumber(item instanceof Uint ? item.value : item)
    if (item instanceof Optional) return convert(item.value, depth + 1)
    if (isList(item)) return item.map((inner) => convert(inner, depth + 1))
    // `Object.fromEntries` is used instead of assignment, because a key may be `__proto__`.
    if (isMap(item)) return Object.fromEntries(entriesOf(item).map((entry) => convertEntry(entry, depth)))
    return counted(typeof item === 'string' ? item : item instanceof Uint8Array ? encodeBase64(item) : scalarText(item))
  }

  function convertEntry([key, item]: [MapKey, Value], depth: number): [string, Json] {
    return [counted(keyText(key)) ?? '', convert(item, depth + 1)]
  }

  function counted(text: string | null): string | null {
    limits.characters -= text?.length ?? 0
    return limits.characters < 0 ? null : text
  }
}

/**
 * Converts a value to text for headers, labels and logs: strings unchanged, bytes as UTF-8, lists and maps as JSON, errors
 * as an empty text.
 */
export function toText(value: Result): string {
  if (typeof value === 'string') return value
  if (value instanceof CelError) return ''
  if (value instanceof Optional) return value.value === undefined ? '' : toText(value.value)
  if (value instanceof Uint8Array) return decodeUtf8(value) ?? encodeBase64(value)
  if (isList(value) || isMap(value)) return JSON.stringify(toJson(value))
  return value === null ? 'null' : (scalarText(value) ?? '')
}

function wholeNumber(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function keyText(key: Value): string {
  return typeof key === 'string' ? key : (scalarText(key) ?? '')
}

function scalarText(value: Value | CelError): string | null {
  if (value instanceof CelError) return null
  if (value instanceof Opaque) return value.toText()
  const text = withMeter(() => convertToString(value))
  return typeof text === 'string' ? text : null
}

/** Runs rendering without a budget, because it is not a step of the evaluation that may be running. */
function withMeter<T>(work: () => T): T {
  const before = meter.left
  meter.left = Infinity
  try {
    return work()
  } finally {
    meter.left = before
  }
}
