type ClientHelloResult = { kind: 'more' } | ClientHello | RefusedBytes

interface RefusedBytes {
  kind: 'refused'
  reason: string
  /** Whether the client speaks TLS, though its hello is not valid. */
  isTls: boolean
}

export interface ClientHello {
  kind: 'hello'
  /** Lower case, without a trailing dot; null when the client named no server. */
  sni: string | null
  alpn: string[]
  /** Protocol versions on the wire (0x0303 is TLS 1.2, 0x0304 is TLS 1.3), in the client's order. */
  versions: number[]
  /** 32 random bytes as latin1; unique for each handshake. */
  random: string
}

/** Reads the ClientHello at the start of a connection. Pure; `buffer` is everything received so far. */
export function readClientHello(buffer: Buffer): ClientHelloResult {
  const message = joinHandshakeRecords(buffer)
  if (!Buffer.isBuffer(message)) {
    return message.kind === 'more' && buffer.length >= maxHelloBytes ? refused('the ClientHello is too long') : message
  }
  return parseHello(message) ?? refused('the ClientHello is malformed')
}

/**
 * ClientHellos with post-quantum key shares take about 1.7 KiB. This limits the memory that an unknown client can
 * occupy.
 */
const maxHelloBytes = 16 * 1024
const recordHeaderBytes = 5
const handshakeHeaderBytes = 4

/** Joins the fragments of the first handshake message: a hello may be split over several records. */
function joinHandshakeRecords(buffer: Buffer): Buffer | Exclude<ClientHelloResult, ClientHello> {
  const fragments: Buffer[] = []
  let joinedBytes = 0
  let wantedBytes: number | null = null
  let offset = 0
  while (wantedBytes === null || joinedBytes < wantedBytes) {
    if (offset >= buffer.length) return { kind: 'more' }
    if (buffer[offset] !== 0x16) return refused('not a TLS handshake', false)
    const major = buffer[offset + 1]
    if (major !== undefined && major !== 3) return refused('not a TLS handshake', false)
    if (buffer.length < offset + recordHeaderBytes) return { kind: 'more' }
    const recordLength = buffer.readUInt16BE(offset + 3)
    if (recordLength === 0 || recordLength > maxHelloBytes) return refused('a TLS record has an invalid length')
    offset += recordHeaderBytes
    const fragment = buffer.subarray(offset, offset + recordLength)
    fragments.push(fragment)
    joinedBytes += fragment.length
    offset += recordLength
    if (wantedBytes === null) {
      const header = Buffer.concat(fragments)
      if (header.length > 0 && header[0] !== 0x01) return refused('the first TLS message is not a ClientHello')
      if (header.length >= handshakeHeaderBytes) {
        wantedBytes = handshakeHeaderBytes + header.readUIntBE(1, 3)
        if (wantedBytes > maxHelloBytes) return refused('the ClientHello is too long')
      }
    }
  }
  return Buffer.concat(fragments).subarray(handshakeHeaderBytes, wantedBytes)
}

/** Parses a ClientHello (RFC 8446 section 4.1.2); returns null when a length or value is invalid. */
function parseHello(message: Buffer): ClientHello | null {
  const reader = new Reader(message)
  const legacyVersion = reader.uint(2)
  const random = reader.bytes(32)
  const sessionId = reader.vector(1)
  const cipherSuites = reader.vector(2)
  const compressions = reader.vector(1)
  if (reader.hasFailed || sessionId.length > 32 || compressions.length === 0) return null
  if (cipherSuites.length === 0 || cipherSuites.length % 2 !== 0) return null
  const hello: ClientHello = {
    kind: 'hello',
    sni: null,
    alpn: [],
    versions: [legacyVersion],
    random: random.toString('latin1'),
  }
  if (reader.atEnd) return hello
  const extensions = new Reader(reader.vector(2))
  if (reader.hasFailed || !reader.atEnd) return null
  const seen = new Set<number>()
  while (!extensions.atEnd) {
    const type = extensions.uint(2)
    const body = extensions.vector(2)
    // A repeated extension could be read differently here and by the TLS library.
    if (extensions.hasFailed || seen.has(type)) return null
    seen.add(type)
    if (!readExtension(hello, type, body)) return null
  }
  return hello
}

function readExtension(hello: ClientHello, type: number, body: Buffer): boolean {
  switch (type) {
    case 0: {
      const sni = readServerName(body)
      hello.sni = sni
      return sni !== null
    }
    case 16: {
      const names = readList(body, 2, (reader) => reader.vector(1).toString('latin1'))
      hello.alpn = names ?? []
      return names !== null && names.every((name) => name !== '')
    }
    case 43: {
      const versions = readList(body, 1, (reader) => reader.uint(2))
      // GREASE values (RFC 8701), which clients insert to keep servers tolerant, are not versions.
      hello.versions = versions?.filter((version) => (version & 0x0f0f) !== 0x0a0a) ?? []
      return versions !== null
    }
    default:
      return true
  }
}

/** Reads one name of type host_name (RFC 6066 section 3). */
function readServerName(body: Buffer): string | null {
  const names = readList(body, 2, (reader) => ({ type: reader.uint(1), name: reader.vector(2) }))
  const first = names?.[0]
  if (first === undefined || names?.length !== 1 || first.type !== 0 || first.name.length > 255) return null
  const name = first.name.toString('latin1').toLowerCase().replace(/\.$/, '')
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) || isIPv6Text(name) ? name : null
}

/** The RFC does not allow addresses, but some clients send them; they match only a listener without hostname. */
function isIPv6Text(name: string): boolean {
  return /^[0-9a-f:.]{2,45}$/.test(name) && name.includes(':')
}

/** Reads a vector that fills `body` exactly and has at least one item. */
function readList<T>(body: Buffer, lengthBytes: number, readItem: (reader: Reader) => T): T[] | null {
  const outer = new Reader(body)
  const items = new Reader(outer.vector(lengthBytes))
  const list: T[] = []
  while (!items.atEnd) list.push(readItem(items))
  return outer.hasFailed || !outer.atEnd || items.hasFailed || list.length === 0 ? null : list
}

/** Reading past the end returns zeros and empty vectors, ends the input, and sets `hasFailed`. */
class Reader {
  readonly #buffer: Buffer
  #offset = 0
  #hasFailed = false

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  get atEnd(): boolean {
    return this.#offset === this.#buffer.length
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  bytes(length: number): Buffer {
    const start = this.#offset
    if (start + length > this.#buffer.length) {
      this.#hasFailed = true
      this.#offset = this.#buffer.length
      return Buffer.alloc(0)
    }
    this.#offset += length
    return this.#buffer.subarray(start, this.#offset)
  }

  uint(length: number): number {
    const taken = this.bytes(length)
    return taken.length === 0 ? 0 : taken.readUIntBE(0, length)
  }

  vector(lengthBytes: number): Buffer {
    return this.bytes(this.uint(lengthBytes))
  }
}

function refused(reason: string, isTls = true): RefusedBytes {
  return { kind: 'refused', reason, isTls }
}
