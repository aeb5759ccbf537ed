import type { JsonObject } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../protocol.ts'

/** The notifications of lists that a reload may change, with their flags in `subscriptions/listen`. */
const CHANGES = [
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
] as const

/** Returns the notifications to clients after a config reload that changed lists. */
export function changeNotices(): RpcMessage[] {
  return CHANGES.map(([method]) => makeMessage({ jsonrpc: '2.0', method }))
}

/** Returns the notifications that a `subscriptions/listen` request asked for, with its subscription id. */
export function subscribedNotices(wanted: JsonObject, subscription: RpcId | null): RpcMessage[] {
  const params = { _meta: { [SUBSCRIPTION_ID]: subscription } }
  return CHANGES.flatMap(([method, flag]) =>
    wanted[flag] === true ? [makeMessage({ jsonrpc: '2.0', method, params })] : [],
  )
}
