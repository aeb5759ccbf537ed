import { positionText, type SourcePosition } from '../core/source.ts'

/** The environment variables of the imported config, with values for the generated tests. */
export class Environment {
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()

  get values(): Record<string, string> {
    return Object.fromEntries(this.#values)
  }

  use(name: string, value: string): void {
    if (!this.#values.has(name)) this.#values.set(name, value)
  }

  /**
   * Adds a variable for a secret that the Caddyfile has as plain text at the position `at`, and returns the name of the
   * variable.
   */
  free(at: SourcePosition, base: string, value: string): string {
    const known = this.#names.get(positionText(at))
    if (known !== undefined) return known
    let name = base
    for (let number = 2; this.#values.has(name); number++) name = `${base}_${number}`
    this.#values.set(name, value)
    this.#names.set(positionText(at), name)
    return name
  }
}
