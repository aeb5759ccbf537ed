import { parseSafely } from '@portico/cel/safe-json'

/**
 * JSON of clients and upstreams. Everything that was parsed here can be serialized again: texts that are nested too
 * deeply are rejected, because they would overflow the serializer's stack.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Returns null when the text is not JSON, or is nested too deeply. */
export function parseJson(text: string): { value: Json } | null {
  // Each level takes at least two characters.
  if (text.length > 2 * MAX_DEPTH && depthOf(text) > MAX_DEPTH) return null
  try {
    return { value: parseSafely(text) }
  } catch {
    return null
  }
}

export function parseJsonObject(text: string): JsonObject | null {
  const parsed = parseJson(text)
  return parsed !== null && isObject(parsed.value) ? parsed.value : null
}

/** Whether a value is an object of JSON: no list, not null. */
export function isObject(value: Json | undefined): value is JsonObject
export function isObject(value: unknown): value is Record<string, unknown>
// Repeated, because the last signature holds where the function is an argument: `list.filter(isObject)`.
export function isObject(value: Json | undefined): value is JsonObject
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the member if it is an object; otherwise an empty object. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}

/** Returns the objects of a list; other items are skipped. */
export function objectsAt(object: JsonObject, name: string): JsonObject[] {
  const value = object[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns the member if it is a string, including an empty string. */
export function textAt(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns the member if it is a finite number that is not negative. */
export function countAt(object: JsonObject, name: string): number | undefined {
  const value = object[name]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Returns the members that are not undefined. */
export function withoutAbsent<T extends object>(object: T): { [name in keyof T]?: T[name] & Present } {
  const present: { [name in keyof T]?: T[name] & Present } = {}
  for (const name in object) {
    const value = object[name]
    if (value !== undefined) present[name] = value
  }
  return present
}

type Present = {} | null

/** Sets a member unless the value is undefined. Growing one object is faster than merging several. */
export function put<T extends object, N extends keyof T>(object: T, name: N, value: T[N] | undefined): void {
  if (value !== undefined) object[name] = value
}

/** Counts the member names of all objects in a JSON text; a duplicate name counts twice. */
export function countNames(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at + 1)
    else if (code === COLON) count += 1
  }
  return count
}

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at + 1)
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
      depth -= 1
    }
  }
  return deepest
}

/** Returns the position of the closing quote; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start)
  while (at !== -1) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
    at = text.indexOf('"', at + 1)
  }
  return text.length
}

const MAX_DEPTH = 512
const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

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
