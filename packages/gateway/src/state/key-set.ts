import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { PublicJwk } from '../formats/jwk-set.ts'

/** A key that verifies signatures, and the algorithms it may be used with. */
export interface VerificationKey {
  key: KeyObject
  algorithms: readonly string[]
}

/** The keys of one issuer at one time. Changed keys make a new object. */
export class KeySet {
  readonly #keysById = new Map<string, VerificationKey[]>()
  readonly #all: VerificationKey[] = []

  /** Leaves out keys that the runtime cannot use; returns null when no key is left. */
  static of(jwks: readonly PublicJwk[]): KeySet | null {
    const set = new KeySet()
    for (const jwk of jwks) set.#add(jwk)
    return set.#all.length === 0 ? null : set
  }

  /**
   * Returns the keys with this id. A token without a key id matches only when the set has a single key. When no key of
   * the set has an id, a single key matches every key id. The signature is verified in any case, with the algorithms
   * that the key itself allows.
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
