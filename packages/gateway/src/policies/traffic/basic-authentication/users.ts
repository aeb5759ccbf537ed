import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { CheckQueue, type CheckSlots } from './check-queue.ts'
import { isPassword } from './password.ts'

export type Outcome = 'accepted' | 'refused' | 'busy'

/** Checks credentials against hashes. Hashing is slow by design, so each pair is hashed once and then remembered. */
export class Users {
  readonly #hashesByName = new Map<string, string>()
  readonly #hashes: readonly string[]
  /** Remembered are keyed digests: neither passwords nor anything that could be guessed at from outside. */
  readonly #secret = randomBytes(32)
  readonly #accepted = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  readonly #refused = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  readonly #underWay = new Map<string, Promise<Outcome>>()
  readonly #queue: CheckQueue
  readonly #giveWay: CheckSlots['giveWay']

  constructor(entries: readonly { username: string; hash: string }[], slots: CheckSlots) {
    this.#queue = new CheckQueue(slots)
    this.#giveWay = slots.giveWay
    for (const { username, hash } of entries) {
      this.#hashesByName.set(username, hash)
    }
    this.#hashes = entries.map(({ hash }) => hash)
  }

  check(username: string, password: Buffer): Outcome | Promise<Outcome> {
    const mark = this.#mark(JSON.stringify(username), password)
    if (this.#accepted.get(mark) === true) return 'accepted'
    if (this.#refused.get(mark) === true) return 'refused'
    const underWay = this.#underWay.get(mark)
    if (underWay !== undefined) return underWay
    const checked = this.#queue.run(() => this.#hash(username, password))
    if (checked === null) return 'busy'
    const outcome = checked
      .then((isRight) => {
        ;(isRight ? this.#accepted : this.#refused).set(mark, true)
        return isRight ? ('accepted' as const) : ('refused' as const)
      })
      .finally(() => this.#underWay.delete(mark))
    this.#underWay.set(mark, outcome)
    return outcome
  }

  /**
   * Checking an unknown name takes as long as checking a known one, so that timing does not reveal which names exist.
   */
  async #hash(username: string, password: Buffer): Promise<boolean> {
    const own = this.#hashesByName.get(username)
    const right = await isPassword(password, own ?? this.#standIn(username), this.#giveWay)
    return right && own !== undefined
  }

  #standIn(username: string): string {
    return this.#hashes[parseInt(this.#mark(username, NOTHING).slice(0, 8), 16) % this.#hashes.length] ?? ''
  }

  #mark(username: string, password: Buffer): string {
    return createHmac('sha256', this.#secret).update(username).update(password).digest('hex')
  }
}

const MAX_REMEMBERED = 1024
const NOTHING = Buffer.alloc(0)
