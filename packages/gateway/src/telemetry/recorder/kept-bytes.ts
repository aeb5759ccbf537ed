/** Keeps the first bytes of a body for its record. */
export class KeptBytes {
  readonly #max: number
  readonly #chunks: Buffer[] = []
  #size = 0
  isCut = false

  constructor(max: number) {
    this.#max = max
  }

  /** Copies a chunk, which may be a view of a buffer that the next read overwrites. */
  chunk(chunk: Uint8Array): void {
    const room = this.#max - this.#size
    if (chunk.length > room) this.isCut = true
    if (room <= 0) return
    const kept = Buffer.from(chunk.subarray(0, room))
    this.#chunks.push(kept)
    this.#size += kept.length
  }

  over(whole: boolean): void {
    if (!whole) this.isCut = true
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}
