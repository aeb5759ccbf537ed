/** Exponential backoff with jitter, so that many clients do not return at the same time. */
export class Backoff {
  readonly #firstMs: number
  readonly #mostMs: number
  readonly #random: () => number
  #nextMs: number

  constructor({ firstMs = 250, mostMs = 5_000, random = Math.random }: BackoffOptions = {}) {
    this.#firstMs = firstMs
    this.#mostMs = mostMs
    this.#random = random
    this.#nextMs = firstMs
  }

  /** Returns the next wait in milliseconds: between half of the full wait and all of it. */
  next(): number {
    const full = this.#nextMs
    this.#nextMs = Math.min(full * 2, this.#mostMs)
    return full * (0.5 + this.#random() / 2)
  }

  reset(): void {
    this.#nextMs = this.#firstMs
  }
}

export interface BackoffOptions {
  firstMs?: number
  mostMs?: number
  random?: () => number
}
