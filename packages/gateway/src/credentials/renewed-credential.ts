import { type Cloud, CredentialFault, type CredentialWatch } from '../pipeline/cloud-credentials.ts'

export interface Obtained<T> {
  value: T
  /** How long it can be used from now on; Infinity for ever. */
  lifetimeMs: number
}

export interface RenewedCredentialOptions<T> {
  cloud: Cloud
  /** What cannot be had, for messages. */
  what: string
  /** May hang, and may reject: both are a fault. */
  obtain: () => Promise<Obtained<T> | CredentialFault>
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Told why there is nothing new. */
  failed: (reason: string) => void
}

/**
 * Something that ends and is asked for anew before it does: once for all who wait, and not at once again after a
 * failure. What is still good stays in use meanwhile.
 */
export class RenewedCredential<T> {
  readonly #options: RenewedCredentialOptions<T>
  #value: T | null = null
  #underWay: Promise<T | CredentialFault> | null = null
  /** From here on a new one is asked for behind the scenes … */
  #renewAt = -Infinity
  /** … and from here on it is waited for. */
  #endsAt = -Infinity
  #fault: CredentialFault | null = null
  #retryAt = -Infinity
  #failures = 0

  constructor(options: RenewedCredentialOptions<T>) {
    this.#options = options
  }

  /** A promise only while there is none that may be used; it never rejects. */
  current(watch: CredentialWatch | null = null): T | CredentialFault | Promise<T | CredentialFault> {
    const now = this.#options.monotonic()
    const good = this.#value !== null && now < this.#endsAt ? this.#value : null
    if (good !== null && now < this.#renewAt) return good
    if (this.#underWay === null && now >= this.#retryAt) void this.#start(watch)
    // After a failure there is either something good, or the reason why not.
    return good ?? this.#underWay ?? this.#fault ?? this.#start(watch)
  }

  #start(watch: CredentialWatch | null): Promise<T | CredentialFault> {
    const told = watch?.obtaining(this.#options.cloud)
    const underWay = this.#run().finally(() => (this.#underWay = null))
    this.#underWay = underWay
    if (told !== undefined) {
      void underWay.then((outcome) => told(outcome instanceof CredentialFault ? outcome.reason : null))
    }
    return underWay
  }

  async #run(): Promise<T | CredentialFault> {
    const obtained = await this.#obtain()
    if (obtained instanceof CredentialFault) return this.#fail(obtained)
    const { value, lifetimeMs } = obtained
    if (!(lifetimeMs > 0)) return this.#fail(new CredentialFault(`${this.#options.what}: it has already expired`))
    const now = this.#options.monotonic()
    this.#failures = 0
    this.#value = value
    // Of something short-lived, parts of its life.
    this.#renewAt = now + lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 2)
    this.#endsAt = now + lifetimeMs - Math.min(END_BEFORE_MS, lifetimeMs / 4)
    return value
  }

  #obtain(): Promise<Obtained<T> | CredentialFault> {
    const { obtain, what } = this.#options
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => resolve(new CredentialFault(`${what}: no answer within ${TIMEOUT_MS / 1000} seconds`)),
        TIMEOUT_MS,
      )
      timer.unref()
      void obtain()
        .catch(() => new CredentialFault(`${what}: an error`))
        .then(resolve)
        .finally(() => clearTimeout(timer))
    })
  }

  #fail(fault: CredentialFault): CredentialFault {
    const { monotonic, random, failed } = this.#options
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS)
    this.#failures++
    this.#fault = fault
    this.#retryAt = monotonic() + pause * (0.5 + 0.5 * random())
    failed(fault.reason)
    return fault
  }
}

const TIMEOUT_MS = 5_000
const RENEW_BEFORE_MS = 60_000
/** A request takes a while to arrive. */
const END_BEFORE_MS = 10_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
