import type { Message, Observation } from './observation.ts'
import { METHODS } from 'node:http'

/**
 * Returns why two readings of the same bytes disagree, or null. Our parser may reject anything, but what it accepts the
 * other parser must accept too, with the same start line, fields, body, trailers and end.
 */
export function disagreement(ours: Observation, theirs: Observation): string | null {
  for (let i = 0; ; i++) {
    const our = ours.messages[i]
    const their = theirs.messages[i]
    if (our === undefined) return their === undefined || stopped(ours) ? null : 'ours still waits for a head'
    if (their === undefined) return allowedHead(our, theirs.messages[i - 1], theirs)
    const difference = differentHead(our, their) ?? differentEnd(our, their, ours, theirs)
    if (difference !== null) return difference
    if (!our.complete || !their.complete || their.last) return null
  }
}

interface Allowance {
  /** The error code of the other parser for a head that only ours accepts. */
  code: string
  reason: string
  applies: (our: Message, before: Message | undefined) => boolean
}

/** The only heads that our parser may accept and the runtime's parser rejects. */
const ALLOWED: readonly Allowance[] = [
  {
    code: 'HPE_INVALID_METHOD',
    reason:
      'RFC 9110 section 9.1 lets anybody define methods; the runtime knows a fixed list. A method frames nothing.',
    applies: (our) => !METHODS.includes(our.start[0]!),
  },
  {
    code: 'HPE_CLOSED_CONNECTION',
    reason:
      'Proxy-Connection is no standard field (RFC 9112 appendix C.2.2), and Connection is none of a trailer section: we drop them, the runtime obeys them.',
    applies: (_our, before) => before !== undefined && before.foreignClose,
  },
]

function allowedHead(our: Message, before: Message | undefined, theirs: Observation): string | null {
  const allowed = ALLOWED.some(({ code, applies }) => code === theirs.refused && applies(our, before))
  return allowed ? null : `ours accepted a head, theirs ${theirs.refused ?? 'not'}`
}

function differentHead(our: Message, their: Message): string | null {
  if (!same(our.start, their.start)) return `start differs: ${show(our.start)} / ${show(their.start)}`
  return same(our.headers, their.headers) ? null : `headers differ: ${show(our.headers)} / ${show(their.headers)}`
}

function differentEnd(our: Message, their: Message, ours: Observation, theirs: Observation): string | null {
  if (our.complete) {
    if (!their.complete) return `ours found the end of a message, theirs ${theirs.refused ?? 'not'}`
    if (our.body !== their.body) return `bodies differ: ${show(our.body)} / ${show(their.body)}`
    return same(our.trailers, their.trailers)
      ? null
      : `trailers differ: ${show(our.trailers)} / ${show(their.trailers)}`
  }
  if (stopped(ours)) return null
  if (their.complete) return 'theirs found the end of a message, ours waits for more'
  // Our parser checks a trailer section when it is complete, the runtime's parser checks it byte by byte.
  if (theirs.refused !== null) return IN_TRAILERS.has(theirs.refused) ? null : `ours reads on, theirs ${theirs.refused}`
  return our.body === their.body ? null : `bodies so far differ: ${show(our.body)} / ${show(their.body)}`
}

const IN_TRAILERS = new Set([
  'HPE_INVALID_HEADER_TOKEN',
  'HPE_INVALID_CONTENT_LENGTH',
  'HPE_UNEXPECTED_CONTENT_LENGTH',
  'HPE_INVALID_TRANSFER_ENCODING',
])

function stopped({ refused, closed }: Observation): boolean {
  return refused !== null || closed
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function show(value: unknown): string {
  return JSON.stringify(value).slice(0, 300)
}
