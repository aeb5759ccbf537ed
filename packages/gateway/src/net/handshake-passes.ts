import { MAX_PASSES } from './hops.ts'

/**
 * Counts how often the same TLS handshake passes this worker at once. Bytes that pass through carry no header, but every hop
 * of a loop carries the ClientHello that the client sent first.
 */
export class HandshakePasses {
  readonly #open = new Map<string, number>()

  /** False when the handshake is in a loop; true is to be followed by `leave`. */
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
