import { matchesGlob } from '../formats/glob.ts'

/** The `tools` config of one target; all names in it are the target's own names. */
export interface ToolsConfig {
  /** Glob patterns; all tools when absent. */
  include?: readonly string[] | undefined
  /** Glob patterns, applied after `include`. */
  exclude: readonly string[]
  rename: Readonly<Record<string, string>>
  description: Readonly<Record<string, string>>
}

/** The tools of a target that are offered to clients, with their names and descriptions. */
export class OfferedTools {
  readonly #include: readonly string[] | null
  readonly #exclude: readonly string[]
  readonly #shownByOwn: ReadonlyMap<string, string>
  readonly #ownByShown: ReadonlyMap<string, string>
  readonly #descriptions: ReadonlyMap<string, string>
  readonly #toldOf = new Set<string>()

  constructor({ include, exclude, rename, description }: ToolsConfig) {
    this.#include = include ?? null
    this.#exclude = exclude
    const renamed = Object.entries(rename).filter(([own]) => this.isChosen(own))
    this.#shownByOwn = new Map(renamed)
    this.#ownByShown = new Map(renamed.map(([own, shown]) => [shown, own]))
    this.#descriptions = new Map(Object.entries(description))
  }

  /** Whether the patterns include the tool. */
  isChosen(own: string): boolean {
    const isIn = this.#include === null || this.#include.some((pattern) => matchesGlob(pattern, own))
    return isIn && !this.#exclude.some((pattern) => matchesGlob(pattern, own))
  }

  /** Whether `rename` gives the name of this tool to another tool, so that this one cannot be offered. */
  isDisplaced(own: string): boolean {
    return this.#ownByShown.has(own) && !this.#shownByOwn.has(own)
  }

  /** Whether to log that the tool is displaced; true once for each tool. */
  tellOfDisplaced(own: string): boolean {
    if (!this.isChosen(own) || !this.isDisplaced(own) || this.#toldOf.has(own)) return false
    this.#toldOf.add(own)
    return true
  }

  isOffered(own: string): boolean {
    return this.isChosen(own) && !this.isDisplaced(own)
  }

  shown(own: string): string {
    return this.#shownByOwn.get(own) ?? own
  }

  /** Returns the target's own name for an offered name; null when no tool is offered under this name. */
  own(shown: string): string | null {
    const own = this.#ownByShown.get(shown) ?? (this.#shownByOwn.has(shown) ? null : shown)
    return own !== null && this.isOffered(own) ? own : null
  }

  description(own: string): string | undefined {
    return this.#descriptions.get(own)
  }
}
