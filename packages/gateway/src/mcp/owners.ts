import type { McpItem, McpItemKind } from '../records/mcp-record.ts'
import type { TargetItem } from './names.ts'
import { matchTemplate } from './uri-template.ts'

/** Two targets that offer an item under the same name. */
export class Clash {
  readonly targets: readonly [string, string]

  constructor(first: string, second: string) {
    this.targets = [first, second]
  }
}

/** An item of a target, with the name under which clients see it. */
export interface ExposedItem extends TargetItem {
  shown: string
}

/** A list method that tells the targets of items. */
export type OwnedList = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/**
 * The targets of items by name, for backends without prefixes. Each caller has its own `Owners`: another caller may see
 * other tools under the same names, and a call must never reach a target because of another caller's list.
 */
export class Owners {
  readonly #ownedByShown: Record<OwnedList, Map<string, TargetItem | Clash>> = {
    'tools/list': new Map(),
    'prompts/list': new Map(),
    'resources/list': new Map(),
    'resources/templates/list': new Map(),
  }

  /** The names that targets have listed, hidden or not, by list method and target. */
  readonly #listed = new Map<string, Set<string>>()

  /** Records the names on one page, or on all pages, of a list. */
  noteListed(list: string, items: Iterable<TargetItem>): void {
    for (const { target, name } of items) {
      const place = `${list} ${target}`
      const names = this.#listed.get(place)
      // Starts over at the limit, because a target may list new names every time.
      if (names === undefined || names.size >= MOST_LISTED) this.#listed.set(place, new Set([name]))
      else names.add(name)
    }
  }

  /** Whether the target has listed the item by this name. */
  isListed({ kind, target, name }: McpItem): boolean {
    return listsOf[kind].some((list) => this.#listed.get(`${list} ${target}`)?.has(name))
  }

  /** Whether the URI matches a template that its target has listed. */
  fitsTemplate({ target, name }: TargetItem): boolean {
    const templates = this.#listed.get(`resources/templates/list ${target}`) ?? []
    for (const template of templates) if (matchTemplate(template, name) !== null) return true
    return false
  }

  /** Replaces the known items of a list method by a complete list, in the order of the targets. */
  learn(list: OwnedList, all: Iterable<ExposedItem>): void {
    const learned = new Map<string, TargetItem | Clash>()
    for (const { target, name, shown } of all) {
      const before = learned.get(shown)
      if (before === undefined) learned.set(shown, { target, name })
      else if (!(before instanceof Clash) && before.target !== target) {
        learned.set(shown, new Clash(before.target, target))
      }
    }
    this.#ownedByShown[list] = learned
  }

  /** Returns the target of a name; null when no known list has the name. */
  find(kind: Exclude<McpItemKind, 'task'>, shown: string): TargetItem | Clash | null {
    const found = this.#ownedByShown[listsOf[kind][0]].get(shown)
    if (found !== undefined) return found
    return kind === 'resource' ? this.#byTemplate(shown) : null
  }

  /** Returns the target of the matching template with the most literal characters. */
  #byTemplate(uri: string): TargetItem | Clash | null {
    const templates = this.#ownedByShown['resources/templates/list']
    const exact = templates.get(uri)
    if (exact !== undefined) return exact
    let best = -1
    let owner: TargetItem | Clash | null = null
    for (const [template, owned] of templates) {
      const literal = matchTemplate(template, uri)
      if (literal === null || literal <= best) continue
      best = literal
      owner = owned
    }
    return owner === null || owner instanceof Clash ? owner : { target: owner.target, name: uri }
  }
}

/** The list methods that show items of each kind. */
export const listsOf = {
  tool: ['tools/list'],
  prompt: ['prompts/list'],
  resource: ['resources/list', 'resources/templates/list'],
  task: ['tasks/list'],
} as const satisfies Record<McpItemKind, readonly (OwnedList | 'tasks/list')[]>

const MOST_LISTED = 20_000
