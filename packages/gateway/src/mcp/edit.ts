import { findMembers, isObject, type Json, type JsonObject, spliceJson } from '@portico/http/json'
import type { RpcId, RpcMessage } from './message.ts'

/** The message with another id; every other byte stays. */
export function withId(message: RpcMessage, id: RpcId): RpcMessage {
  return { ...message, id, value: { ...message.value, id }, bytes: edited(message.bytes, { id }) }
}

/** The message with these members of `params` changed, or left out where they are undefined; every other byte stays. */
export function withParams(message: RpcMessage, edits: Readonly<Record<string, Json | undefined>>): RpcMessage {
  return withMember(message, 'params', edits)
}

/** The same for members of `result`. */
export function withResult(message: RpcMessage, edits: Readonly<Record<string, Json | undefined>>): RpcMessage {
  return withMember(message, 'result', edits)
}

function withMember(
  message: RpcMessage,
  member: 'params' | 'result',
  edits: Readonly<Record<string, Json | undefined>>,
): RpcMessage {
  const before = message.value[member]
  const all = Object.entries({ ...(isObject(before) ? before : {}), ...edits })
  const after: JsonObject = Object.fromEntries(all.filter((entry): entry is [string, Json] => entry[1] !== undefined))
  const value = { ...message.value, [member]: after }
  const { bytes } = message
  if (!isObject(before)) return { ...message, value, bytes: edited(bytes, { [member]: after }) }
  const found = findMembers(bytes)?.members.find(({ name }) => name === member)
  if (found === undefined) throw new Error(`the bytes have no ${member}`)
  const { valueStart, valueEnd } = found
  const inside = edited(bytes.subarray(valueStart, valueEnd), edits)
  return { ...message, value, bytes: Buffer.concat([bytes.subarray(0, valueStart), inside, bytes.subarray(valueEnd)]) }
}

function edited(bytes: Buffer, edits: Readonly<Record<string, Json | undefined>>): Buffer {
  const found = findMembers(bytes)
  if (found === null) throw new Error('the bytes are no object')
  return spliceJson({ ...found, bytes }, new Map(Object.entries(edits)))
}
