import { isObject, textAt } from '@portico/http/json'
import type { AskedItem } from '../merge/item-methods.ts'
import { INVALID_PARAMS, rpcError, type RpcMessage } from '../protocol.ts'
import type { Exchange } from './exchange.ts'

/**
 * Answers that there is no such item. The bytes are the same for an item that does not exist and for one that rules hide
 * from the caller, and so is the work: the record of either has the outcome of every rule, which takes longest to write.
 * Only logs, metrics and records tell the two apart.
 */
export function refuseUnknown(
  exchange: Exchange,
  request: RpcMessage,
  { kind, exposed }: AskedItem,
  outcome: 'error' | 'denied' = 'error',
): void {
  const { rx, record, answer, rules } = exchange
  if (rules.length > 0) rx.notes ??= { code: 'mcp_unknown', item: record.item, rules }
  const message = `Unknown ${kind}: ${exposed}`
  if (record.outcome === null) record.fail(outcome, INVALID_PARAMS, message)
  exchange.report()
  // Whether a list was asked for meanwhile, and how it came, must not show.
  answer.preferEvents(false)
  answer.respond(rpcError(request.id, INVALID_PARAMS, message), '')
  exchange.finish()
}

/** Whether a target says in its own words that it does not have what the request names. */
export function saysUnknown({ value: { error } }: RpcMessage, method: string): boolean {
  if (!isObject(error)) return false
  if (error.code === RESOURCE_NOT_FOUND || (error.code === INVALID_PARAMS && BY_URI.has(method))) return true
  return /\b(unknown|not found|no such|not exist)\b/i.test(textAt(error, 'message') ?? '')
}

/** Requests with no parameter besides the URI: an invalid one is the URI. */
const BY_URI = new Set([
  'resources/read',
  'resources/directory/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'skills/get',
])
const RESOURCE_NOT_FOUND = -32002
