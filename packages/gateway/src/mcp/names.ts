import { createHash } from 'node:crypto'
import type { McpItem, McpItemKind } from '../records/mcp-record.ts'
import type { OfferedTools } from './offered-tools.ts'

export type PrefixMode = 'Conditional' | 'Always' | 'Never'

/** Whose something is, and what its target calls it. */
export interface Owned {
  target: string
  name: string
}

/**
 * The names under which clients see what targets offer. Tools and prompts become `{target}_{name}`, URIs and ids
 * `{target}+{uri}`; targets hold neither `_` nor `+`, so the first of them parts the two again.
 */
export class Namer {
  readonly targets: readonly string[]
  /** Several targets speak as one server. */
  readonly isMerged: boolean
  /** Whether names and URIs differ from those of the targets. */
  readonly isPrefixed: boolean
  /** Names alone do not tell their target: `Owners` must. */
  readonly needsOwners: boolean
  /** Of targets whose config has something to say of their tools. */
  readonly #toolsByTarget: ReadonlyMap<string, OfferedTools>
  /** What stands before `_`: the target's name, and a short form of a long one. */
  readonly #byLabel: ReadonlyMap<string, string>
  readonly #labels: ReadonlyMap<string, string>
  /** A short name is a function of the long one, so it is the same in every session and worker. */
  readonly #shortened = new Map<string, Owned>()

  constructor(targets: readonly string[], mode: PrefixMode, tools: ReadonlyMap<string, OfferedTools> = new Map()) {
    this.targets = targets
    this.#toolsByTarget = tools
    this.isMerged = targets.length > 1
    this.isPrefixed = mode === 'Always' || (mode === 'Conditional' && this.isMerged)
    this.needsOwners = this.isMerged && !this.isPrefixed
    this.#labels = new Map(targets.map((target) => [target, labelOf(target)]))
    this.#byLabel = new Map(targets.flatMap((target) => [target, labelOf(target)].map((label) => [label, target])))
  }

  /** Whether lists of tools differ from those of the targets, whoever asks. */
  get choosesTools(): boolean {
    return this.#toolsByTarget.size > 0
  }

  /** Whether anybody at all is to see it. */
  offers({ kind, target, name }: McpItem): boolean {
    return kind !== 'tool' || (this.#toolsByTarget.get(target)?.isOffered(name) ?? true)
  }

  /** Whether to tell that the name of a tool was given to another one. */
  tellOfDisplaced({ kind, target, name }: McpItem): boolean {
    return kind === 'tool' && (this.#toolsByTarget.get(target)?.tellOfDisplaced(name) ?? false)
  }

  /** What the config says of a tool, in place of the target's own words. */
  description({ kind, target, name }: McpItem): string | undefined {
    return kind === 'tool' ? this.#toolsByTarget.get(target)?.description(name) : undefined
  }

  /** What clients see of something. */
  exposed(kind: McpItemKind, target: string, name: string): string {
    switch (kind) {
      case 'tool':
        return this.#exposedName({ target, name }, this.#toolsByTarget.get(target)?.shown(name) ?? name)
      case 'prompt':
        return this.#exposedName({ target, name }, name)
      case 'resource':
        return this.isPrefixed ? exposedUri(target, name) : name
      case 'task':
        // Nobody reads ids, and only the prefix can tell whose they are: `Never` is about names.
        return this.isPrefixed || this.isMerged ? `${target}+${name}` : name
    }
  }

  /**
   * Whose it is. Null when no target has such a name, when `needsOwners` says that a name cannot tell, and for short
   * names that were not seen here yet: `targetsToList` tells whose list would show it.
   */
  owner(kind: McpItemKind, exposed: string): Owned | null {
    const isById = kind === 'task'
    if (!this.isPrefixed && !(isById && this.isMerged)) {
      return this.isMerged ? null : this.#own(kind, { target: this.targets[0] ?? '', name: exposed })
    }
    if (kind === 'resource') return this.#ownerOfUri(exposed)
    if (isById) return this.#split(exposed, '+')
    if (this.isShortened(exposed)) return this.#shortened.get(exposed) ?? null
    const owned = this.#split(exposed, '_')
    return owned && this.#own(kind, owned)
  }

  /** By the name that the target has for it; null when it is not offered. */
  #own(kind: McpItemKind, { target, name: shown }: Owned): Owned | null {
    const tools = kind === 'tool' ? this.#toolsByTarget.get(target) : undefined
    const name = tools === undefined ? shown : tools.own(shown)
    return name === null ? null : { target, name }
  }

  /** Whether the name of a tool or prompt was too long, and stands for another that only a list can tell. */
  isShortened(exposed: string): boolean {
    if (!this.isPrefixed || !looksShortened(exposed)) return false
    return this.#byLabel.has(exposed.slice(0, exposed.indexOf('_')))
  }

  /** The targets whose lists must be gathered before `owner`, or `Owners.find`, can tell whose a name is. */
  targetsToList(kind: McpItemKind, exposed: string): readonly string[] {
    if (kind === 'task') return []
    if (this.needsOwners) return this.targets
    if (kind === 'resource' || !this.isShortened(exposed) || this.#shortened.has(exposed)) return []
    const target = this.#byLabel.get(exposed.slice(0, exposed.indexOf('_')))
    return target === undefined ? [] : [target]
  }

  #exposedName(owned: Owned, shown: string): string {
    if (!this.isPrefixed) return shown
    const { target } = owned
    const full = `${target}_${shown}`
    if (full.length <= LONGEST_NAME && !looksShortened(full)) return full
    const short = shorten(`${this.#labels.get(target) ?? target}_${shown}`, full)
    this.#remember(short, owned)
    return short
  }

  #remember(short: string, owned: Owned): void {
    this.#shortened.delete(short)
    this.#shortened.set(short, owned)
    if (this.#shortened.size <= MOST_SHORTENED) return
    for (const oldest of this.#shortened.keys()) return void this.#shortened.delete(oldest)
  }

  #ownerOfUri(exposed: string): Owned | null {
    if (!exposed.startsWith(UI)) return this.#split(exposed, '+')
    const owned = this.#split(exposed.slice(UI.length), '+')
    return owned && { target: owned.target, name: UI + owned.name }
  }

  #split(exposed: string, separator: string): Owned | null {
    const at = exposed.indexOf(separator)
    const target = at === -1 ? undefined : exposed.slice(0, at)
    return target === undefined || !this.targets.includes(target) ? null : { target, name: exposed.slice(at + 1) }
  }
}

/** Also of templates: what a client makes of one is again such a URI. */
function exposedUri(target: string, uri: string): string {
  return uri.startsWith(UI) ? `${UI}${target}+${uri.slice(UI.length)}` : `${target}+${uri}`
}

/** The beginning of the name, and a hash of all of it: so that it is the same wherever and whenever it is made. */
function shorten(text: string, full: string): string {
  const head = text.slice(0, LONGEST_NAME - TAIL)
  // Half of a character would not survive UTF-8.
  const whole = /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head
  return `${whole}_${hashOf(full)}`
}

function looksShortened(name: string): boolean {
  return name.length <= LONGEST_NAME && name.length >= LONGEST_NAME - 1 && /_[0-9a-f]{8}$/.test(name)
}

/** A long target must leave room for some of the name. */
function labelOf(target: string): string {
  if (target.length <= LONGEST_LABEL) return target
  return `${target.slice(0, LONGEST_LABEL - TAIL)}-${hashOf(target)}`
}

/** Of the text as it is in memory: as UTF-8, broken characters would all be one. */
function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex').slice(0, 8)
}

/** What clients of models accept. */
const LONGEST_NAME = 64
/** The hash and what parts it from the rest. */
const TAIL = 9
const LONGEST_LABEL = 32
const MOST_SHORTENED = 20_000
const UI = 'ui://'
