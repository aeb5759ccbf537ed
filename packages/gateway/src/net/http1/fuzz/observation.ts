export type Field = [name: string, value: string]

/** One message as a parser understood it. Text is latin1; names are in lower case. */
export interface Message {
  /** Method, authority and target; or the status. */
  start: string[]
  headers: Field[]
  body: string
  trailers: Field[]
  /** The end of the message was found. */
  complete: boolean
  /** What follows it in the same read was not looked at. */
  last: boolean
  /** It had a field that the runtime alone takes for Connection: Proxy-Connection, or Connection among the trailers. */
  foreignClose: boolean
}

/** What a parser made of a stream of bytes. */
export interface Observation {
  messages: Message[]
  /** The parser's code for what it refused, or null. */
  refused: string | null
  /** It reads nothing more, without having found fault. */
  closed: boolean
}

/** Fields that our parser reads and does not keep. */
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

/** The fields that may be forwarded, of a list of all that were received. */
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

/** A length that our parser wrote anew stands behind the fields that were received. */
export function lengthLast(fields: Field[]): Field[] {
  const isLength = ([name]: Field): boolean => name === 'content-length'
  return [...fields.filter((field) => !isLength(field)), ...fields.filter(isLength)]
}

const NOT_IN_TRAILERS =
  /^(content-(encoding|type|range)|(proxy-)?authorization|(set-)?cookie|cache-control|max-forwards|forwarded|x[-_.](forwarded.*|real[-_.]ip))$/

export function forwardedTrailers(all: Field[]): Field[] {
  return endToEnd(all).filter(([name]) => !NOT_IN_TRAILERS.test(name))
}

/** `[name, value, name, value]` as pairs. */
export function pairs(raw: string[]): Field[] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i]!.toLowerCase(), raw[2 * i + 1]!])
}
