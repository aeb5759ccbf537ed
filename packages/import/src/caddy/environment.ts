import { positionText, type SourcePosition } from '../core/source.ts'

/** The variables of the environment that the config needs, with values for its tests. */
export class Environment {
  readonly #values = new Map<string, string>()
  readonly #names = new Map<string, string>()

  get values(): Record<string, string> {
    return Object.fromEntries(this.#values)
  }

  use(name: string, value: string): void {
    if (!this.#values.has(name)) this.#values.set(name, value)
  }

  /** A variable for a secret that the source has as a text, at one of its positions. */
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
