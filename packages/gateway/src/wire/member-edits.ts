import type { Json, JsonObject } from './json.ts'

/** Members at the top of a body that change: their new values, or undefined for those that go. */
export type MemberEdits = ReadonlyMap<string, Json | undefined>

export const NO_EDITS: MemberEdits = new Map()

/** The body with the edits: members keep their places, new ones follow. `spliceJson` does the same to bytes. */
export function applyEdits(body: JsonObject, edits: MemberEdits): JsonObject {
  if (edits.size === 0) return body
  const members = new Map(Object.entries(body))
  for (const [name, value] of edits) {
    if (value === undefined) members.delete(name)
    else members.set(name, value)
  }
  // Not by assignment: a name may be `__proto__`.
  return Object.fromEntries(members)
}

/** Of two edits of one member the later one holds. */
export function joinEdits(...all: readonly MemberEdits[]): MemberEdits {
  const [first = NO_EDITS, ...others] = all.filter((edits) => edits.size > 0)
  return others.length === 0 ? first : new Map([first, ...others].flatMap((edits) => [...edits]))
}
