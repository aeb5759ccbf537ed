/** A reply of Redis, as far as the gateway's commands have such replies. */
export type RedisReply = number | string | null | RedisFailure | readonly RedisReply[]

/** An error reply. The text may repeat arguments of the command, so only `code` is logged. */
export class RedisFailure {
  readonly code: string

  constructor(text: string) {
    this.code = /^[A-Z]{1,32}(?= |$)/.exec(text)?.[0] ?? 'ERR'
  }
}

/** Splits the bytes of a connection into replies. */
export class RespReader {
  #bytes: Buffer = NO_BYTES

  /** Returns the replies that are complete; throws when the bytes are no replies. */
  push(chunk: Buffer): RedisReply[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const replies: RedisReply[] = []
    let at = 0
    for (let found = read(this.#bytes, at, 0); found !== null; found = read(this.#bytes, at, 0)) {
      replies.push(found.reply)
      at = found.end
    }
    this.#bytes = this.#bytes.subarray(at)
    if (this.#bytes.length > MOST_BYTES) throw new Error('a reply is too large')
    return replies
  }
}

interface FoundReply {
  readonly reply: RedisReply
  readonly end: number
}

/** Reads the reply at `at`; null when the reply is not complete. */
function read(bytes: Buffer, at: number, depth: number): FoundReply | null {
  const lineEnd = bytes.indexOf('\r\n', at, 'latin1')
  if (lineEnd === -1) {
    if (bytes.length - at > MOST_LINE) throw new Error('a line is too long')
    return null
  }
  const line = bytes.toString('utf8', at + 1, lineEnd)
  const end = lineEnd + 2
  switch (bytes.toString('latin1', at, at + 1)) {
    case '+':
      return { reply: line, end }
    case '-':
      return { reply: new RedisFailure(line), end }
    case ':':
      return { reply: integerOf(line), end }
    case '$':
      return readText(bytes, integerOf(line), end)
    case '*':
      return readList(bytes, integerOf(line), { at: end, depth })
    default:
      throw new Error('the answer is not from Redis')
  }
}

function readText(bytes: Buffer, length: number, at: number): FoundReply | null {
  if (length === -1) return { reply: null, end: at }
  if (length < 0 || length > MOST_BYTES) throw new Error('a text has an invalid length')
  const end = at + length + 2
  if (bytes.length < end) return null
  if (bytes[end - 2] !== CR || bytes[end - 1] !== LF) throw new Error('a text is longer than announced')
  return { reply: bytes.toString('utf8', at, end - 2), end }
}

function readList(bytes: Buffer, length: number, { at, depth }: { at: number; depth: number }): FoundReply | null {
  if (length === -1) return { reply: null, end: at }
  if (length < 0 || length > MOST_ITEMS || depth === MOST_DEPTH) throw new Error('a list has an invalid length')
  const list: RedisReply[] = []
  let end = at
  while (list.length < length) {
    const item = read(bytes, end, depth + 1)
    if (item === null) return null
    list.push(item.reply)
    end = item.end
  }
  return { reply: list, end }
}

function integerOf(line: string): number {
  if (!/^-?\d{1,19}$/.test(line)) throw new Error('a number is invalid')
  return Number(line)
}

const NO_BYTES = Buffer.alloc(0)
const [CR, LF] = [...Buffer.from('\r\n')]
const MOST_BYTES = 1024 * 1024
const MOST_LINE = 64 * 1024
const MOST_ITEMS = 1_024
const MOST_DEPTH = 4
