import { matchesGlob } from '../formats/glob.ts'

/** What the config says of the tools of one target, by the names that the target has for them. */
export interface ToolsConfig {
  /** Patterns; all tools when left out. */
  include?: readonly string[] | undefined
  /** Patterns; they count after `include`. */
  exclude: readonly string[]
  rename: Readonly<Record<string, string>>
  description: Readonly<Record<string, string>>
}

/** Which tools of a target are offered to clients, under which names and with which words. */
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

  /** Whether the patterns leave it. */
  isChosen(own: string): boolean {
    const isIn = this.#include === null || this.#include.some((pattern) => matchesGlob(pattern, own))
    return isIn && !this.#exclude.some((pattern) => matchesGlob(pattern, own))
  }

  /** Whether another tool is offered under its name: only one of them can be called by it. */
  isDisplaced(own: string): boolean {
    return this.#ownByShown.has(own) && !this.#shownByOwn.has(own)
  }

  /** Whether somebody should be told of a displaced tool: once is enough. */
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

  /** What the target calls it; null for a name under which nothing is offered. */
  own(shown: string): string | null {
    const own = this.#ownByShown.get(shown) ?? (this.#shownByOwn.has(shown) ? null : shown)
    return own !== null && this.isOffered(own) ? own : null
  }

  description(own: string): string | undefined {
    return this.#descriptions.get(own)
  }
}
