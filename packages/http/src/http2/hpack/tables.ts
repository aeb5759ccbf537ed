/**
 * One header field. The result of its validation is cached in it: clients send the same fields again and again by their
 * table index, and a cached field is not validated twice.
 */
export class Field {
  readonly name: string
  /** One character code per byte. */
  readonly value: string
  /** The kind that the reader of the block assigned; 0 before. */
  kind = 0

  constructor(name: string, value: string) {
    this.name = name
    this.value = value
  }
}

/** Overhead of a field in a table (RFC 7541 section 4.1) and in a header list (RFC 9113 section 6.5.2), in bytes. */
const FIELD_OVERHEAD = 32
/** Default size of the dynamic table, in bytes; the gateway does not change it. */
export const TABLE_SIZE = 4096

/** RFC 7541 Appendix A; the first entry has index 1. */
export const STATIC_TABLE: readonly Field[] = [
  [':authority'],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset'],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language'],
  ['accept-ranges'],
  ['accept'],
  ['access-control-allow-origin'],
  ['age'],
  ['allow'],
  ['authorization'],
  ['cache-control'],
  ['content-disposition'],
  ['content-encoding'],
  ['content-language'],
  ['content-length'],
  ['content-location'],
  ['content-range'],
  ['content-type'],
  ['cookie'],
  ['date'],
  ['etag'],
  ['expect'],
  ['expires'],
  ['from'],
  ['host'],
  ['if-match'],
  ['if-modified-since'],
  ['if-none-match'],
  ['if-range'],
  ['if-unmodified-since'],
  ['last-modified'],
  ['link'],
  ['location'],
  ['max-forwards'],
  ['proxy-authenticate'],
  ['proxy-authorization'],
  ['range'],
  ['referer'],
  ['refresh'],
  ['retry-after'],
  ['server'],
  ['set-cookie'],
  ['strict-transport-security'],
  ['transfer-encoding'],
  ['user-agent'],
  ['vary'],
  ['via'],
  ['www-authenticate'],
].map(([name = '', value = '']) => new Field(name, value))

/** The dynamic table of one direction of a connection, newest field first; the oldest fields are evicted. */
export class DynamicTable {
  readonly #ring: (Field | null)[] = Array.from({ length: RING }, () => null)
  /** Fields added so far, and the number that is still in the table. */
  #added = 0
  #count = 0
  #size = 0
  #maxSize = TABLE_SIZE

  /** Returns the nth newest field, from 0; undefined beyond the last. */
  at(index: number): Field | undefined {
    return index < this.#count ? (this.#ring[(this.#added - 1 - index) & (RING - 1)] ?? undefined) : undefined
  }

  add(field: Field): void {
    const size = sizeOf(field)
    this.#evictDownTo(this.#maxSize - size)
    // A field larger than the table leaves the table empty.
    if (size > this.#maxSize) return
    this.#ring[this.#added++ & (RING - 1)] = field
    this.#count++
    this.#size += size
  }

  /** `maxSize` is at most TABLE_SIZE. */
  resize(maxSize: number): void {
    this.#maxSize = maxSize
    this.#evictDownTo(maxSize)
  }

  get size(): number {
    return this.#size
  }

  #evictDownTo(size: number): void {
    while (this.#count > 0 && this.#size > size) {
      const at = (this.#added - this.#count) & (RING - 1)
      const oldest = this.#ring[at]
      this.#ring[at] = null
      this.#count--
      if (oldest) this.#size -= sizeOf(oldest)
    }
  }
}

export function sizeOf({ name, value }: Field): number {
  return name.length + value.length + FIELD_OVERHEAD
}

/** The most fields that the table can hold: a field takes at least its overhead. */
const RING = TABLE_SIZE / FIELD_OVERHEAD
