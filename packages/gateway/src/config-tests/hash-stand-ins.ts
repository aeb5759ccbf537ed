import { createHash, randomBytes } from 'node:crypto'
import type { Ir } from '../ir/resources.ts'
import { policiesOf } from './credential-policies.ts'

/** The credentials to replace: all of them, or those of some names. */
export interface ReplacedNames {
  readonly keys: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

/** Credentials of a run, for keys and passwords of which a config has only hashes. */
export class HashStandIns {
  readonly #keyByHash = new Map<string, string>()
  readonly #passwords = new Map<string, string>()

  /** Changes the config, so that it accepts the stand-ins. Null replaces all credentials. */
  constructor(ir: Ir, names: ReplacedNames | null) {
    const { apiKeys, basic } = policiesOf(ir)
    for (const [name, entry] of apiKeys.flatMap(({ entries }) => entries)) {
      const { keyHash } = entry
      if (keyHash === undefined || names?.keys.has(name) === false) continue
      const key = this.#keyByHash.get(keyHash) ?? standIn()
      this.#keyByHash.set(keyHash, key)
      entry.key = key
      delete entry.keyHash
    }
    for (const user of new Set(basic.flatMap(({ users }) => users))) {
      if (names?.users.has(user.username) === false) continue
      const password = this.#passwords.get(user.username) ?? standIn()
      this.#passwords.set(user.username, password)
      user.hash = `{SHA}${createHash('sha1').update(password).digest('base64')}`
    }
  }

  /** The stand-in of a key that the config had the hash of; the key itself otherwise. */
  keyFor(key: string): string {
    return this.#keyByHash.get(`sha256:${createHash('sha256').update(key).digest('hex')}`) ?? key
  }

  /** Null for a user whose password was not replaced. */
  passwordOf(username: string): string | null {
    return this.#passwords.get(username) ?? null
  }
}

function standIn(): string {
  return `stand-in-${randomBytes(16).toString('hex')}`
}
