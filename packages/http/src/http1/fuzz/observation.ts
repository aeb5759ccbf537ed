export type Field = [name: string, value: string]

/** One message as a parser understood it. Text is latin1; names are in lower case. */
export interface Message {
  /** Method, authority and target; or the status. */
  start: string[]
  headers: Field[]
  body: string
  trailers: Field[]
  /** Whether the end of the message was found. */
  complete: boolean
  /** Whether the parser ignored the bytes that follow this message in the same read. */
  last: boolean
  /**
   * Whether the message had a field that only the runtime treats as Connection: Proxy-Connection, or Connection among
   * the trailers.
   */
  foreignClose: boolean
}

/** A parser's reading of a stream of bytes. */
export interface Observation {
  messages: Message[]
  /** The parser's error code, or null. */
  refused: string | null
  /** Whether the parser stopped reading without an error. */
  closed: boolean
}

/** Fields that our parser reads and drops. */
const CONSUMED = new Set([
  'host',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'trailer',
  'http2-settings',
])

const KEPT_THOUGH_NOMINATED = new Set(['content-length', 'authorization', 'cookie'])

/** Returns the fields that may be forwarded, from a list of all received fields. */
export function endToEnd(all: Field[]): Field[] {
  const nominated = all
    .filter(([name]) => name === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((token) => token.trim())
    .filter((token) => !KEPT_THOUGH_NOMINATED.has(token))
  return lengthLast(
    all
      .filter(([name]) => !CONSUMED.has(name) && !nominated.includes(name))
      .map(([name, value]) => [name, name === 'content-length' ? String(Number(value)) : value]),
  )
}

/** Moves `content-length` to the end, because our parser writes a normalized length after the received fields. */
export function lengthLast(fields: Field[]): Field[] {
  const isLength = ([name]: Field): boolean => name === 'content-length'
  return [...fields.filter((field) => !isLength(field)), ...fields.filter(isLength)]
}

const NOT_IN_TRAILERS =
  /^(content-(encoding|type|range)|(proxy-)?authorization|(set-)?cookie|cache-control|max-forwards|forwarded|x[-_.](forwarded.*|real[-_.]ip))$/

export function forwardedTrailers(all: Field[]): Field[] {
  return endToEnd(all).filter(([name]) => !NOT_IN_TRAILERS.test(name))
}

/** Converts `[name, value, name, value]` to pairs. */
export function pairs(raw: string[]): Field[] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i]!.toLowerCase(), raw[2 * i + 1]!])
}
