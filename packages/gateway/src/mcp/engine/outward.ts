import { writePosition } from './event-ids.ts'
import { forClient } from '../merge/for-client.ts'
import { exposeResult, type Keeps } from '../merge/list-page.ts'
import { isListMethod, type ListMethod, lists } from '../merge/item-methods.ts'
import { withId, exactMember } from '../edit.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../protocol.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from '../targets/target.ts'

/** Returns a message of a target with the names and ids that clients see; `method` is the method of the request. */
export function outward(exchange: Exchange, target: Target, message: RpcMessage, method: string): RpcMessage {
  const { namer } = exchange.endpoint
  if (!namer.isMerged && !namer.isPrefixed) return message
  const named = forClient(message, method, target.name, namer)
  return message.kind === 'request' && namer.isMerged ? outwardRequest(named, target.name) : named
}

/**
 * Returns a message that is replayed on another stream with the names and ids that clients see. The request of a
 * replayed response is unknown, so its members tell whether it is a list, from which hidden items are removed.
 */
export function outwardReplay(exchange: Exchange, target: Target, message: RpcMessage): RpcMessage {
  if (message.kind !== 'response') return outward(exchange, target, message, '')
  const { namer } = exchange.endpoint
  if (namer.keepsNames && !target.judge.hasRules) return message
  const exact = exactMember(message, 'result')
  if (exact === null) return message
  const listed = Object.keys(lists).filter((method): method is ListMethod => {
    return isListMethod(method) && Array.isArray(exact[lists[method].items])
  })
  // `tasks/result` selects the conversion that covers links to resources anywhere in a result.
  if (listed.length === 0) return outward(exchange, target, message, 'tasks/result')
  const result = listed.reduce(
    (page, method) => exposeResult(method, target.name, page, namer, keepsOf(exchange)).result,
    exact,
  )
  return makeMessage({ jsonrpc: '2.0', id: message.id, result })
}

/** Returns the SSE event id that the client gets for an event of one request's stream. */
export function callPosition({ endpoint }: Exchange, target: Target, eventId: string): string {
  if (eventId === '' || !endpoint.namer.isMerged) return eventId
  return writePosition({ of: 'call', ids: new Map([[target.name, eventId]]) })
}

/** Returns the filter of lists by authorization rules and `tools` config; null when nothing is filtered. */
export function keepsOf(exchange: Exchange): Keeps {
  const { rx } = exchange
  const { namer, targets } = exchange.endpoint
  if (!namer.choosesTools && targets.every(({ judge }) => !judge.hasRules)) return null
  return (item) => namer.offers(item) && exchange.targetNamed(item.target).judge.allows(rx, item)
}

/**
 * Returns a request of a target to the client with the target's name in its id: several targets may use the same id, and
 * the client's response must reach the right one.
 */
function outwardRequest(message: RpcMessage, target: string): RpcMessage {
  const { id } = message
  return withId(message, `${MARK}${target}:${typeof id === 'number' ? 'n' : 's'}:${id}`)
}

/** Returns the target and the original id of the request that a client's response is for; null when there is none. */
export function answeredRequest(id: RpcId | null): { target: string; id: RpcId } | null {
  if (typeof id !== 'string' || !id.startsWith(MARK)) return null
  const found = /^([^:]+):([ns]):(.*)$/s.exec(id.slice(MARK.length))
  if (found === null) return null
  const [, target = '', kind, text = ''] = found
  if (kind === 's') return { target, id: text }
  const number = Number(text)
  return Number.isFinite(number) && text !== '' ? { target, id: number } : null
}

const MARK = 'portico:'
