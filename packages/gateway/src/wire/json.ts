import { parseSafely } from '@portico/cel/safe-json'

/**
 * JSON of clients and upstreams. Whatever was read here can be written again: what is nested deeper than anybody means
 * would end the writer's stack.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Null when it is no JSON, or nested too deeply. */
export function parseJson(text: string): { value: Json } | null {
  // Each level takes two characters at least.
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

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member when it is an object; an empty one otherwise. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}

/** The objects of a list; whatever else stands there is passed over. */
export function objectsAt(object: JsonObject, name: string): JsonObject[] {
  const value = object[name]
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The member when it is a text, also an empty one. */
export function textAt(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  return typeof value === 'string' ? value : undefined
}

/** The member when it counts something. */
export function countAt(object: JsonObject, name: string): number | undefined {
  const value = object[name]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** The members that are there. */
export function withoutAbsent<T extends object>(object: T): { [name in keyof T]?: T[name] & Present } {
  const present: { [name in keyof T]?: T[name] & Present } = {}
  for (const name in object) {
    const value = object[name]
    if (value !== undefined) present[name] = value
  }
  return present
}

type Present = {} | null

/** Sets a member that is there. One object grows by what is said of it, where merging others into it takes longer. */
export function put<T extends object, N extends keyof T>(object: T, name: N, value: T[N] | undefined): void {
  if (value !== undefined) object[name] = value
}

/** How many names stand in a text that is JSON: those of all objects, and one that stands twice counts twice. */
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

/** Where the closing quote stands; the end of the text when there is none. */
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
