import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { PublicJwk } from '../formats/jwk-set.ts'

/** A key that signatures are verified with, and the algorithms it may be used with. */
export interface VerificationKey {
  key: KeyObject
  algorithms: readonly string[]
}

/** The keys of one issuer at one time; another set is another object. */
export class KeySet {
  readonly #keysById = new Map<string, VerificationKey[]>()
  readonly #all: VerificationKey[] = []

  /** Keys that the runtime cannot use are left out; null when none is left. */
  static of(jwks: readonly PublicJwk[]): KeySet | null {
    const set = new KeySet()
    for (const jwk of jwks) set.#add(jwk)
    return set.#all.length === 0 ? null : set
  }

  /**
   * The keys with this id. A token that names none can only mean the one key of a set of one, and so does any name where
   * that key has none. What is signed with the key decides all the same, by the algorithms that the key itself allows.
   */
  find(kid: string | null): readonly VerificationKey[] {
    if (kid !== null && this.#keysById.size > 0) return this.#keysById.get(kid) ?? NONE
    return this.#all.length === 1 ? this.#all : NONE
  }

  #add(jwk: PublicJwk): void {
    const imported = importKey(jwk)
    if (imported === null) return
    const key = { key: imported, algorithms: jwk.algorithms }
    this.#all.push(key)
    if (jwk.kid === null) return
    const same = this.#keysById.get(jwk.kid)
    if (same === undefined) this.#keysById.set(jwk.kid, [key])
    else same.push(key)
  }
}

const NONE: readonly VerificationKey[] = []

function importKey(jwk: PublicJwk): KeyObject | null {
  try {
    return createPublicKey({ key: { ...jwk.members }, format: 'jwk' })
  } catch {
    return null
  }
}
