import type { JsonMembers } from './json-members.ts'
import type { MemberEdits } from './member-edits.ts'

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
