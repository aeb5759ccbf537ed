import type { JsonObject } from '@portico/http/json'
import type { McpItem } from '../../records/mcp-record.ts'
import { INTERNAL_ERROR } from '../protocol.ts'
import type { Namer } from '../names.ts'
import type { OwnedList, Owners, ExposedItem } from '../owners.ts'
import { type FetchPage, gatherPages, hasNoSuchList, MergeError, MOST_ITEMS } from './gather.ts'
import { exposePage, type Keeps } from './list-page.ts'
import { type ListMethod, lists } from './item-methods.ts'
import { type GatewayInfo, mergeMeta } from './meta.ts'

export interface ListOptions {
  namer: Namer
  failureMode: 'FailOpen' | 'FailClosed'
  keeps: Keeps
  gateway: GatewayInfo
  /** Learns the targets of names, for backends without prefixes. */
  owners: Owners | null
}

export interface MergedList {
  result: JsonObject
  /** The failures of targets that were left out. */
  failures: MergeError[]
  kept: McpItem[]
  hidden: McpItem[]
  /** The errors of names that two targets share without prefixes: the list contains neither item. */
  clashes: MergeError[]
}

/** Requests all pages of a list from several targets, and merges them in the order of the targets. */
export async function gatherLists(
  method: ListMethod,
  targets: readonly string[],
  fetch: FetchPage,
  options: ListOptions,
): Promise<MergedList | MergeError> {
  const gathered = await Promise.all(
    targets.map(async (target) => ({ target, pages: await gatherPages(method, target, fetch) })),
  )
  return mergeLists(method, gathered, options)
}

interface GatheredList {
  target: string
  pages: readonly JsonObject[] | MergeError
}

export function mergeLists(
  method: ListMethod,
  gathered: readonly GatheredList[],
  options: ListOptions,
): MergedList | MergeError {
  const { namer, failureMode, keeps, gateway, owners } = options
  const failures = gathered.flatMap(({ pages }) => (pages instanceof MergeError ? pages : []))
  const real = failures.filter((failure) => !hasNoSuchList(failure))
  const [failure] = [...real, ...failures]
  if (failure !== undefined && failures.length === gathered.length) return failure
  if (failureMode === 'FailClosed' && real[0] !== undefined) return real[0]

  const items: JsonObject[] = []
  const kept: McpItem[] = []
  const hidden: McpItem[] = []
  const results: JsonObject[] = []
  for (const { target, pages } of gathered) {
    if (pages instanceof MergeError) continue
    for (const result of pages) {
      const page = exposePage(method, target, result, namer, keeps)
      results.push(result)
      // Appended one by one, because a page may have more items than a call can have arguments.
      for (const item of page.items) items.push(item)
      for (const item of page.kept) kept.push(item)
      for (const item of page.hidden) hidden.push(item)
      if (kept.length + hidden.length > MOST_ITEMS) {
        return new MergeError('', INTERNAL_ERROR, `${method}: the targets have more than ${MOST_ITEMS} items together`)
      }
    }
  }
  const rest = { result: commonOf(results, gateway), failures: real, hidden }
  const member = lists[method].items
  if (!namer.needsOwners || !isOwnedList(method)) {
    return { ...rest, result: { [member]: items, ...rest.result }, kept, clashes: [] }
  }
  const shown = kept.map((item) => ({ ...item, shown: namer.exposed(item.kind, item.target, item.name) }))
  owners?.learn(method, shown)
  const clashes = findClashes(method, shown)
  const isClear = (_: unknown, at: number): boolean => !clashes.has(shown[at]?.shown ?? '')
  return {
    ...rest,
    result: { [member]: items.filter(isClear), ...rest.result },
    kept: kept.filter(isClear),
    clashes: [...clashes.values()],
  }
}

function isOwnedList(method: ListMethod): method is OwnedList {
  return method !== 'tasks/list' && method !== 'skills/list'
}

function findClashes(method: ListMethod, all: readonly ExposedItem[]): Map<string, MergeError> {
  const targets = new Map<string, string>()
  const clashes = new Map<string, MergeError>()
  for (const { shown, target } of all) {
    const before = targets.get(shown)
    if (before === undefined) targets.set(shown, target)
    else if (before !== target && !clashes.has(shown)) clashes.set(shown, clashError(method, shown, before, target))
  }
  return clashes
}

export function clashError(method: ListMethod, name: string, first: string, second: string): MergeError {
  const what = method === 'resources/templates/list' ? 'resource template' : lists[method].kind
  const shown = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name
  return new MergeError(
    '',
    INTERNAL_ERROR,
    `${first} and ${second} both have a ${what} ${JSON.stringify(shown)}: with prefixMode Never, names must be unique`,
  )
}

/** Merges the members of results besides items; cursors are dropped, because they are not valid for the merged list. */
function commonOf(results: readonly JsonObject[], gateway: GatewayInfo): JsonObject {
  const common: JsonObject = mergeMeta(results, gateway)
  if (results.some(({ resultType }) => resultType !== undefined)) common.resultType = 'complete'
  // Revisions with `ttlMs` require it in every list result.
  if (results.some(({ ttlMs }) => ttlMs !== undefined)) {
    common.ttlMs = Math.min(...results.map(({ ttlMs }) => (typeof ttlMs === 'number' && ttlMs >= 0 ? ttlMs : 0)))
    common.cacheScope = 'private'
  }
  return common
}

const LONGEST_SHOWN = 256
