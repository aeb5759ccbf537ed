import { follow } from '../../pipeline/call/follow.ts'
import { traceFiltered } from './hide-forbidden.ts'
import { exactMember } from '../edit-exactly.ts'
import { BAD_CURSOR, type FetchPage, MergeError } from '../merge/gather.ts'
import { exposeResult, type ListMethod } from '../merge/list-page.ts'
import { gatherLists, type MergedList } from '../merge/merge-lists.ts'
import { makeMessage, type RpcMessage } from '../message.ts'
import { withParams } from '../edit.ts'
import { objectAt } from '@portico/http/json'
import type { McpItem } from '../../records/mcp-record.ts'
import { VERSION } from '../../version.ts'
import { ask } from './ask.ts'
import { askTarget } from './single-target.ts'
import { targetNamed } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { keepsOf } from './outward.ts'
import type { Target } from '../targets/target.ts'

/** Answers a request for a list: of one target as it is, of several as one list of everything. */
export function serveList(exchange: Exchange, request: RpcMessage, method: ListMethod): void {
  const { targets, namer } = exchange.endpoint
  const alone = targets[0]
  if (namer.isMerged) return follow(exchange.rx, serveMerged(exchange, request, method))
  const isPlain = !namer.isPrefixed && !namer.choosesTools && !alone.judge.hasRules
  if (isPlain) return askTarget(exchange, alone, { request, message: request })
  askTarget(exchange, alone, { request, message: request, edit: filterPage(exchange, alone, method) })
}

/** Takes out of a page of one target what rules keep from the caller. */
export function filterPage(exchange: Exchange, target: Target, method: ListMethod): (page: RpcMessage) => RpcMessage {
  return (response) => {
    const result = exactMember(response, 'result')
    if (result === null) return response
    const page = exposeResult(method, target.name, result, exchange.endpoint.namer, keepsOf(exchange))
    exchange.session.owners.noteListed(method, [...page.kept, ...page.hidden])
    traceHidden(exchange, page)
    return makeMessage({ jsonrpc: '2.0', id: response.id, result: page.result })
  }
}

async function serveMerged(exchange: Exchange, request: RpcMessage, method: ListMethod): Promise<void> {
  exchange.facts.askedAt = exchange.endpoint.now()
  const hasCursor = objectAt(request.value, 'params').cursor !== undefined
  const merged = hasCursor ? BAD_CURSOR : await gather(exchange, request, method)
  if (exchange.isCancelled) return
  exchange.facts.answeredAt = exchange.endpoint.now()
  if (merged instanceof MergeError) return exchange.mergeFailed(request, merged)
  for (const { message, target } of merged.failures) exchange.leftOut(target, message)
  traceHidden(exchange, merged)
  tellClashes(exchange, merged.clashes)
  exchange.respond(request, merged.result)
}

/** The whole list that this caller may see. */
export async function gather(
  exchange: Exchange,
  request: RpcMessage,
  method: ListMethod,
  targets: readonly string[] = exchange.endpoint.namer.targets,
): Promise<MergedList | MergeError> {
  const { endpoint, session } = exchange
  const startedAt = endpoint.now()
  const fetch: FetchPage = (name, cursor) => {
    const target = targetNamed(endpoint, name)
    const page = cursor === null ? request : withParams(request, { cursor })
    // All pages together have the time of one.
    const left = cursor === null ? target.limits.listMs : startedAt + target.limits.listMs - endpoint.now()
    return ask(exchange, target, page, Math.max(1, Math.ceil(left)))
  }
  const keeps = keepsOf(exchange)
  const list = await gatherLists(method, targets, fetch, {
    namer: endpoint.namer,
    failureMode: endpoint.failsOpen ? 'FailOpen' : 'FailClosed',
    keeps,
    gateway: GATEWAY,
    owners: session.owners,
  })
  if (keeps !== null && !(list instanceof MergeError)) session.owners.noteListed(method, [...list.kept, ...list.hidden])
  return list
}

/** What the caller does not get to see, and why. */
function traceHidden({ rx, endpoint }: Exchange, list: { kept: readonly McpItem[]; hidden: readonly McpItem[] }): void {
  for (const item of list.hidden) {
    if (!endpoint.namer.tellOfDisplaced(item)) continue
    const { target, name: tool } = item
    endpoint.log.warn('tool not offered: its name was given to another by `tools.rename`', { target, tool })
  }
  traceFiltered(rx, { kept: list.kept.length, hidden: list.hidden }, endpoint)
}

/** Reports name clashes to the log and the trace: only the operator can resolve them. */
function tellClashes({ endpoint, rx, facts }: Exchange, clashes: readonly MergeError[]): void {
  for (const { message } of clashes.slice(0, MOST_TOLD)) {
    endpoint.log.warn('name left out of a list', { error: message })
    rx.trace?.emit({ type: 'mcpCall', method: facts.method, error: message }, 'warn')
  }
}

const MOST_TOLD = 10
export const GATEWAY = { name: 'portico', version: VERSION }
