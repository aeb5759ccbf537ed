import type { Json, JsonObject } from './json.ts'

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
