import { isObject, type JsonObject } from '@portico/http/json'
import type { McpItemKind } from '../../records/mcp-record.ts'
import type { RpcMessage } from '../message.ts'
import type { Namer, Owned } from '../names.ts'
import { edited, editExactly, type Edits, joinEdits } from '../edit-exactly.ts'
import { RELATED_TASK } from './meta.ts'

/** The item that a request of a client names, by the name that clients know. */
export interface AskedItem {
  kind: McpItemKind
  exposed: string
}

/** Returns the item that a request names; null when the name is missing or has the wrong form. */
export function askedItem({ method, value }: RpcMessage): AskedItem | null {
  const params = isObject(value.params) ? value.params : {}
  const place = placeOf(method, params)
  const name = place === null ? undefined : place.in[place.member]
  return place === null || typeof name !== 'string' ? null : { kind: place.kind, exposed: name }
}

/** Whether requests of this method are for the one target that has what they name. */
export function isAboutItem(method: string): boolean {
  return method === 'completion/complete' || placesByMethod.has(method)
}

/** Returns the request with the names that its target knows; everything else keeps its bytes. */
export function forTarget(message: RpcMessage, owned: Owned, namer: Namer): RpcMessage {
  return editExactly(message, 'params', (params) =>
    joinEdits(nameFor(message.method, params, owned.name), metaFor(params, owned.target, namer)),
  )
}

/** Returns a message that names no item, a notification or a response to a target, with the task ids of its target. */
export function replyForTarget(message: RpcMessage, target: string, namer: Namer): RpcMessage {
  const member = message.kind === 'response' ? 'result' : 'params'
  return editExactly(message, member, (held) =>
    joinEdits(
      metaFor(held, target, namer),
      message.method === 'notifications/tasks/status' ? taskFor(held, target, namer) : null,
    ),
  )
}

interface Place {
  kind: McpItemKind
  in: JsonObject
  member: string
}

function placeOf(method: string, params: JsonObject): Place | null {
  if (method === 'completion/complete') {
    const ref = isObject(params.ref) ? params.ref : {}
    if (ref.type === 'ref/prompt') return { kind: 'prompt', in: ref, member: 'name' }
    return ref.type === 'ref/resource' ? { kind: 'resource', in: ref, member: 'uri' } : null
  }
  const found = placesByMethod.get(method)
  return found === undefined ? null : { kind: found[0], in: params, member: found[1] }
}

const placesByMethod: ReadonlyMap<string, readonly [kind: McpItemKind, member: string]> = new Map([
  ['tools/call', ['tool', 'name']],
  ['prompts/get', ['prompt', 'name']],
  ['resources/read', ['resource', 'uri']],
  ['resources/directory/read', ['resource', 'uri']],
  ['skills/get', ['resource', 'uri']],
  ['resources/subscribe', ['resource', 'uri']],
  ['resources/unsubscribe', ['resource', 'uri']],
  ['tasks/get', ['task', 'taskId']],
  ['tasks/result', ['task', 'taskId']],
  ['tasks/update', ['task', 'taskId']],
  ['tasks/cancel', ['task', 'taskId']],
])

function nameFor(method: string, params: JsonObject, name: string): Edits {
  const place = placeOf(method, params)
  if (place === null || place.in[place.member] === name) return null
  const edits = { [place.member]: name }
  return place.in === params ? edits : { ref: edited(place.in, edits)! }
}

function metaFor({ _meta }: JsonObject, target: string, namer: Namer): Edits {
  if (!isObject(_meta)) return null
  const related = _meta[RELATED_TASK]
  const task = isObject(related) ? edited(related, taskFor(related, target, namer)) : null
  return task && { _meta: edited(_meta, { [RELATED_TASK]: task })! }
}

/** Translates a task id for its target; an id of another target is unknown to this one, and stays as it is. */
function taskFor({ taskId }: JsonObject, target: string, namer: Namer): Edits {
  const owned = typeof taskId === 'string' ? namer.owner('task', taskId) : null
  return owned === null || owned.target !== target || owned.name === taskId ? null : { taskId: owned.name }
}
