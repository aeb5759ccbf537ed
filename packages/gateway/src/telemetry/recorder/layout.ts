import { RECORD_OUTCOMES, type RecordOutcome } from './record.ts'

/**
 * The layout of a record in memory and on disk, little-endian:
 *
 *     0 u32 length (of the ring)    4 u32 serial        8 f64 at            16 f64 bytes in
 *    24 f64 bytes out              32 u32 took         36 u32 answered      40 u32 generation
 *    44 u16 status  46 u8 outcome  47 u8 flags         48 u8 attempts       49 u8 version   50 u8 protocol
 *    52 u32 bytes of texts         56 u32 bytes of details                  60 texts, details
 *
 * Texts are separated by SEPARATOR, in the order of TEXTS; details are JSON.
 */
export const AT = {
  serial: 4,
  at: 8,
  bytesIn: 16,
  bytesOut: 24,
  took: 32,
  answered: 36,
  generation: 40,
  status: 44,
  outcome: 46,
  flags: 47,
  attempts: 48,
  version: 49,
  protocol: 50,
  textBytes: 52,
  detailBytes: 56,
  texts: 60,
} as const

export const FLAGS = { slow: 1, sampled: 2, https: 4 } as const

export const SEPARATOR = '\x1f'

/** The first seven texts are the names of the preamble: bind, listener, route and backend. */
export const TEXTS = [
  'bind',
  'listener',
  'listenerKey',
  'route',
  'routeKey',
  'backend',
  'backendKey',
  'method',
  'host',
  'path',
  'source',
  'endpoint',
  'requestId',
  'key',
  'sni',
  'identity',
] as const

export type TextName = (typeof TEXTS)[number]

export const VERSIONS = ['', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/2']
export const PROTOCOLS = ['http', 'llm', 'mcp', 'tcp', 'tls', 'https', 'udp']

/** The largest recorded time in microseconds, more than an hour; longer times are cut. */
export const MAX_MICROSECONDS = 0xffff_fffe
/** Marks a request without a response of a backend. */
export const UNANSWERED = 0xffff_ffff

/** The byte of each outcome. */
export const OUTCOME_CODES = Object.fromEntries(RECORD_OUTCOMES.map((outcome, code) => [outcome, code])) as Readonly<
  Record<RecordOutcome, number>
>
