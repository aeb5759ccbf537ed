import { findMembers, isObject, type Json, type JsonObject, parseExactJson, spliceJson } from '@portico/http/json'
import type { RpcId, RpcMessage } from './protocol.ts'

/** The new values of members of one object; undefined removes a member. Null when nothing changes. */
export type Edits = Readonly<Record<string, Json | undefined>> | null

/** Returns the message with another id; every other byte stays. */
export function withId(message: RpcMessage, id: RpcId): RpcMessage {
  return { ...message, id, value: { ...message.value, id }, bytes: editBytes(message.bytes, { id }) }
}

/** Returns the message with these members of `params` changed, or removed when undefined; every other byte stays. */
export function withParams(message: RpcMessage, edits: NonNullable<Edits>): RpcMessage {
  return withMember(message, 'params', edits)
}

/** Returns the message with these members of `result` changed, or removed when undefined; every other byte stays. */
export function withResult(message: RpcMessage, edits: NonNullable<Edits>): RpcMessage {
  return withMember(message, 'result', edits)
}

/** Returns the message with some members of its `params` or `result` changed; all other bytes and digits of numbers stay. */
export function editExactly(
  message: RpcMessage,
  member: 'params' | 'result',
  edit: (object: JsonObject) => Edits,
): RpcMessage {
  const object = message.value[member]
  if (!isObject(object) || edit(object) === null) return message
  const exact = exactMember(message, member)
  const edits = exact === null ? null : edit(exact)
  return edits === null ? message : withMember(message, member, edits)
}

/** Returns `params` or `result` with every number as it was written; null when the member is no object. */
export function exactMember(message: RpcMessage, member: 'params' | 'result'): JsonObject | null {
  const whole = parseExactJson(message.bytes.toString('utf8'))
  const exact = isObject(whole) ? whole[member] : undefined
  return isObject(exact) ? exact : null
}

/** Joins edits of one object; for a member that several edits change, the last one wins. */
export function joinEdits(...all: readonly Edits[]): Edits {
  const some = all.filter((edits) => edits !== null)
  return some.length === 0 ? null : Object.assign({}, ...some)
}

/** Returns the list with each object replaced by the result of `edit`; null when nothing changes. */
export function editItems(list: Json | undefined, edit: (item: JsonObject) => JsonObject | null): Json[] | null {
  if (!Array.isArray(list)) return null
  let isChanged = false
  const items = list.map((item) => {
    const edited = isObject(item) ? edit(item) : null
    if (edited !== null) isChanged = true
    return edited ?? item
  })
  return isChanged ? items : null
}

/** Returns the object with the edits applied; null when there are no edits. */
export function edited(object: JsonObject, edits: Edits): JsonObject | null {
  return edits === null ? null : applied(object, edits)
}

function applied(object: JsonObject, edits: NonNullable<Edits>): JsonObject {
  const entries = Object.entries({ ...object, ...edits }).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined,
  )
  return Object.fromEntries(entries)
}

function withMember(message: RpcMessage, member: 'params' | 'result', edits: NonNullable<Edits>): RpcMessage {
  const before = message.value[member]
  const after = applied(isObject(before) ? before : {}, edits)
  const value = { ...message.value, [member]: after }
  const { bytes } = message
  if (!isObject(before)) return { ...message, value, bytes: editBytes(bytes, { [member]: after }) }
  const found = findMembers(bytes)?.members.find(({ name }) => name === member)
  if (found === undefined) throw new Error(`the message bytes have no member ${member}`)
  const { valueStart, valueEnd } = found
  const inside = editBytes(bytes.subarray(valueStart, valueEnd), edits)
  return { ...message, value, bytes: Buffer.concat([bytes.subarray(0, valueStart), inside, bytes.subarray(valueEnd)]) }
}

function editBytes(bytes: Buffer, edits: NonNullable<Edits>): Buffer {
  const found = findMembers(bytes)
  if (found === null) throw new Error('the message bytes are not a JSON object')
  return spliceJson({ ...found, bytes }, new Map(Object.entries(edits)))
}
