import { isObject, type JsonObject } from '@portico/http/json'
import type { McpItemKind } from '../../records/mcp-record.ts'
import type { RpcMessage } from '../protocol.ts'
import type { Namer, TargetItem } from '../names.ts'
import { edited, editExactly, type Edits, joinEdits } from '../edit.ts'
import { RELATED_TASK } from './meta.ts'

/** The item that a client's request names, under the name that clients see. */
export interface AskedItem {
  kind: McpItemKind
  exposed: string
}

/** Returns the item that a request names; null when the name is missing or has the wrong form. */
export function askedItem({ method, value }: RpcMessage): AskedItem | null {
  const params = isObject(value.params) ? value.params : {}
  const at = namePosition(method, params)
  const name = at === null ? undefined : at.in[at.member]
  return at === null || typeof name !== 'string' ? null : { kind: at.kind, exposed: name }
}

/** Whether requests of this method name an item, and so go to the target that has the item. */
export function isAboutItem(method: string): boolean {
  return method === 'completion/complete' || nameMembers.has(method)
}

/** The list methods: the kind of the listed items, the member with the items, and the member with an item's name. */
export const lists = {
  'tools/list': { kind: 'tool', items: 'tools', name: 'name' },
  'prompts/list': { kind: 'prompt', items: 'prompts', name: 'name' },
  'resources/list': { kind: 'resource', items: 'resources', name: 'uri' },
  'resources/templates/list': { kind: 'resource', items: 'resourceTemplates', name: 'uriTemplate' },
  'skills/list': { kind: 'resource', items: 'skills', name: 'uri' },
  'tasks/list': { kind: 'task', items: 'tasks', name: 'taskId' },
} as const satisfies Record<string, { kind: McpItemKind; items: string; name: string }>

export type ListMethod = keyof typeof lists

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(lists, method)
}

/** Returns the request with the names that its target knows; everything else keeps its bytes. */
export function forTarget(message: RpcMessage, owned: TargetItem, namer: Namer): RpcMessage {
  if (namer.keepsNames) return message
  return editExactly(message, 'params', (params) =>
    joinEdits(nameFor(message.method, params, owned.name), metaFor(params, owned.target, namer)),
  )
}

/** Returns a message that names no item, a notification or a response to a target, with the task ids of its target. */
export function replyForTarget(message: RpcMessage, target: string, namer: Namer): RpcMessage {
  const member = message.kind === 'response' ? 'result' : 'params'
  return editExactly(message, member, (object) =>
    joinEdits(
      metaFor(object, target, namer),
      message.method === 'notifications/tasks/status' ? taskFor(object, target, namer) : null,
    ),
  )
}

/** The object and the member of a request that contain an item's name. */
interface NamePosition {
  kind: McpItemKind
  in: JsonObject
  member: string
}

function namePosition(method: string, params: JsonObject): NamePosition | null {
  if (method === 'completion/complete') {
    const ref = isObject(params.ref) ? params.ref : {}
    if (ref.type === 'ref/prompt') return { kind: 'prompt', in: ref, member: 'name' }
    return ref.type === 'ref/resource' ? { kind: 'resource', in: ref, member: 'uri' } : null
  }
  const found = nameMembers.get(method)
  return found === undefined ? null : { kind: found[0], in: params, member: found[1] }
}

const nameMembers: ReadonlyMap<string, readonly [kind: McpItemKind, member: string]> = new Map([
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
  const at = namePosition(method, params)
  if (at === null || at.in[at.member] === name) return null
  const edits = { [at.member]: name }
  return at.in === params ? edits : { ref: edited(at.in, edits)! }
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
