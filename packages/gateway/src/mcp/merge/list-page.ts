import { isObject, type JsonObject } from '@portico/http/json'
import type { McpItem, McpItemKind } from '../../records/mcp-record.ts'
import type { Namer } from '../names.ts'
import { edited, type Edits, joinEdits } from '../edit-exactly.ts'
import { ExposedNames } from './for-client.ts'
import { UI_LINKS } from './meta.ts'

/** What the lists of targets hold, and by what. */
export const lists = {
  'tools/list': { kind: 'tool', items: 'tools', name: 'name' },
  'prompts/list': { kind: 'prompt', items: 'prompts', name: 'name' },
  'resources/list': { kind: 'resource', items: 'resources', name: 'uri' },
  'resources/templates/list': { kind: 'resource', items: 'resourceTemplates', name: 'uriTemplate' },
  'skills/list': { kind: 'resource', items: 'skills', name: 'uri' },
  'tasks/list': { kind: 'task', items: 'tasks', name: 'taskId' },
} as const satisfies Record<string, { kind: McpItemKind; items: string; name: string }>

export type ListMethod = keyof typeof lists

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(lists, method)
}

/** Whether a caller may see something; null lets everything through. */
export type Keeps = ((item: McpItem) => boolean) | null

/** One page of one target as clients see it. */
export interface ExposedPage {
  items: JsonObject[]
  /** What of it stays, by the names of the target. */
  kept: McpItem[]
  /** What rules keep from the caller, and what is not offered at all. */
  hidden: McpItem[]
}

/** Items that are no objects, or have no name, are left out: nobody could ask for them. */
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
 * A page of a target that stands alone, with its cursor and everything else that it says. What rules made of it holds
 * for this caller only, so nobody may keep it for others.
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

/** The files of a skill. */
function nestedIn(method: ListMethod, item: JsonObject, names: ExposedNames): Edits {
  return method === 'skills/list' ? names.resources(item) : null
}

/** A tool must not name a resource that its caller may not read. */
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
