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

/** Whose something is. Where its name does not tell, the targets are asked for their lists. */
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

/**
 * Whether the target shows it, where rules hide something of it: who asks for what is hidden gets the answer, and waits
 * the time, of who asks for what is not there. A target that cannot list is left to answer for itself.
 */
export function isShown(exchange: Exchange, item: McpItem, isAllowed: boolean): boolean | Promise<boolean> {
  const { endpoint, session } = exchange
  const method = LISTS[item.kind]
  if (method === undefined || !targetNamed(endpoint, item.target).judge.hasRules) return true
  if (isAllowed && session.owners.isListed(method, item)) return true
  return gather(exchange, listRequest(exchange, method), method, [item.target]).then(
    (list) => list instanceof MergeError || session.owners.isListed(method, item),
  )
}

/** Servers read more resources than they list. */
const LISTS: Readonly<Partial<Record<McpItemKind, 'tools/list' | 'prompts/list'>>> = {
  tool: 'tools/list',
  prompt: 'prompts/list',
}

function lookUp({ endpoint, session }: Exchange, { kind, exposed }: AskedItem): Owned | MergeError | null {
  const { namer } = endpoint
  if (!namer.needsOwners || kind === 'task') return namer.owner(kind, exposed)
  const found = session.owners.find(kind, exposed)
  if (!(found instanceof Clash)) return found
  return clashError(listsOf[kind][0]!, exposed, found.targets[0], found.targets[1])
}

/** Revisions without sessions want to be told with each request who asks. */
function listRequest({ requestMeta }: Exchange, method: ListMethod): RpcMessage {
  const request = { jsonrpc: '2.0', id: `portico-${method}`, method }
  return makeMessage(requestMeta === null ? request : { ...request, params: { _meta: requestMeta } })
}
