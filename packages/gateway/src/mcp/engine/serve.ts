import { follow } from '../../pipeline/call/follow.ts'
import { objectAt } from '@portico/http/json'
import { subscribedNotices } from './announce.ts'
import { traceDecision } from './hide-forbidden.ts'
import { askedItem, forTarget, isAboutItem } from '../merge/for-target.ts'
import { isListMethod } from '../merge/list-page.ts'
import { MergeError } from '../merge/gather.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcMessage } from '../message.ts'
import type { Owned } from '../names.ts'
import { askTarget } from './single-target.ts'
import { targetNamed } from './endpoint.ts'
import type { Target } from '../targets/target.ts'
import type { Exchange } from './exchange.ts'
import { serveInitialize } from './initialize.ts'
import { goOn } from './go-on.ts'
import { filterPage, serveList } from './list.ts'
import { serveListen } from './listen.ts'
import { askInTurn, serveEverywhere } from './ask.ts'
import { findTarget, isShown } from './find-target.ts'
import { refuseUnknown } from './unknown-item.ts'

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
    return exchange.refuse(
      request,
      status,
      INVALID_PARAMS,
      `Invalid params: ${request.method} must name what it is about`,
    )
  }
  const go = (owned: Owned | MergeError | null): void => {
    if (exchange.isCancelled) return
    if (owned instanceof MergeError) return exchange.mergeFailed(request, owned)
    if (owned === null && canBeTried(exchange, request, asked))
      return follow(exchange.rx, askInTurn(exchange, request, asked))
    if (owned === null) return refuseUnknown(exchange, request, asked)
    toOwner(exchange, request, asked, owned)
  }
  const owner = findTarget(exchange, asked)
  if (owner instanceof Promise) follow(exchange.rx, owner.then(go))
  else go(owner)
}

/** Whether targets are tried in turn: servers read more resources than they list, and know the tasks that they created. */
function canBeTried({ endpoint }: Exchange, { method }: RpcMessage, { kind }: Asked): boolean {
  if (kind === 'task') return true
  return endpoint.namer.needsOwners && kind === 'resource' && READS.has(method)
}

const READS = new Set(['resources/read', 'resources/directory/read', 'skills/get'])

function toOwner(exchange: Exchange, request: RpcMessage, asked: Asked, owned: Owned): void {
  const { endpoint, rx, facts } = exchange
  const target = targetNamed(endpoint, owned.target)
  const item = { kind: asked.kind, ...owned }
  facts.item = item
  facts.target = target.name
  const verdict = target.judge.decide(rx, item)
  exchange.rules = verdict.rules
  const go = (isThere: boolean): void => {
    if (exchange.isCancelled) return
    const isDenied = !verdict.isAllowed || (verdict.isAmbiguous && !isThere)
    if (verdict.rules.length > 0) {
      traceDecision(rx, item, { ...verdict, isAllowed: !isDenied, isAmbiguous: verdict.isAllowed && isDenied })
    }
    if (isDenied) rx.reason = 'Authorization'
    if (isDenied || !isThere) refuseUnknown(exchange, request, asked, isDenied ? 'denied' : 'error')
    else askOwner(exchange, target, request, asked, owned)
  }
  const shown = isShown(exchange, request, item, verdict)
  if (shown instanceof Promise) follow(rx, shown.then(go))
  else go(shown)
}

function askOwner(exchange: Exchange, target: Target, request: RpcMessage, asked: Asked, owned: Owned): void {
  const { endpoint } = exchange
  const message = forTarget(request, owned, endpoint.namer)
  const options = { request, message, ...(target.judge.hasRules && isByDemand(asked) && { hiddenAs: asked }) }
  if (request.method === 'resources/directory/read' && target.judge.hasRules) {
    return askTarget(exchange, target, { ...options, edit: filterPage(exchange, target, 'resources/list') })
  }
  // Only revisions without sessions resume calls.
  if (exchange.requestMeta !== null && goOn({ exchange, target, request }, options)) return
  askTarget(exchange, target, options)
}

/** Whether items of this kind need not be listed; tools and prompts are looked up in lists first. */
function isByDemand({ kind }: Asked): boolean {
  return kind === 'resource' || kind === 'task'
}

type Asked = NonNullable<ReturnType<typeof askedItem>>
