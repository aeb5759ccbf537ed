import { randomUUID } from 'node:crypto'
import { objectAt, textAt, type Json, type JsonObject } from '../../wire/json.ts'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { withParams } from '../edit.ts'
import { makeMessage, type RpcMessage } from '../message.ts'
import type { AnswerSink, Caller, LinkCall, TargetLink } from '../transports/transport.ts'

/**
 * A subscription of a client without sessions at a target that has them: what the target says on its own account, as far
 * as the client asked for it. A target that says nothing on its own account leaves the stream open, and silent.
 */
export function listenToOlder(link: TargetLink, request: RpcMessage, caller: Caller, answer: AnswerSink): LinkCall {
  const wanted = objectAt(objectAt(request.value, 'params'), 'notifications')
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions.filter(isText) : []
  answer.opened?.()
  answer.message(tagged(acknowledgement(wanted, uris), request), '')
  for (const [index, uri] of uris.entries()) subscribe(link, caller, uri, index)
  return link.listen('', caller, {
    message(said) {
      if (said.kind === 'request') return answer.message(said, '')
      if (said.kind !== 'notification' || !isWanted(said, wanted, uris)) return true
      return answer.message(tagged(said, request), '')
    },
    closed: () => answer.closed(),
    failed(failure) {
      if (failure.code !== 'unsupported') answer.failed(failure)
    },
  })
}

function isText(value: Json): value is string {
  return typeof value === 'string'
}

/** Older revisions are asked for each resource; one that refuses has nothing to tell. */
function subscribe(link: TargetLink, caller: Caller, uri: string, index: number): void {
  const params = { uri }
  const message = makeMessage({
    jsonrpc: '2.0',
    id: `portico-subscribe-${index}-${randomUUID()}`,
    method: 'resources/subscribe',
    params,
  })
  link.request(message, caller, { message: () => true, closed() {}, failed() {} })
}

function acknowledgement(wanted: JsonObject, uris: readonly string[]): RpcMessage {
  const notifications: JsonObject = {}
  for (const flag of Object.values(FLAGS)) if (wanted[flag] === true) notifications[flag] = true
  if (uris.length > 0) notifications.resourceSubscriptions = [...uris]
  const method = 'notifications/subscriptions/acknowledged'
  return makeMessage({ jsonrpc: '2.0', method, params: { notifications } })
}

function isWanted({ method, value }: RpcMessage, wanted: JsonObject, uris: readonly string[]): boolean {
  if (method === 'notifications/resources/updated') return uris.includes(textAt(objectAt(value, 'params'), 'uri') ?? '')
  return Object.hasOwn(FLAGS, method) && wanted[FLAGS[method]!] === true
}

/** Every message of a subscription names it. */
function tagged(message: RpcMessage, request: RpcMessage): RpcMessage {
  const meta = objectAt(objectAt(message.value, 'params'), '_meta')
  return withParams(message, { _meta: { ...meta, [SUBSCRIPTION_ID]: request.id } })
}

const FLAGS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}
