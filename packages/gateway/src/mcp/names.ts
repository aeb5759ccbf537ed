import { createHash } from 'node:crypto'
import type { McpItem, McpItemKind } from '../records/mcp-record.ts'
import type { OfferedTools } from './offered-tools.ts'

export type PrefixMode = 'Conditional' | 'Always' | 'Never'

/** An item of a target, under the target's own name for it. */
export interface TargetItem {
  target: string
  name: string
}

/**
 * The names under which clients see the items of targets. With prefixes, tools and prompts become `{target}_{name}`, URIs
 * and task ids `{target}+{uri}`. Names of targets contain neither `_` nor `+`, so the first one separates the two parts.
 */
export class Namer {
  readonly targets: readonly string[]
  /** Whether clients see several targets as one server. */
  readonly isMerged: boolean
  /** Whether names and URIs get the prefix of their target. */
  readonly isPrefixed: boolean
  /** Whether names do not tell their target, so that `Owners` must be consulted. */
  readonly needsOwners: boolean
  /** The tool settings of the targets that have `tools` in their config. */
  readonly #toolsByTarget: ReadonlyMap<string, OfferedTools>
  /** Targets by the text before `_`: the name of the target, or the short form of a long name. */
  readonly #byLabel: ReadonlyMap<string, string>
  readonly #labels: ReadonlyMap<string, string>
  /** Items by their shortened names. The short name depends on the long name only, so sessions and workers agree. */
  readonly #shortened = new Map<string, TargetItem>()

  constructor(targets: readonly string[], mode: PrefixMode, tools: ReadonlyMap<string, OfferedTools> = new Map()) {
    this.targets = targets
    this.#toolsByTarget = tools
    this.isMerged = targets.length > 1
    this.isPrefixed = mode === 'Always' || (mode === 'Conditional' && this.isMerged)
    this.needsOwners = this.isMerged && !this.isPrefixed
    this.#labels = new Map(targets.map((target) => [target, labelOf(target)]))
    this.#byLabel = new Map(targets.flatMap((target) => [target, labelOf(target)].map((label) => [label, target])))
  }

  /** Whether the config hides, renames or describes tools of a target. */
  get choosesTools(): boolean {
    return this.#toolsByTarget.size > 0
  }

  /** Whether clients see every item under the name that its target gave it. */
  get keepsNames(): boolean {
    return !this.isMerged && !this.isPrefixed && !this.choosesTools
  }

  /** Whether the config offers the item to clients. */
  offers({ kind, target, name }: McpItem): boolean {
    return kind !== 'tool' || (this.#toolsByTarget.get(target)?.isOffered(name) ?? true)
  }

  /** Whether to log that `tools.rename` gave the name of this tool to another tool. */
  tellOfDisplaced({ kind, target, name }: McpItem): boolean {
    return kind === 'tool' && (this.#toolsByTarget.get(target)?.tellOfDisplaced(name) ?? false)
  }

  /** Returns the description of a tool in the config, which replaces the target's own; undefined without one. */
  description({ kind, target, name }: McpItem): string | undefined {
    return kind === 'tool' ? this.#toolsByTarget.get(target)?.description(name) : undefined
  }

  /** Returns the name under which clients see an item. */
  exposed(kind: McpItemKind, target: string, name: string): string {
    switch (kind) {
      case 'tool':
        return this.#exposedName({ target, name }, this.#toolsByTarget.get(target)?.shown(name) ?? name)
      case 'prompt':
        return this.#exposedName({ target, name }, name)
      case 'resource':
        return this.isPrefixed ? exposedUri(target, name) : name
      case 'task':
        // Task ids of several targets are prefixed even with `Never`: only the prefix tells the target.
        return this.isPrefixed || this.isMerged ? `${target}+${name}` : name
    }
  }

  /**
   * Returns the target of an item, and the target's name for it. Null when no target fits the name, when the name does
   * not tell its target (`needsOwners`), and for unknown shortened names: `targetsToList` returns the targets to list then.
   */
  owner(kind: McpItemKind, exposed: string): TargetItem | null {
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

  /** Translates a tool's exposed name to the target's own name; null when the tool is not offered. */
  #own(kind: McpItemKind, { target, name: shown }: TargetItem): TargetItem | null {
    const tools = kind === 'tool' ? this.#toolsByTarget.get(target) : undefined
    const name = tools === undefined ? shown : tools.own(shown)
    return name === null ? null : { target, name }
  }

  /** Whether the name of a tool or prompt is a shortened one, which only a list can resolve. */
  isShortened(exposed: string): boolean {
    if (!this.isPrefixed || !looksShortened(exposed)) return false
    return this.#byLabel.has(exposed.slice(0, exposed.indexOf('_')))
  }

  /** Returns the targets whose lists must be requested before `owner` or `Owners.find` can resolve a name. */
  targetsToList(kind: McpItemKind, exposed: string): readonly string[] {
    if (kind === 'task') return []
    if (this.needsOwners) return this.targets
    if (kind === 'resource' || !this.isShortened(exposed) || this.#shortened.has(exposed)) return []
    const target = this.#byLabel.get(exposed.slice(0, exposed.indexOf('_')))
    return target === undefined ? [] : [target]
  }

  #exposedName(owned: TargetItem, shown: string): string {
    if (!this.isPrefixed) return shown
    const { target } = owned
    const full = `${target}_${shown}`
    if (full.length <= LONGEST_NAME && !looksShortened(full)) return full
    const short = shorten(`${this.#labels.get(target) ?? target}_${shown}`, full)
    this.#remember(short, owned)
    return short
  }

  #remember(short: string, owned: TargetItem): void {
    this.#shortened.delete(short)
    this.#shortened.set(short, owned)
    if (this.#shortened.size <= MOST_SHORTENED) return
    for (const oldest of this.#shortened.keys()) return void this.#shortened.delete(oldest)
  }

  #ownerOfUri(exposed: string): TargetItem | null {
    if (!exposed.startsWith(UI)) return this.#split(exposed, '+')
    const owned = this.#split(exposed.slice(UI.length), '+')
    return owned && { target: owned.target, name: UI + owned.name }
  }

  #split(exposed: string, separator: string): TargetItem | null {
    const at = exposed.indexOf(separator)
    const target = at === -1 ? undefined : exposed.slice(0, at)
    return target === undefined || !this.targets.includes(target) ? null : { target, name: exposed.slice(at + 1) }
  }
}

/** Returns the URI, or URI template, with the prefix of its target. */
function exposedUri(target: string, uri: string): string {
  return uri.startsWith(UI) ? `${UI}${target}+${uri.slice(UI.length)}` : `${target}+${uri}`
}

/** Shortens a name to its beginning and a hash of the full name, so that every worker gets the same result. */
function shorten(text: string, full: string): string {
  const head = text.slice(0, LONGEST_NAME - TAIL)
  // Half of a surrogate pair would not survive UTF-8.
  const whole = /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head
  return `${whole}_${hashOf(full)}`
}

function looksShortened(name: string): boolean {
  return name.length <= LONGEST_NAME && name.length >= LONGEST_NAME - 1 && /_[0-9a-f]{8}$/.test(name)
}

/** Returns the prefix of a target; a long name is shortened to leave room for the item's name. */
function labelOf(target: string): string {
  if (target.length <= LONGEST_LABEL) return target
  return `${target.slice(0, LONGEST_LABEL - TAIL)}-${hashOf(target)}`
}

/** Hashes the UTF-16 text: in UTF-8, all unpaired surrogates would become the same character. */
function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex').slice(0, 8)
}

/** The longest tool name that model providers accept. */
const LONGEST_NAME = 64
/** The length of the hash and its separator. */
const TAIL = 9
const LONGEST_LABEL = 32
const MOST_SHORTENED = 20_000
const UI = 'ui://'
