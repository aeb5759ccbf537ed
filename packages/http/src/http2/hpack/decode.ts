import { latin1 } from '../../http1/chars.ts'
import { readHuffman } from './huffman.ts'
import { DynamicTable, Field, sizeOf, STATIC_TABLE, TABLE_SIZE } from './tables.ts'

/** Receives the fields of one block, in order. */
export interface FieldSink {
  field(field: Field): void
}

interface BlockLimits {
  /** Bytes of names and values, plus the overhead of each field. */
  maxSize: number
  maxFields: number
}

/** Decodes header blocks (RFC 7541); later blocks may refer to table entries of earlier blocks. */
export class HpackDecoder {
  /** Bytes and fields of the last block. Above a limit, fields are still counted, but no longer passed on. */
  size = 0
  count = 0
  readonly #limits: BlockLimits
  readonly #table = new DynamicTable()
  #bytes: Buffer = NO_BYTES
  #at = 0
  #end = 0

  constructor(limits: BlockLimits) {
    this.#limits = limits
  }

  /** Returns false when the block is invalid: then no later block of the connection can be decoded either. */
  decode(bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
    this.size = 0
    this.count = 0
    this.#bytes = bytes
    this.#at = start
    this.#end = end
    if (!this.#readResizes()) return false
    while (this.#at < end) {
      const field = this.#readField(bytes[this.#at] ?? 0)
      if (field === null) return false
      this.size += sizeOf(field)
      this.count++
      if (this.size <= this.#limits.maxSize && this.count <= this.#limits.maxFields) sink.field(field)
    }
    this.#bytes = NO_BYTES
    return true
  }

  /** Table size updates come before all fields: the lowest and the last size since the previous block are enough. */
  #readResizes(): boolean {
    for (let left = MAX_RESIZES; this.#at < this.#end && ((this.#bytes[this.#at] ?? 0) & 0xe0) === 0x20; left--) {
      const size = this.#integer(5)
      if (size < 0 || size > TABLE_SIZE || left === 0) return false
      this.#table.resize(size)
    }
    return true
  }

  #readField(first: number): Field | null {
    if (first >= 0x80) return this.#entry(this.#integer(7))
    if (first >= 0x40) {
      const field = this.#literal(6)
      if (field !== null) this.#table.add(field)
      return field
    }
    // A literal without indexing, or one that must never be indexed: it is not stored, and not forwarded in this form.
    return first < 0x20 ? this.#literal(4) : null
  }

  #literal(prefix: number): Field | null {
    const index = this.#integer(prefix)
    if (index < 0) return null
    const name = index === 0 ? this.#string() : (this.#entry(index)?.name ?? null)
    if (name === null) return null
    const value = this.#string()
    return value === null ? null : new Field(name, value)
  }

  #entry(index: number): Field | null {
    if (index <= 0) return null
    const found =
      index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#table.at(index - STATIC_TABLE.length - 1)
    return found ?? null
  }

  #string(): string | null {
    const isCoded = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0
    const length = this.#integer(7)
    const start = this.#at
    const end = start + length
    if (length < 0 || end > this.#end) return null
    this.#at = end
    return isCoded ? readHuffman(this.#bytes, start, end) : latin1(this.#bytes, start, end)
  }

  /** Reads an integer that begins in the low bits of a byte; -1 when it is truncated or too large. */
  #integer(prefix: number): number {
    if (this.#at >= this.#end) return -1
    const mask = (1 << prefix) - 1
    let value = (this.#bytes[this.#at++] ?? 0) & mask
    if (value < mask) return value
    for (let shift = 0; shift <= MAX_SHIFT; shift += 7) {
      if (this.#at >= this.#end) return -1
      const byte = this.#bytes[this.#at++] ?? 0
      value += (byte & 127) << shift
      if (byte < 128) return value
    }
    return -1
  }
}

const NO_BYTES = Buffer.alloc(0)
const MAX_RESIZES = 2
/** Four more bytes: far above the length of the longest block. */
const MAX_SHIFT = 21
