import { type Cloud, CredentialFault, type CredentialWatch } from '../pipeline/cloud-credentials.ts'

export interface ExpiringValue<T> {
  value: T
  /** How long the value can be used from now on; Infinity when it does not expire. */
  lifetimeMs: number
}

interface RenewedCredentialOptions<T> {
  cloud: Cloud
  /** Begins the messages about a failure, such as "no Azure token". */
  what: string
  /** May hang or reject; both count as a fault. */
  obtain: () => Promise<ExpiringValue<T> | CredentialFault>
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Called with the reason when a renewal fails. */
  failed: (reason: string) => void
}

/**
 * A credential that expires and is renewed before that. All callers share one renewal, and a failed renewal is retried
 * only after a pause. The current value stays in use until it expires.
 */
export class RenewedCredential<T> {
  readonly #options: RenewedCredentialOptions<T>
  #value: T | null = null
  #underWay: Promise<T | CredentialFault> | null = null
  /** From this time on, a renewal runs in the background. */
  #renewAt = -Infinity
  /** From this time on, callers wait for the renewal. */
  #endsAt = -Infinity
  #fault: CredentialFault | null = null
  #retryAt = -Infinity
  #failures = 0

  constructor(options: RenewedCredentialOptions<T>) {
    this.#options = options
  }

  /** Returns a promise only while there is no usable value; the promise never rejects. */
  current(watch: CredentialWatch | null = null): T | CredentialFault | Promise<T | CredentialFault> {
    const now = this.#options.monotonic()
    const good = this.#value !== null && now < this.#endsAt ? this.#value : null
    if (good !== null && now < this.#renewAt) return good
    if (this.#underWay === null && now >= this.#retryAt) void this.#start(watch)
    // After a failure there is either a usable value or a fault.
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
    // For a short lifetime, the margins are fractions of the lifetime.
    this.#renewAt = now + lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 2)
    this.#endsAt = now + lifetimeMs - Math.min(END_BEFORE_MS, lifetimeMs / 4)
    return value
  }

  #obtain(): Promise<ExpiringValue<T> | CredentialFault> {
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
/** Margin for the time that a request needs to arrive. */
const END_BEFORE_MS = 10_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
