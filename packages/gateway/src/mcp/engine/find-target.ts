import { clashError } from '../merge/merge-lists.ts'
import { MergeError } from '../merge/gather.ts'
import type { McpItem, McpItemKind } from '../../records/mcp-record.ts'
import type { ListMethod } from '../merge/list-page.ts'
import { type AskedItem } from '../merge/for-target.ts'
import { makeMessage, type RpcMessage } from '../message.ts'
import type { Owned } from '../names.ts'
import { Clash, listsOf } from '../owners.ts'
import { targetNamed } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { gather } from './list.ts'

/** Returns the target that has an item. If the name does not tell, the targets are asked for their lists. */
export function findTarget(
  exchange: Exchange,
  { kind, exposed }: AskedItem,
): Owned | MergeError | null | Promise<Owned | MergeError | null> {
  const { namer } = exchange.endpoint
  const known = lookUp(exchange, { kind, exposed })
  if (known !== null || kind === 'task') return known
  const targets = namer.targetsToList(kind, exposed)
  return targets.length === 0 ? null : listAndLookUp(exchange, { kind, exposed }, targets)
}

async function listAndLookUp(
  exchange: Exchange,
  asked: AskedItem,
  targets: readonly string[],
): Promise<Owned | MergeError | null> {
  const { session } = exchange
  for (const method of listsOf[asked.kind as keyof typeof listsOf]) {
    const list = await gather(exchange, listRequest(exchange, method), method, targets)
    if (list instanceof MergeError) return list
    const found = lookUp(exchange, asked)
    if (found !== null || session.owners === null) return found
  }
  return null
}

/** The verdict of the authorization rules on an item, before the request goes to its target. */
export interface Verdict {
  isAllowed: boolean
  /** The target may read the name as another one, so only a name that the target lists is allowed. */
  isAmbiguous: boolean
}

/**
 * Whether the target has the item, as far as lists tell. A denied item costs the same round trip to the target as an
 * unknown one. A target that cannot list is left to answer for itself, unless the name is ambiguous.
 */
export function isShown(
  exchange: Exchange,
  { method }: RpcMessage,
  item: McpItem,
  verdict: Verdict,
): boolean | Promise<boolean> {
  const { endpoint } = exchange
  const { isAllowed, isAmbiguous } = verdict
  if (!targetNamed(endpoint, item.target).judge.hasRules) return true
  const isOnDemand = item.kind === 'task' || (item.kind === 'resource' && !SUBSCRIPTIONS.has(method))
  // Servers read more resources than they list.
  if (isAllowed && !isAmbiguous && isOnDemand) return true
  if (isAllowed && isListed(exchange, item)) return true
  return askLists(exchange, item, verdict)
}

async function askLists(exchange: Exchange, item: McpItem, { isAllowed, isAmbiguous }: Verdict): Promise<boolean> {
  let hasAnswered = false
  for (const method of LISTS[item.kind]) {
    const list = await gather(exchange, listRequest(exchange, method), method, [item.target])
    if (exchange.isCancelled || !isAllowed) return false
    if (isListed(exchange, item)) return true
    hasAnswered ||= !(list instanceof MergeError)
  }
  if (isAmbiguous) return false
  return !hasAnswered || (item.kind === 'resource' && exchange.session.owners.fitsTemplate(item))
}

/** Whether the target has listed the item by this name in this session. */
export function isListed({ session }: Exchange, item: McpItem): boolean {
  return LISTS[item.kind].some((method) => session.owners.isListed(method, item))
}

const LISTS: Readonly<Record<McpItemKind, readonly ListMethod[]>> = {
  tool: ['tools/list'],
  prompt: ['prompts/list'],
  resource: ['resources/list', 'resources/templates/list'],
  task: ['tasks/list'],
}

/** Servers accept subscriptions to anything, so the gateway tells whether the resource exists. */
const SUBSCRIPTIONS = new Set(['resources/subscribe', 'resources/unsubscribe'])

function lookUp({ endpoint, session }: Exchange, { kind, exposed }: AskedItem): Owned | MergeError | null {
  const { namer } = endpoint
  if (!namer.needsOwners || kind === 'task') return namer.owner(kind, exposed)
  const found = session.owners.find(kind, exposed)
  if (!(found instanceof Clash)) return found
  return clashError(listsOf[kind][0]!, exposed, found.targets[0], found.targets[1])
}

/** Returns a list request; revisions without sessions need the client's metadata in each request. */
function listRequest({ requestMeta }: Exchange, method: ListMethod): RpcMessage {
  const request = { jsonrpc: '2.0', id: `portico-${method}`, method }
  return makeMessage(requestMeta === null ? request : { ...request, params: { _meta: requestMeta } })
}
