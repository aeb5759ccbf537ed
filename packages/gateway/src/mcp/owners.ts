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

/** A list that tells whose something is. */
export type OwnedList = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/**
 * Whose names are, where they carry no prefix. It holds for one caller: another may be shown other tools under the
 * same names, and a call must never reach a target because of what somebody else was shown.
 */
export class Owners {
  readonly #targetsByName: Record<OwnedList, Map<string, string | Clash>> = {
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

  /** Takes a whole list, by the names it shows of each target, in the order of the targets. */
  learn(list: OwnedList, shown: Iterable<Owned>): void {
    const targets = new Map<string, string | Clash>()
    for (const { target, name } of shown) {
      const before = targets.get(name)
      if (before === undefined) targets.set(name, target)
      else if (typeof before === 'string' && before !== target) targets.set(name, new Clash(before, target))
    }
    this.#targetsByName[list] = targets
  }

  /** Null when no list that was learned shows it: it may be new, or nobody's. */
  find(kind: Exclude<McpItemKind, 'task'>, name: string): Owned | Clash | null {
    const found = this.#targetsByName[listOf[kind]].get(name)
    if (typeof found === 'string') return { target: found, name }
    if (found !== undefined) return found
    return kind === 'resource' ? this.#byTemplate(name) : null
  }

  /** The template that says most about the URI has it. */
  #byTemplate(uri: string): Owned | Clash | null {
    const templates = this.#targetsByName['resources/templates/list']
    const exact = templates.get(uri)
    if (exact !== undefined) return exact instanceof Clash ? exact : { target: exact, name: uri }
    let best = -1
    let owner: string | Clash | null = null
    for (const [template, target] of templates) {
      const literal = matchTemplate(template, uri)
      if (literal === null || literal <= best) continue
      best = literal
      owner = target
    }
    return typeof owner === 'string' ? { target: owner, name: uri } : owner
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
