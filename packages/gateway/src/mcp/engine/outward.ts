import { writePosition } from './event-ids.ts'
import { exactMember } from '../edit-exactly.ts'
import { forClient } from '../merge/for-client.ts'
import { exposeResult, isListMethod, type ListMethod, lists, type Keeps } from '../merge/list-page.ts'
import { withId } from '../edit.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../message.ts'
import type { Exchange } from './exchange.ts'
import { targetNamed } from './endpoint.ts'
import type { Target } from '../targets/target.ts'

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

/** What rules, and the config of the targets, leave of lists; null when there is nothing of the kind. */
export function keepsOf({ endpoint, rx }: Exchange): Keeps {
  const { namer, targets } = endpoint
  if (!namer.choosesTools && targets.every(({ judge }) => !judge.hasRules)) return null
  return (item) => namer.offers(item) && targetNamed(endpoint, item.target).judge.allows(rx, item)
}

/**
 * Requests of targets to the client: several targets may use the same id, so it says whose it is until the client's
 * answer has come back.
 */
export function outwardRequest(message: RpcMessage, target: string): RpcMessage {
  const { id } = message
  return withId(message, `${MARK}${target}:${typeof id === 'number' ? 'n' : 's'}:${id}`)
}

/** Whose request an answer of the client is for, and what that target called it; null when it is nobody's. */
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
