import { MAX_PASSES } from '../../fields/hops.ts'

/**
 * Counts how often the same TLS handshake passes through this worker at the same time. Passed-through bytes carry no
 * hop header, but every hop of a loop carries the client's original ClientHello.
 */
export class HandshakePasses {
  readonly #open = new Map<string, number>()

  /** Returns false when the handshake is in a loop; after true, the caller must call `leave`. */
  enter(random: string): boolean {
    const passes = this.#open.get(random) ?? 0
    if (passes > MAX_PASSES) return false
    this.#open.set(random, passes + 1)
    return true
  }

  leave(random: string): void {
    const left = (this.#open.get(random) ?? 1) - 1
    if (left > 0) this.#open.set(random, left)
    else this.#open.delete(random)
  }
}
