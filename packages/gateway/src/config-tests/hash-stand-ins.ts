import { createHash, randomBytes } from 'node:crypto'
import type { Ir } from '../ir/resources.ts'
import { policiesOf } from './credential-policies.ts'

/** The names of the keys and users whose credentials are replaced. */
export interface ReplacedNames {
  readonly keys: ReadonlySet<string>
  readonly users: ReadonlySet<string>
}

/** Stand-ins for API keys and passwords that a config has only as hashes, for the length of a test run. */
export class HashStandIns {
  readonly #keyByHash = new Map<string, string>()
  readonly #passwords = new Map<string, string>()

  /** Changes the config so that it accepts the stand-ins. `names` selects the credentials to replace; null replaces all. */
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

  /** Returns the stand-in for an API key that the config has as a hash; the key itself otherwise. */
  keyFor(key: string): string {
    return this.#keyByHash.get(`sha256:${createHash('sha256').update(key).digest('hex')}`) ?? key
  }

  /** Returns the stand-in for a user's password; null when the password was not replaced. */
  passwordOf(username: string): string | null {
    return this.#passwords.get(username) ?? null
  }
}

function standIn(): string {
  return `stand-in-${randomBytes(16).toString('hex')}`
}
