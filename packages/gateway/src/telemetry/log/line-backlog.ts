export interface LineBacklogOptions {
  /** Collected characters that are a batch. */
  batchLength?: number
  /** Waiting characters beyond which new lines are dropped and counted. */
  maxBacklog?: number
  /** The line that tells of dropped ones, with its line feed. */
  describeDropped?: (count: number) => string
}

/** Lines that wait, and the number of those that found no room. */
export class LineBacklog {
  readonly #batchLength: number
  readonly #maxLength: number
  readonly #describeDropped: (count: number) => string
  #collected = ''
  /** Full batches: bytes, because a string made of many small parts takes ten times the memory. */
  readonly #sealed: Buffer[] = []
  #sealedLength = 0
  #droppedCount = 0

  constructor({ batchLength, maxBacklog, describeDropped }: LineBacklogOptions) {
    this.#batchLength = batchLength ?? 64 * 1024
    this.#maxLength = maxBacklog ?? 8 * 1024 * 1024
    this.#describeDropped = describeDropped ?? defaultDropped
  }

  get hasFullBatch(): boolean {
    return this.#sealed.length > 0
  }

  get hasLines(): boolean {
    return this.#sealed.length > 0 || this.#collected !== ''
  }

  get batchCount(): number {
    return this.#sealed.length + (this.#collected !== '' || this.#droppedCount > 0 ? 1 : 0)
  }

  /** Whether the lines have filled a batch. `unwritten` is what of the last one is on its way. */
  add(lines: string, unwritten: number): boolean {
    if (this.#sealedLength + this.#collected.length + unwritten + lines.length > this.#maxLength) {
      this.#droppedCount += 1
      return false
    }
    this.#collected += lines
    if (this.#collected.length < this.#batchLength) return false
    this.#seal()
    return true
  }

  dropped(count: number): void {
    this.#droppedCount += count
  }

  /** The next batch; empty when there is none. */
  take(): Buffer {
    if (this.#sealed.length === 0) this.#seal()
    const batch = this.#sealed.shift() ?? EMPTY
    this.#sealedLength -= batch.length
    return batch
  }

  clear(): void {
    this.#collected = ''
    this.#sealed.length = 0
    this.#sealedLength = 0
    this.#droppedCount = 0
  }

  #seal(): void {
    if (this.#droppedCount > 0) this.#collected += this.#describeDropped(this.#droppedCount)
    this.#droppedCount = 0
    if (this.#collected === '') return
    const bytes = Buffer.from(this.#collected, 'utf8')
    this.#sealed.push(bytes)
    this.#sealedLength += bytes.length
    this.#collected = ''
  }
}

const EMPTY = Buffer.alloc(0)

function defaultDropped(count: number): string {
  return `${new Date().toISOString()}\twarn\tlog\tlines were dropped because the reader is too slow count=${count}\n`
}
