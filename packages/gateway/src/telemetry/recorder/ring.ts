/**
 * A ring of entries of any size in shared memory: new entries overwrite the oldest. One thread writes; others read without
 * locks, and discard entries that were overwritten meanwhile.
 */

/** The alignment of entries in bytes, so that numbers in them are aligned. */
const UNIT = 8
/** Room for the two positions, on a cache line of their own. */
const CONTROL_BYTES = 64
/** Positions count units and never go back; they wrap around as 32-bit integers do, which a power of two survives. */
const HEAD = 0
const TAIL = 1
/** First word of an entry: its units. A filler up to the end of the memory has this bit. */
const FILLER = 0x8000_0000
/** Units that are given up before they are overwritten, so that readers on other cores notice in time. */
const SLACK_UNITS = 128
/** Entries are given up in stretches of 2^9 units, because reading each old entry would miss the CPU cache. */
const STRETCH_SHIFT = 9

/** Allocates memory for this many bytes of entries, rounded up to a power of two. */
export function createRing(bytes: number): SharedArrayBuffer {
  const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, 64 * 1024)))
  return new SharedArrayBuffer(CONTROL_BYTES + size)
}

export class RingWriter {
  readonly bytes: Buffer
  readonly u32: Uint32Array
  readonly f64: Float64Array
  readonly #control: Int32Array
  readonly #units: number
  #head: number
  #tail: number
  /** The position of the first entry in each stretch. */
  readonly #marks: Int32Array
  /** The stretch of the last entry. */
  #stretch = -1

  constructor(memory: SharedArrayBuffer) {
    this.#control = new Int32Array(memory, 0, 2)
    this.bytes = Buffer.from(memory, CONTROL_BYTES)
    this.u32 = new Uint32Array(memory, CONTROL_BYTES)
    this.f64 = new Float64Array(memory, CONTROL_BYTES)
    this.#units = this.bytes.length / UNIT
    this.#head = Atomics.load(this.#control, HEAD)
    this.#tail = Atomics.load(this.#control, TAIL)
    // Marks before the tail are invalid, so entries of an earlier writer are given up one by one.
    this.#marks = new Int32Array(this.#units >>> STRETCH_SHIFT).fill(this.#tail - 1)
  }

  /** The most bytes of one entry. */
  get maxBytes(): number {
    return this.bytes.length >>> 3
  }

  /** Returns the offset for an entry of at most this many bytes; the ring uses its first word. */
  reserve(bytes: number): number {
    const units = (bytes + UNIT - 1) >>> 3
    let at = this.#head & (this.#units - 1)
    const left = this.#units - at
    this.#free(left >= units ? units : left + units)
    if (left < units) {
      this.u32[at * 2] = FILLER | left
      this.#head = (this.#head + left) | 0
      at = 0
    }
    const stretch = at >>> STRETCH_SHIFT
    if (stretch !== this.#stretch) {
      this.#stretch = stretch
      this.#marks[stretch] = this.#head
    }
    return at * UNIT
  }

  /** Publishes the reserved entry, of which this many bytes are used. */
  publish(offset: number, bytes: number): void {
    const units = (bytes + UNIT - 1) >>> 3
    this.u32[offset >>> 2] = units
    this.#head = (this.#head + units) | 0
    Atomics.store(this.#control, HEAD, this.#head)
  }

  #free(units: number): void {
    const wanted = units + SLACK_UNITS
    if (this.#units - ((this.#head - this.#tail) | 0) >= wanted) return
    do this.#tail = this.#afterTail()
    while (this.#units - ((this.#head - this.#tail) | 0) < wanted)
    Atomics.store(this.#control, TAIL, this.#tail)
  }

  /** The next stretch, or the next entry where none begins in that stretch. */
  #afterTail(): number {
    const at = this.#tail & (this.#units - 1)
    const mark = this.#marks[((at >>> STRETCH_SHIFT) + 1) & (this.#marks.length - 1)]!
    if (((mark - this.#tail) | 0) > 0) return mark
    const length = this.u32[at * 2]!
    return (this.#tail + (length & ~FILLER)) | 0
  }
}

interface RingEntries {
  /** Oldest first; each is a copy. */
  readonly entries: readonly Buffer[]
  /** For the next call. */
  readonly position: number
  /** Whether entries after the position asked for were overwritten before they could be read. */
  readonly hasLost: boolean
}

/** All entries behind a position, or all there are. */
export function readRing(memory: SharedArrayBuffer, after: number | null = null): RingEntries {
  const control = new Int32Array(memory, 0, 2)
  const bytes = new Uint8Array(memory, CONTROL_BYTES)
  const size = bytes.length / UNIT
  const head = Atomics.load(control, HEAD)
  const oldest = Atomics.load(control, TAIL)
  const hasLost = after !== null && ((after - oldest) | 0) < 0
  const from = after === null || hasLost ? oldest : after
  const copy = Buffer.alloc(((head - from) | 0) * UNIT)
  const start = (from & (size - 1)) * UNIT
  const first = Math.min(copy.length, bytes.length - start)
  copy.set(bytes.subarray(start, start + first), 0)
  copy.set(bytes.subarray(0, copy.length - first), first)
  const alive = Atomics.load(control, TAIL)
  const dead = Math.max(0, (alive - from) | 0) * UNIT
  return { entries: cut(copy, dead), position: head, hasLost: hasLost || dead > 0 }
}

function cut(copy: Buffer, dead: number): Buffer[] {
  const entries: Buffer[] = []
  // A tail is always at the start of an entry; the bytes before it may be in the process of being overwritten.
  for (let at = Math.min(dead, copy.length); at + 4 <= copy.length;) {
    const word = copy.readUInt32LE(at)
    const length = (word & ~FILLER) * UNIT
    if (length <= 0 || at + length > copy.length) break
    if (word < FILLER) entries.push(copy.subarray(at, at + length))
    at += length
  }
  return entries
}

/** The position behind the newest entry. */
export function ringEnd(memory: SharedArrayBuffer): number {
  return Atomics.load(new Int32Array(memory, 0, 2), HEAD)
}

/** Whether entries were overwritten. */
export function hasForgotten(memory: SharedArrayBuffer): boolean {
  return Atomics.load(new Int32Array(memory, 0, 2), TAIL) !== 0
}

/** Bytes that entries take, and those that they may. */
export function ringUse(memory: SharedArrayBuffer): { bytes: number; maxBytes: number } {
  const control = new Int32Array(memory, 0, 2)
  const used = (Atomics.load(control, HEAD) - Atomics.load(control, TAIL)) | 0
  return { bytes: used * UNIT, maxBytes: memory.byteLength - CONTROL_BYTES }
}
