import type { JsonObject } from '@portico/http/json'
import { SUBSCRIPTION_ID } from '../conversation.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../message.ts'

/** Lists that a reload may have changed, with what newer revisions subscribe to them by. */
const CHANGES = [
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
] as const

/** What clients hear when the config has changed what they are offered. */
export function changeNotices(): RpcMessage[] {
  return CHANGES.map(([method]) => makeMessage({ jsonrpc: '2.0', method }))
}

/** The same for a subscription: what it asked for, by its name. */
export function subscribedNotices(wanted: JsonObject, subscription: RpcId | null): RpcMessage[] {
  const params = { _meta: { [SUBSCRIPTION_ID]: subscription } }
  return CHANGES.flatMap(([method, flag]) =>
    wanted[flag] === true ? [makeMessage({ jsonrpc: '2.0', method, params })] : [],
  )
}
