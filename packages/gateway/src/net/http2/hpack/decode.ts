import { latin1 } from '../../http1/chars.ts'
import { readHuffman } from './huffman.ts'
import { DynamicTable, Field, sizeOf, STATIC_TABLE, TABLE_SIZE } from './tables.ts'

/** Takes the fields of one block, in order. */
export interface FieldSink {
  field(field: Field): void
}

export interface BlockLimits {
  /** Names and values, with the overhead of each field. */
  maxSize: number
  maxFields: number
}

/** Reads blocks of header fields (RFC 7541); what one block puts into the table, the next may name. */
export class HpackDecoder {
  /** Of the last block: bytes and fields in it. Beyond a limit the fields are counted and no longer handed over. */
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

  /** False when the block cannot be read: nothing that follows on the connection can be either. */
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

  /** They stand before all fields: the lowest and the last size since the block before are all that is ever needed. */
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
    // Not indexed, or never to be: it is not kept, and not sent on in this form.
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

  /** A number that begins in the low bits of a byte; -1 when it is cut off or larger than anything that could be meant. */
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
/** Four further bytes: far beyond the longest block. */
const MAX_SHIFT = 21
