import { isObject, type JsonObject } from '@portico/http/json'
import type { McpItem } from '../../records/mcp-record.ts'
import type { Namer } from '../names.ts'
import { edited, type Edits, joinEdits } from '../edit.ts'
import { type ListMethod, lists } from './item-methods.ts'
import { ExposedNames } from './for-client.ts'
import { UI_LINKS } from './meta.ts'

/** Whether a caller may see an item; null when the caller may see every item. */
export type Keeps = ((item: McpItem) => boolean) | null

/** One page of one target's list, as clients see it. */
interface ExposedPage {
  items: JsonObject[]
  /** The items that clients see, under the target's names. */
  kept: McpItem[]
  /** The items that rules or the `tools` config hide, under the target's names. */
  hidden: McpItem[]
}

/** Converts one page for clients. Items that are not objects, or have no name, are left out: clients cannot request them. */
export function exposePage(
  method: ListMethod,
  target: string,
  result: JsonObject,
  namer: Namer,
  keeps: Keeps,
): ExposedPage {
  const { kind, items: member, name: nameMember } = lists[method]
  const list = result[member]
  const names = new ExposedNames(target, namer)
  const page: ExposedPage = { items: [], kept: [], hidden: [] }
  for (const entry of Array.isArray(list) ? list : []) {
    const name = isObject(entry) ? entry[nameMember] : undefined
    if (!isObject(entry) || typeof name !== 'string') continue
    const item: McpItem = { kind, name, target }
    if (keeps !== null && !keeps(item)) {
      page.hidden.push(item)
      continue
    }
    page.kept.push(item)
    const shown = edited(entry, hideLinks(entry, target, keeps)) ?? entry
    page.items.push(
      edited(
        shown,
        joinEdits(
          names.member(shown, nameMember, kind),
          names.meta(shown),
          nestedIn(method, shown, names),
          describe(item, namer),
        ),
      ) ?? shown,
    )
  }
  return page
}

/**
 * Converts one page of a backend with a single target, with its cursor and other members. A page that rules may have
 * filtered is valid for this caller only, so it is marked as privately cacheable.
 */
export function exposeResult(
  method: ListMethod,
  target: string,
  result: JsonObject,
  namer: Namer,
  keeps: Keeps,
): ExposedPage & { result: JsonObject } {
  const page = exposePage(method, target, result, namer, keeps)
  const own = keeps !== null && result.cacheScope !== undefined ? { cacheScope: 'private' } : null
  return { ...page, result: edited(result, joinEdits({ [lists[method].items]: page.items }, own))! }
}

function describe(item: McpItem, namer: Namer): Edits {
  const description = namer.description(item)
  return description === undefined ? null : { description }
}

/** Returns the edits of the files inside a skill; null for items of other lists. */
function nestedIn(method: ListMethod, item: JsonObject, names: ExposedNames): Edits {
  return method === 'skills/list' ? names.resources(item) : null
}

/** Returns edits that remove links to resources that the caller may not read. */
function hideLinks({ _meta }: JsonObject, target: string, keeps: Keeps): Edits {
  if (keeps === null || !isObject(_meta)) return null
  const isHidden = (uri: unknown): boolean => typeof uri === 'string' && !keeps({ kind: 'resource', name: uri, target })
  const ui = isObject(_meta.ui) && isHidden(_meta.ui.resourceUri) ? edited(_meta.ui, { resourceUri: undefined }) : null
  const meta = edited(
    _meta,
    joinEdits(ui && { ui }, ...UI_LINKS.map((name) => (isHidden(_meta[name]) ? { [name]: undefined } : null))),
  )
  return meta && { _meta: meta }
}
