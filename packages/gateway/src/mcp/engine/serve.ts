import { follow } from '../../pipeline/call/follow.ts'
import { objectAt } from '@portico/http/json'
import { subscribedNotices } from './announce.ts'
import { traceDecision } from './trace.ts'
import { isListMethod, askedItem, forTarget, isAboutItem, type AskedItem } from '../merge/item-methods.ts'
import { MergeError } from '../merge/gather.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcMessage } from '../protocol.ts'
import type { TargetItem } from '../names.ts'
import { askTarget } from './single-target.ts'
import type { Target } from '../targets/target.ts'
import type { Exchange } from './exchange.ts'
import { serveInitialize } from './initialize.ts'
import { resumeCall } from './resume-call.ts'
import { filterPage, requestList, serveList } from './list.ts'
import { serveListen } from './listen.ts'
import { askInTurn, serveEverywhere } from './ask.ts'
import { refuseUnknown } from './unknown-item.ts'
import { clashError } from '../merge/merge-lists.ts'
import type { McpVerdict } from '../authorize.ts'
import type { McpItem } from '../../records/mcp-record.ts'
import { Clash, listsOf } from '../owners.ts'

/** Serves one request of a client. */
export function serveRequest(exchange: Exchange, request: RpcMessage): void {
  const { method } = request
  const { namer, targets } = exchange.endpoint
  if (method === 'initialize' || method === 'server/discover')
    return follow(exchange.rx, serveInitialize(exchange, request))
  if (isAboutItem(method)) return serveItem(exchange, request)
  if (isListMethod(method)) return serveList(exchange, request, method)
  if (method === 'subscriptions/listen') announceChanges(exchange, request)
  const isPlain = !namer.isMerged && !namer.isPrefixed && !targets[0].judge.hasRules
  if (method === 'subscriptions/listen' && !isPlain) return follow(exchange.rx, serveListen(exchange, request))
  // A single target may know methods that the gateway does not.
  if (!namer.isMerged) return askTarget(exchange, targets[0], { request, message: request })
  if (method === 'ping') return exchange.respond(request, {})
  if (method === 'logging/setLevel') return follow(exchange.rx, serveEverywhere(exchange, request))
  // To a client with a session, status 404 means that the session is gone.
  const status = exchange.requestMeta === null ? 200 : 404
  exchange.refuse(request, status, METHOD_NOT_FOUND, `Method not found: ${method}`)
}

/** Sends changes by config reloads to a subscription, once its acknowledgment has begun the stream. */
function announceChanges(exchange: Exchange, { id, value }: RpcMessage): void {
  const { endpoint, answer } = exchange
  const notices = subscribedNotices(objectAt(objectAt(value, 'params'), 'notifications'), id)
  if (notices.length === 0) return
  const told = (): void => {
    if (answer.hasBegun) for (const notice of notices) answer.say(notice, '')
  }
  exchange.whenOver(endpoint.hub.whenChanged(endpoint.backend, told))
}

/** Sends a request about one item to the target that has the item. */
function serveItem(exchange: Exchange, request: RpcMessage): void {
  const asked = askedItem(request)
  if (asked === null) {
    const status = exchange.requestMeta === null ? 200 : 400
    const text = `Invalid params: ${request.method} does not name an item`
    return exchange.refuse(request, status, INVALID_PARAMS, text)
  }
  const go = (owned: TargetItem | MergeError | null): void => {
    if (exchange.isCancelled) return
    if (owned instanceof MergeError) return exchange.mergeFailed(request, owned)
    if (owned === null && canTryTargets(exchange, request, asked))
      return follow(exchange.rx, askInTurn(exchange, request, asked))
    if (owned === null) return refuseUnknown(exchange, request, asked)
    authorizeItem(exchange, request, asked, owned)
  }
  const owner = findTarget(exchange, asked)
  if (owner instanceof Promise) follow(exchange.rx, owner.then(go))
  else go(owner)
}

/** Returns the target that has an item. If the name does not tell, the targets are asked for their lists. */
function findTarget(
  exchange: Exchange,
  asked: AskedItem,
): TargetItem | MergeError | null | Promise<TargetItem | MergeError | null> {
  const known = lookUp(exchange, asked)
  if (known !== null) return known
  const targets = exchange.endpoint.namer.targetsToList(asked.kind, asked.exposed)
  return targets.length === 0 ? null : listAndLookUp(exchange, asked, targets)
}

function lookUp({ endpoint, session }: Exchange, { kind, exposed }: AskedItem): TargetItem | MergeError | null {
  const { namer } = endpoint
  if (!namer.needsOwners || kind === 'task') return namer.owner(kind, exposed)
  const found = session.owners.find(kind, exposed)
  if (!(found instanceof Clash)) return found
  return clashError(listsOf[kind][0], exposed, found.targets[0], found.targets[1])
}

async function listAndLookUp(
  exchange: Exchange,
  asked: AskedItem,
  targets: readonly string[],
): Promise<TargetItem | MergeError | null> {
  for (const method of listsOf[asked.kind]) {
    const list = await requestList(exchange, method, targets)
    if (list instanceof MergeError) return list
    const found = lookUp(exchange, asked)
    if (found !== null) return found
  }
  return null
}

/** Whether targets are tried in turn: servers read more resources than they list, and know the tasks that they created. */
function canTryTargets({ endpoint }: Exchange, { method }: RpcMessage, { kind }: AskedItem): boolean {
  if (kind === 'task') return true
  return endpoint.namer.needsOwners && kind === 'resource' && READS.has(method)
}

const READS = new Set(['resources/read', 'resources/directory/read', 'skills/get'])

/** Sends the request to the target of its item, unless authorization rules deny the item. */
function authorizeItem(exchange: Exchange, request: RpcMessage, asked: AskedItem, owned: TargetItem): void {
  const { rx, record } = exchange
  const target = exchange.targetNamed(owned.target)
  const item = { kind: asked.kind, ...owned }
  record.item = item
  record.target = target.name
  target.shadow?.(rx, item)
  if (!target.judge.hasRules) return askOwner(exchange, target, request, asked, owned)
  const verdict = target.judge.decide(rx, item)
  exchange.rules = verdict.rules
  const go = (isThere: boolean): void => {
    if (exchange.isCancelled) return
    const isDenied = !verdict.isAllowed || (verdict.isAmbiguous && !isThere)
    traceDecision(rx, item, { ...verdict, isAllowed: !isDenied, isAmbiguous: verdict.isAllowed && isDenied })
    if (isDenied) rx.reason = 'Authorization'
    if (isDenied || !isThere) refuseUnknown(exchange, request, asked, isDenied ? 'denied' : 'error')
    else askOwner(exchange, target, request, asked, owned)
  }
  const exists = itemExists(exchange, request, item, verdict)
  if (exists instanceof Promise) follow(rx, exists.then(go))
  else go(exists)
}

/**
 * Whether the target has the item, as far as lists tell. A denied item costs the same round trip to the target as an
 * unknown one. A target that cannot list is left to answer for itself, unless the name is ambiguous.
 */
function itemExists(
  exchange: Exchange,
  { method }: RpcMessage,
  item: McpItem,
  verdict: McpVerdict,
): boolean | Promise<boolean> {
  const { isAllowed, isAmbiguous } = verdict
  // Servers read more resources than they list.
  if (isAllowed && !isAmbiguous && isOnDemand(item) && !SUBSCRIPTIONS.has(method)) return true
  if (isAllowed && exchange.session.owners.isListed(item)) return true
  return itemIsListed(exchange, item, verdict)
}

async function itemIsListed(
  exchange: Exchange,
  item: McpItem,
  { isAllowed, isAmbiguous }: McpVerdict,
): Promise<boolean> {
  const { owners } = exchange.session
  let hasAnswered = false
  for (const method of listsOf[item.kind]) {
    const list = await requestList(exchange, method, [item.target])
    if (exchange.isCancelled || !isAllowed) return false
    if (owners.isListed(item)) return true
    hasAnswered ||= !(list instanceof MergeError)
  }
  if (isAmbiguous) return false
  return !hasAnswered || (item.kind === 'resource' && owners.fitsTemplate(item))
}

/** Servers accept subscriptions to anything, so the gateway tells whether the resource exists. */
const SUBSCRIPTIONS = new Set(['resources/subscribe', 'resources/unsubscribe'])

function askOwner(exchange: Exchange, target: Target, request: RpcMessage, asked: AskedItem, owned: TargetItem): void {
  const { endpoint } = exchange
  const message = forTarget(request, owned, endpoint.namer)
  const options = { request, message, ...(target.judge.hasRules && isOnDemand(asked) && { hiddenAs: asked }) }
  if (request.method === 'resources/directory/read' && target.judge.hasRules) {
    return askTarget(exchange, target, { ...options, edit: filterPage(exchange, target, 'resources/list') })
  }
  // Only revisions without sessions resume calls.
  if (exchange.requestMeta !== null && resumeCall({ exchange, target, request }, options)) return
  askTarget(exchange, target, options)
}

/** Whether items of this kind need not be listed; tools and prompts are looked up in lists first. */
function isOnDemand({ kind }: Pick<McpItem, 'kind'>): boolean {
  return kind === 'resource' || kind === 'task'
}
