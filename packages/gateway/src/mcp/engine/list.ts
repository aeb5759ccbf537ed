import { follow } from '../../pipeline/call/follow.ts'
import type { RuleOutcome } from '../../pipeline/policy/authorization.ts'
import { BAD_CURSOR, type FetchPage, MergeError } from '../merge/gather.ts'
import { exposeResult } from '../merge/list-page.ts'
import type { ListMethod } from '../merge/item-methods.ts'
import { gatherLists, type MergedList } from '../merge/merge-lists.ts'
import { makeMessage, type RpcMessage } from '../protocol.ts'
import { withParams, exactMember } from '../edit.ts'
import { objectAt } from '@portico/http/json'
import type { McpItem } from '../../records/mcp-record.ts'
import { VERSION } from '../../version.ts'
import { ask } from './ask.ts'
import { askTarget } from './single-target.ts'
import type { Exchange } from './exchange.ts'
import { keepsOf } from './outward.ts'
import type { Target } from '../targets/target.ts'

/** Serves a list request: the list of a single target is forwarded, the lists of several targets are merged. */
export function serveList(exchange: Exchange, request: RpcMessage, method: ListMethod): void {
  const { targets, namer } = exchange.endpoint
  const alone = targets[0]
  if (namer.isMerged) return follow(exchange.rx, serveMerged(exchange, request, method))
  const isPlain = namer.keepsNames && !alone.judge.hasRules
  if (isPlain) return askTarget(exchange, alone, { request, message: request })
  askTarget(exchange, alone, { request, message: request, edit: filterPage(exchange, alone, method) })
}

/** Returns an edit that removes the items that the caller may not see from a page of one target. */
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
  exchange.record.askedAt = exchange.endpoint.now()
  const hasCursor = objectAt(request.value, 'params').cursor !== undefined
  const merged = hasCursor ? BAD_CURSOR : await gather(exchange, request, method)
  if (exchange.isCancelled) return
  exchange.record.answeredAt = exchange.endpoint.now()
  if (merged instanceof MergeError) return exchange.mergeFailed(request, merged)
  for (const { message, target } of merged.failures) exchange.leftOut(target, message)
  traceHidden(exchange, merged)
  tellClashes(exchange, merged.clashes)
  exchange.respond(request, merged.result)
}

/** Returns the list that the caller may see, requested from these targets by the gateway itself. */
export function requestList(
  exchange: Exchange,
  method: ListMethod,
  targets?: readonly string[],
): Promise<MergedList | MergeError> {
  const { requestMeta } = exchange
  const request = { jsonrpc: '2.0', id: `portico-${method}`, method }
  // Revisions without sessions need the client's metadata in each request.
  const message = makeMessage(requestMeta === null ? request : { ...request, params: { _meta: requestMeta } })
  return gather(exchange, message, method, targets)
}

/** Returns the merged list of these targets, by default of all, without the items that the caller may not see. */
async function gather(
  exchange: Exchange,
  request: RpcMessage,
  method: ListMethod,
  targets: readonly string[] = exchange.endpoint.namer.targets,
): Promise<MergedList | MergeError> {
  const { endpoint, session } = exchange
  const startedAt = endpoint.now()
  const fetch: FetchPage = (name, cursor) => {
    const target = exchange.targetNamed(name)
    const page = cursor === null ? request : withParams(request, { cursor })
    // The time limit covers all pages of the list.
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

/** Logs and traces the items that the caller does not see. */
function traceHidden(exchange: Exchange, list: { kept: readonly McpItem[]; hidden: readonly McpItem[] }): void {
  const { endpoint } = exchange
  for (const item of list.hidden) {
    if (!endpoint.namer.tellOfDisplaced(item)) continue
    const { target, name: tool } = item
    endpoint.log.warn('tool not offered: `tools.rename` gave its name to another tool', { target, tool })
  }
  traceFiltered(exchange, { kept: list.kept.length, hidden: list.hidden })
}

/** Writes the items that were removed from a list to the trace, with the rules that denied them, or the `tools` config. */
function traceFiltered(exchange: Exchange, list: { kept: number; hidden: readonly McpItem[] }): void {
  const { rx } = exchange
  if (rx.trace === null || list.hidden.length === 0) return
  const items = list.hidden.slice(0, MOST_SHOWN).map((item) => {
    if (!exchange.endpoint.namer.offers(item)) return { ...item, by: 'tools' }
    return { ...item, rules: exchange.targetNamed(item.target).judge.decide(rx, item).rules.filter(isAgainst) }
  })
  const counts = { kept: list.kept, hidden: list.hidden.length }
  rx.trace.emit({ type: 'mcpFiltered', method: rx.mcp?.method ?? '', ...counts, items })
}

function isAgainst({ mode, matched, error }: RuleOutcome): boolean {
  return mode === 'deny' ? matched || error !== undefined : !matched
}

/** Reports name clashes to the log and the trace: only the operator can resolve them. */
function tellClashes({ endpoint, rx, record }: Exchange, clashes: readonly MergeError[]): void {
  for (const { message } of clashes.slice(0, MOST_TOLD)) {
    endpoint.log.warn('name left out of a merged list', { error: message })
    rx.trace?.emit({ type: 'mcpCall', method: record.method, error: message }, 'warn')
  }
}

const MOST_SHOWN = 50
const MOST_TOLD = 10
export const GATEWAY = { name: 'portico', version: VERSION }
