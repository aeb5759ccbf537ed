/**
 * One header field. What its reader found out about it is kept beside it: clients send the same fields again and again
 * by their number in a table, and then nothing has to be looked at twice.
 */
export class Field {
  readonly name: string
  /** One code per byte. */
  readonly value: string
  /** What the reader of the block takes it for; 0 before anybody looked. */
  kind = 0

  constructor(name: string, value: string) {
    this.name = name
    this.value = value
  }
}

/** What a field takes of a table beyond its bytes (RFC 7541 section 4.1), and of a list (RFC 9113 section 6.5.2). */
export const FIELD_OVERHEAD = 32
/** Of the dynamic table, unless somebody says otherwise; the gateway does not. */
export const TABLE_SIZE = 4096

/** RFC 7541 Appendix A; the first has number 1. */
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

/** The fields that one side of a connection has sent by and by, the newest first; the oldest make room. */
export class DynamicTable {
  readonly #ring: (Field | null)[] = Array.from({ length: RING }, () => null)
  /** Fields put in so far, and how many of them are left. */
  #added = 0
  #count = 0
  #size = 0
  #maxSize = TABLE_SIZE

  /** The nth newest, from 0; undefined beyond the last. */
  at(index: number): Field | undefined {
    return index < this.#count ? (this.#ring[(this.#added - 1 - index) & (RING - 1)] ?? undefined) : undefined
  }

  add(field: Field): void {
    const size = sizeOf(field)
    this.#evictDownTo(this.#maxSize - size)
    // One that is larger than the table leaves it empty.
    if (size > this.#maxSize) return
    this.#ring[this.#added++ & (RING - 1)] = field
    this.#count++
    this.#size += size
  }

  /** At most TABLE_SIZE. */
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

/** As many as the table can hold: a field takes no less than its overhead. */
const RING = TABLE_SIZE / FIELD_OVERHEAD
