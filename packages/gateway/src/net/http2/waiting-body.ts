/**
 * Bytes of a body that nobody takes yet. Small pieces are put together: a thousand of them would otherwise cost many times
 * what they hold, and each would keep the whole read that it came with.
 */
export class WaitingBody {
  #blocks: Buffer[] = []
  /** The last block while it has room, and how much of it is used. */
  #tail: Buffer | null = null
  #used = 0
  #size = 0

  add(chunk: Buffer): void {
    this.#size += chunk.length
    if (chunk.length >= LARGE && chunk.length * MOST_KEPT >= chunk.buffer.byteLength) {
      this.#closeTail()
      this.#blocks.push(chunk)
      return
    }
    if (this.#tail === null || this.#used + chunk.length > this.#tail.length) {
      this.#closeTail()
      this.#tail = Buffer.allocUnsafeSlow(Math.max(chunk.length, Math.min(2 * this.#size, LARGE)))
    }
    this.#used += chunk.copy(this.#tail, this.#used)
  }

  /** All of it, which then waits no more. */
  takeAll(): Buffer[] {
    this.#closeTail()
    const blocks = this.#blocks
    this.#blocks = []
    this.#size = 0
    return blocks
  }

  get size(): number {
    return this.#size
  }

  #closeTail(): void {
    if (this.#tail !== null) this.#blocks.push(this.#tail.subarray(0, this.#used))
    this.#tail = null
    this.#used = 0
  }
}

const LARGE = 8192
/** A piece may keep a read so many times its size. */
const MOST_KEPT = 32
