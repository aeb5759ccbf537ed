import * as fc from 'fast-check'
import type { Json, JsonObject } from '@portico/http/json'
import { BadMessage, readMessage, type RpcMessage } from '../protocol.ts'

/** A message from its text. */
export function messageOf(text: string): RpcMessage {
  const message = readMessage(Buffer.from(text))
  if (message instanceof BadMessage) throw new Error(message.message)
  return message
}

export function responseOf(result: JsonObject): RpcMessage {
  return messageOf(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
}

export function requestOf(method: string, params: JsonObject): RpcMessage {
  return messageOf(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
}

const names = fc.constantFrom(
  ...['tools', 'prompts', 'resources', 'resourceTemplates', 'tasks', 'name', 'uri', 'uriTemplate', 'taskId', 'task'],
  ...['content', 'contents', 'messages', 'resource', 'type', '_meta', 'ui', 'resourceUri', 'ref', 'nextCursor'],
  ...['io.modelcontextprotocol/related-task', 'notifications', 'resourceSubscriptions', 'capabilities', 'result'],
  ...['instructions', 'protocolVersion', 'ttlMs', 'cacheScope', '__proto__', 'constructor'],
)
const leaf = fc.oneof(
  fc.constantFrom<Json[]>('resource', 'resource_link', 'ref/prompt', 'ref/resource', 'a_x', 'a+file:///x', 'ui://a+x'),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<Json[]>(null, true, false, 0),
)

/** Objects with the members that merging looks for, where they should not be too. */
export const hostileObject: fc.Arbitrary<JsonObject> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc
    .uniqueArray(fc.tuple(names, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((entries): JsonObject => Object.fromEntries(entries)),
})).object
