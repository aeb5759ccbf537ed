/** Checks that found nothing in a part of the file, one bit each, so that they need not run again. */
export const SETTLED = {
  /** The part has no references. */
  references: 1,
  /** The policies of the part meet the requirements of MCP OAuth. */
  oauth: 2,
  /** The part has no MCP target. */
  mcp: 4,
  /** The part is a valid route of an HTTP listener whose policies do not respond themselves. */
  route: 8,
  /** The part is a valid route of an HTTP listener whose policies respond themselves. */
  answeredRoute: 16,
} as const

export type Finding = (typeof SETTLED)[keyof typeof SETTLED]

/** The results by the object of a part: equal texts share one object, and objects never change. */
export class SettledParts {
  readonly #found = new WeakMap<object, number>()

  has(part: unknown, finding: Finding): boolean {
    return typeof part === 'object' && part !== null && ((this.#found.get(part) ?? 0) & finding) !== 0
  }

  add(part: unknown, finding: Finding): void {
    if (typeof part === 'object' && part !== null) this.#found.set(part, (this.#found.get(part) ?? 0) | finding)
  }
}
