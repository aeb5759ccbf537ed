import { positionText } from './source.ts'
import type { Field } from './yaml-field.ts'

/** Environment variables that replace the secrets of the source config. Each secret has its own variable. */
export class SecretVariables {
  readonly #names = new Map<string, string>()

  /** Returns the variable name for a secret. Repeated calls for one field return the same name. */
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

  /** The variables with their values in the generated tests. */
  get examples(): Record<string, string> {
    return Object.fromEntries([...this.#names.values()].map((name) => [name, 'example']))
  }
}
