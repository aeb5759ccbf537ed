/** What may be known of a part of the file without a second look: that a check finds nothing in it, each a bit. */
export const SETTLED = {
  /** It names nothing that stands elsewhere. */
  references: 1,
  /** Its policies do what MCP OAuth asks for. */
  oauth: 2,
  /** It has no MCP target. */
  mcp: 4,
  /** It is a good route of an HTTP listener whose policies do not answer. */
  route: 8,
  /** The same where they do. */
  answeredRoute: 16,
} as const

export type Finding = (typeof SETTLED)[keyof typeof SETTLED]

/** Parts by the object that stands for their text: the same text is the same object, and objects do not change. */
export class SettledParts {
  readonly #found = new WeakMap<object, number>()

  has(part: unknown, finding: Finding): boolean {
    return typeof part === 'object' && part !== null && ((this.#found.get(part) ?? 0) & finding) !== 0
  }

  add(part: unknown, finding: Finding): void {
    if (typeof part === 'object' && part !== null) this.#found.set(part, (this.#found.get(part) ?? 0) | finding)
  }
}
