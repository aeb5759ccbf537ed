import type { McpItemKind } from '../records/mcp-record.ts'
import type { Owned } from './names.ts'
import { matchTemplate } from './uri-template.ts'

/** What two targets offer under one name. */
export class Clash {
  readonly targets: readonly [string, string]

  constructor(first: string, second: string) {
    this.targets = [first, second]
  }
}

/** Something of a target, with the name by which clients see it. */
export interface Shown extends Owned {
  shown: string
}

/** A list that tells whose something is. */
export type OwnedList = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/**
 * Whose names are, where they carry no prefix. It holds for one caller: another may be shown other tools under the
 * same names, and a call must never reach a target because of what somebody else was shown.
 */
export class Owners {
  readonly #ownedByShown: Record<OwnedList, Map<string, Owned | Clash>> = {
    'tools/list': new Map(),
    'prompts/list': new Map(),
    'resources/list': new Map(),
    'resources/templates/list': new Map(),
  }

  /** All that targets have shown of a list, hidden or not, by target. */
  readonly #listed = new Map<string, Set<string>>()

  /** Takes what a target has shown, of one page or of all. */
  noteListed(list: string, items: Iterable<Owned>): void {
    for (const { target, name } of items) {
      const place = `${list} ${target}`
      const names = this.#listed.get(place)
      // A target that invents new names with each list is not followed for ever.
      if (names === undefined || names.size >= MOST_LISTED) this.#listed.set(place, new Set([name]))
      else names.add(name)
    }
  }

  /** Whether the target has shown it. */
  isListed(list: string, { target, name }: Owned): boolean {
    return this.#listed.get(`${list} ${target}`)?.has(name) ?? false
  }

  /** Whether the URI may come from a template that its target has listed. */
  fitsTemplate({ target, name }: Owned): boolean {
    const templates = this.#listed.get(`resources/templates/list ${target}`) ?? []
    for (const template of templates) if (matchTemplate(template, name) !== null) return true
    return false
  }

  /** Takes a whole list, with the names that it shows, in the order of the targets. */
  learn(list: OwnedList, all: Iterable<Shown>): void {
    const learned = new Map<string, Owned | Clash>()
    for (const { target, name, shown } of all) {
      const before = learned.get(shown)
      if (before === undefined) learned.set(shown, { target, name })
      else if (!(before instanceof Clash) && before.target !== target) {
        learned.set(shown, new Clash(before.target, target))
      }
    }
    this.#ownedByShown[list] = learned
  }

  /** Null when no list that was learned shows it: it may be new, or nobody's. */
  find(kind: Exclude<McpItemKind, 'task'>, shown: string): Owned | Clash | null {
    const found = this.#ownedByShown[listOf[kind]].get(shown)
    if (found !== undefined) return found
    return kind === 'resource' ? this.#byTemplate(shown) : null
  }

  /** The template that says most about the URI has it. */
  #byTemplate(uri: string): Owned | Clash | null {
    const templates = this.#ownedByShown['resources/templates/list']
    const exact = templates.get(uri)
    if (exact !== undefined) return exact
    let best = -1
    let owner: Owned | Clash | null = null
    for (const [template, owned] of templates) {
      const literal = matchTemplate(template, uri)
      if (literal === null || literal <= best) continue
      best = literal
      owner = owned
    }
    return owner === null || owner instanceof Clash ? owner : { target: owner.target, name: uri }
  }
}

/** Lists that show things of a kind. */
export const listsOf: Readonly<Record<Exclude<McpItemKind, 'task'>, readonly OwnedList[]>> = {
  tool: ['tools/list'],
  prompt: ['prompts/list'],
  resource: ['resources/list', 'resources/templates/list'],
}

const MOST_LISTED = 20_000
const listOf = { tool: 'tools/list', prompt: 'prompts/list', resource: 'resources/list' } as const
