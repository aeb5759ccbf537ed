import { isConnectionField, mayBeTrailer } from '../field-rules.ts'
import { isGrpcContentType } from '../grpc.ts'
import type { HeaderBlock } from '../header-block.ts'

/** Appends the fields as HTTP/2 may carry them: names in lower case, nothing that belongs to one connection. */
export function appendFields(raw: string[], headers: HeaderBlock): void {
  headers.forEach((name, value) => {
    const sent = sentName(name)
    if (sent !== '') raw.push(sent, value)
  })
}

/** The name as HTTP/2 sends it; empty for a field that it does not carry. The same string for the same name: it is hashed once. */
function sentName(name: string): string {
  const known = sentNames.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const sent = isConnectionField(lower) ? '' : lower
  if (sentNames.size >= MAX_NAMES || name.length > MAX_NAME) return sent
  // A part of the received head would keep all of it.
  const [key, value] = [ownCopy(name), ownCopy(sent)]
  sentNames.set(key, value)
  return value
}

function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

const sentNames = new Map<string, string>()
/** Backends have few; whoever invents names gets no more memory than that. */
const MAX_NAMES = 512
const MAX_NAME = 64

/** Fields in the form the runtime takes trailers and interim answers in; lines of one name become an array. */
export function fieldsToObject(
  headers: HeaderBlock | null,
  keep: (name: string) => boolean,
): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  headers?.forEach((name, value) => {
    const lower = name.toLowerCase()
    if (!keep(lower)) return
    const earlier = fields[lower]
    if (earlier === undefined) fields[lower] = value
    else if (Array.isArray(earlier)) earlier.push(value)
    else fields[lower] = [earlier, value]
  })
  return fields
}

/** Puts received name-value pairs into the block, without pseudo-headers and fields of the connection. */
export function takeFields(block: HeaderBlock, raw: readonly string[], keep: (name: string) => boolean): void {
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (name.charCodeAt(0) !== COLON && keep(name)) block.add(name, raw[i + 1] ?? '')
  }
}

/** What of a trailer section is passed on. */
export function isTrailer(name: string): boolean {
  return mayBeTrailer(name) && !isConnectionField(name)
}

/** False for fields of one hop (RFC 9113 section 8.2.2); `host` is `:authority` here, and the sender sets `te`. */
export function isEndToEnd(name: string): boolean {
  return !isConnectionField(name)
}

export function isGrpc(headers: HeaderBlock): boolean {
  const type = headers.get('content-type')
  return type !== null && isGrpcContentType(type)
}

const COLON = 58

/** Frames of a large body come several at a time: all that one read has brought leaves in one write. */
export const LARGE_CHUNK = 8192
