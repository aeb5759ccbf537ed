import type { Json, JsonObject } from './json.ts'

/** A top-level member of a JSON object, by positions in its bytes. */
export interface JsonMember {
  name: string
  /** Position of the opening quote of the name. */
  start: number
  valueStart: number
  valueEnd: number
}

export interface JsonMembers {
  members: readonly JsonMember[]
  /** Position after the opening brace. */
  open: number
  /** Number of members at all levels; a duplicate name counts twice. */
  count: number
}

/**
 * Finds the members of an object without parsing their values. Returns null when the bytes are not an object; invalid
 * JSON may still be accepted.
 */
export function findMembers(bytes: Buffer): JsonMembers | null {
  const open = skipSpace(bytes, 0) + 1
  if (bytes[open - 1] !== OPEN_BRACE) return null
  const members: JsonMember[] = []
  let count = 0
  let at = skipSpace(bytes, open)
  if (bytes[at] === CLOSE_BRACE) return endsAt(bytes, at) ? { members, open, count } : null
  for (;;) {
    if (bytes[at] !== QUOTE) return null
    const start = at
    const nameEnd = stringEnd(bytes, at)
    at = skipSpace(bytes, nameEnd)
    if (bytes[at] !== COLON) return null
    const valueStart = skipSpace(bytes, at + 1)
    const value = findValueEnd(bytes, valueStart)
    const name = readName(bytes, start, nameEnd)
    if (value === null || name === null) return null
    members.push({ name, start, valueStart, valueEnd: value.end })
    count += 1 + value.count
    at = skipSpace(bytes, value.end)
    if (bytes[at] === CLOSE_BRACE) return endsAt(bytes, at) ? { members, open, count } : null
    if (bytes[at] !== COMMA) return null
    at = skipSpace(bytes, at + 1)
  }
}

/**
 * Counts the members at all levels. The result equals that of the text unless a name is duplicated: parsing keeps only
 * the last duplicate.
 */
export function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    let count = 0
    for (const item of value) count += countMembers(item)
    return count
  }
  let count = 0
  // `Object.values` would cost more than all the rest.
  for (const name in value) count += 1 + countMembers(value[name] ?? null)
  return count
}

function readName(bytes: Buffer, start: number, end: number): string | null {
  if (!hasBackslash(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1)
  try {
    return String(JSON.parse(bytes.toString('utf8', start, end)))
  } catch {
    return null
  }
}

/** Names are short, so a loop is faster than a call into the runtime. */
function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

/**
 * Returns the position after the value and the number of members in it; null when the value is missing or unterminated.
 */
function findValueEnd(bytes: Buffer, start: number): { end: number; count: number } | null {
  let depth = 0
  let count = 0
  let at = start
  while (at < bytes.length) {
    switch (bytes[at]!) {
      case QUOTE:
        at = stringEnd(bytes, at)
        if (depth === 0) return { end: at, count }
        continue
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 0) return plainEnd(start, at, count)
        depth -= 1
        if (depth === 0) return { end: at + 1, count }
        break
      case COLON:
        count += 1
        break
      case COMMA:
      case SPACE:
      case TAB:
      case LINE_FEED:
      case RETURN:
        if (depth === 0) return plainEnd(start, at, count)
        break
    }
    at += 1
  }
  return null
}

/** A number or a literal ends where another token begins. */
function plainEnd(start: number, end: number, count: number): { end: number; count: number } | null {
  return end === start ? null : { end, count }
}

/** Returns the position after the closing quote; the end of the bytes when there is none. */
function stringEnd(bytes: Buffer, quote: number): number {
  let at = bytes.indexOf(QUOTE, quote + 1)
  while (at !== -1) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
    at = bytes.indexOf(QUOTE, at + 1)
  }
  return bytes.length
}

function endsAt(bytes: Buffer, brace: number): boolean {
  return skipSpace(bytes, brace + 1) === bytes.length
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === SPACE || bytes[at] === LINE_FEED || bytes[at] === RETURN || bytes[at] === TAB) at += 1
  return at
}

const TAB = 0x09
const LINE_FEED = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Changes to the top-level members of a body: new values, or undefined to remove a member. */
export type MemberEdits = ReadonlyMap<string, Json | undefined>

export const NO_EDITS: MemberEdits = new Map()

/**
 * Applies the edits: existing members keep their positions, new members are appended. `spliceJson` does the same to
 * bytes.
 */
export function applyEdits(body: JsonObject, edits: MemberEdits): JsonObject {
  if (edits.size === 0) return body
  const members = new Map(Object.entries(body))
  for (const [name, value] of edits) {
    if (value === undefined) members.delete(name)
    else members.set(name, value)
  }
  // `fromEntries` instead of assignment, because a name may be `__proto__`.
  return Object.fromEntries(members)
}

/** Merges edits; the later of two edits of one member wins. */
export function joinEdits(...all: readonly MemberEdits[]): MemberEdits {
  const [first = NO_EDITS, ...others] = all.filter((edits) => edits.size > 0)
  return others.length === 0 ? first : new Map([first, ...others].flatMap((edits) => [...edits]))
}

/** A JSON object with the positions of its members. */
export interface SplicedText extends Pick<JsonMembers, 'members' | 'open'> {
  bytes: Buffer
}

/** Returns the body's bytes with these members changed; every other byte and the order of members stay. */
export function spliceJson(text: SplicedText, edits: MemberEdits): Buffer {
  // Without edits, the members need not have been located.
  if (edits.size === 0) return text.bytes
  const { bytes, members, open } = text
  const pieces: Buffer[] = [bytes.subarray(0, members[0]?.start ?? open)]
  const known = new Set<string>()
  let isFirst = true
  let previousEnd = open
  for (const { name, start, valueStart, valueEnd } of members) {
    const isEdited = edits.has(name)
    if (isEdited) known.add(name)
    const value = edits.get(name)
    const comma = bytes.subarray(previousEnd, start)
    previousEnd = valueEnd
    if (isEdited && value === undefined) continue
    // The comma includes the white space around it.
    if (!isFirst) pieces.push(comma)
    isFirst = false
    if (isEdited) pieces.push(bytes.subarray(start, valueStart), Buffer.from(JSON.stringify(value)))
    else pieces.push(bytes.subarray(start, valueEnd))
  }
  for (const [name, value] of edits) {
    if (value === undefined || known.has(name)) continue
    pieces.push(Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`))
    isFirst = false
  }
  pieces.push(bytes.subarray(members.at(-1)?.valueEnd ?? open))
  return Buffer.concat(pieces)
}
