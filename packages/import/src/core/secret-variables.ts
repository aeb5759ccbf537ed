import { positionText } from './source.ts'
import type { Field } from './yaml-field.ts'

/** Variables for secrets of the source, each with a name of its own. */
export class SecretVariables {
  readonly #names = new Map<string, string>()

  /** The name for a secret; the same field has the same name. */
  nameOf(field: Field, purpose: string): string {
    const key = positionText(field.at)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const base = purpose.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
    let name = base
    for (let number = 2; [...this.#names.values()].includes(name); number++) name = `${base}_${number}`
    this.#names.set(key, name)
    return name
  }

  /** Values for tests. */
  get examples(): Record<string, string> {
    return Object.fromEntries([...this.#names.values()].map((name) => [name, 'example']))
  }
}
