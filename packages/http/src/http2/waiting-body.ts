/**
 * Body data that is not consumed yet. Small pieces are merged: a thousand separate pieces would cost many times their
 * size, and each would keep its whole read alive.
 */
export class WaitingBody {
  #blocks: Buffer[] = []
  /** The last block while it has room, and the number of its used bytes. */
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

  /** Returns all data and empties the buffer. */
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
/** A piece may keep a read alive that is at most this many times larger. */
const MOST_KEPT = 32
