import { writePosition } from '../client/event-ids.ts'
import { exactMember } from '../merge/edit-exactly.ts'
import { forClient } from '../merge/for-client.ts'
import { exposeResult, isListMethod, type ListMethod, lists } from '../merge/list-page.ts'
import { makeMessage, type RpcMessage } from '../message.ts'
import type { Exchange } from './exchange.ts'
import { keepsOf } from './keeps.ts'
import { outwardRequest } from './request-ids.ts'
import type { Target } from './target.ts'

/** What a target says, with the names and ids that clients see; a response is one to a request of `method`. */
export function outward(exchange: Exchange, target: Target, message: RpcMessage, method: string): RpcMessage {
  const { namer } = exchange.endpoint
  if (!namer.isMerged && !namer.isPrefixed) return message
  const named = forClient(message, method, target.name, namer)
  return message.kind === 'request' && namer.isMerged ? outwardRequest(named, target.name) : named
}

/**
 * The same for a response that comes later, on another stream: its request is forgotten, and nobody may learn from it
 * what rules keep from lists. So what it holds tells what it is.
 */
export function outwardReplay(exchange: Exchange, target: Target, message: RpcMessage): RpcMessage {
  if (message.kind !== 'response') return outward(exchange, target, message, '')
  const { namer } = exchange.endpoint
  if (!namer.isMerged && !namer.isPrefixed && !namer.choosesTools && !target.judge.hasRules) return message
  const exact = exactMember(message, 'result')
  if (exact === null) return message
  const listed = Object.keys(lists).filter((method): method is ListMethod => {
    return isListMethod(method) && Array.isArray(exact[lists[method].items])
  })
  // Results of calls have links to resources in many places, tasks among them.
  if (listed.length === 0) return outward(exchange, target, message, 'tasks/result')
  const result = listed.reduce(
    (page, method) => exposeResult(method, target.name, page, namer, keepsOf(exchange)).result,
    exact,
  )
  return makeMessage({ jsonrpc: '2.0', id: message.id, result })
}

/** The id of an event of one request's stream, as the client gets it. */
export function callPosition({ endpoint }: Exchange, target: Target, eventId: string): string {
  if (eventId === '' || !endpoint.namer.isMerged) return eventId
  return writePosition({ of: 'call', ids: new Map([[target.name, eventId]]) })
}
