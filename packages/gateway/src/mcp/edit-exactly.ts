import { isObject, type Json, type JsonObject, parseExactJson } from '@portico/http/json'
import { withParams, withResult } from './edit.ts'
import type { RpcMessage } from './message.ts'

/** Members that change; undefined leaves one out. Null when nothing does. */
export type Edits = Readonly<Record<string, Json | undefined>> | null

/** The message with some members of its `params` or `result` changed; everything else keeps its bytes, and numbers their digits. */
export function editExactly(
  message: RpcMessage,
  member: 'params' | 'result',
  edit: (held: JsonObject) => Edits,
): RpcMessage {
  const held = message.value[member]
  if (!isObject(held) || edit(held) === null) return message
  const exact = exactMember(message, member)
  const edits = exact === null ? null : edit(exact)
  if (edits === null) return message
  return member === 'params' ? withParams(message, edits) : withResult(message, edits)
}

/** `params` or `result` with every number as it was written; null when it is no object. */
export function exactMember(message: RpcMessage, member: 'params' | 'result'): JsonObject | null {
  const whole = parseExactJson(message.bytes.toString('utf8'))
  const exact = isObject(whole) ? whole[member] : undefined
  return isObject(exact) ? exact : null
}

/** Edits of several places in one object; a later one wins. */
export function joinEdits(...all: readonly Edits[]): Edits {
  const some = all.filter((edits) => edits !== null)
  return some.length === 0 ? null : Object.assign({}, ...some)
}

/** The list with what `edit` makes of its objects; null when nothing changes. */
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

/** The object with these members; null when there are no edits. */
export function edited(object: JsonObject, edits: Edits): JsonObject | null {
  if (edits === null) return null
  const entries = Object.entries({ ...object, ...edits }).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined,
  )
  return Object.fromEntries(entries)
}
