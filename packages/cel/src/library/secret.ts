import { overload } from '../declarations.ts'
import { scalar, string } from '../types.ts'
import type { Value } from '../value.ts'
import { Opaque } from '../value.ts'
import { method } from './define.ts'

/** A credential. It can be compared and passed on, but it is redacted wherever it is printed. */
export class Secret extends Opaque {
  readonly typeName = 'secret'
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  toText(): string {
    return '<redacted>'
  }

  reveal(): string {
    return this.#text
  }

  equals(other: Value): boolean {
    return other instanceof Secret ? other.#text === this.#text : other === this.#text
  }
}

export const secretFunctions = [
  method(
    'unredacted',
    overload([scalar('secret')], string),
    'The text of a secret.',
    (secret: Secret) => secret.reveal(),
    { on: Secret },
  ),
]
