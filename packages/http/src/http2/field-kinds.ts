import { isForwardingHeader } from '../fields/field-rules.ts'
import { HOPS_HEADER } from '../fields/hops.ts'
import { COLON, SP, TAB, TOKEN, VALUE } from '../http1/chars.ts'
import { KEY_HEADER } from '../websocket/websocket-handshake.ts'
import type { Field } from './hpack/tables.ts'

/**
 * Returns the kind of a field, or what is wrong with it (RFC 9113 sections 8.2 and 8.3), and caches the kind in the
 * field.
 */
export function kindOf(field: Field): number {
  return field.kind === 0 ? (field.kind = findKind(field.name, field.value)) : field.kind
}

function findKind(name: string, value: string): number {
  const kind = fieldKinds.get(name)
  if (kind === undefined) {
    if (name.charCodeAt(0) === COLON || /[A-Z]/.test(name)) return FORBIDDEN
    if (!isToken(name)) return BAD_NAME
  }
  if (!isValue(value)) return BAD_VALUE
  if (kind === TE && value.toLowerCase() !== 'trailers') return FORBIDDEN
  return kind ?? (isForwardingHeader(name) ? CLAIM : ORDINARY)
}

/** Returns the error code for a field that is not allowed in its message. */
export function problemOf(field: Field): string {
  const kind = kindOf(field)
  if (kind === BAD_VALUE) return 'bad_header_value'
  if (field.name.charCodeAt(0) === COLON) return 'bad_pseudo_header'
  return kind === BAD_NAME || /[A-Z]/.test(field.name) ? 'bad_header_name' : 'connection_header'
}

export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (TOKEN[text.charCodeAt(i)] !== 1) return false
  return text !== ''
}

/** Returns whether the text has no control bytes, and no white space at either end. */
function isValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (VALUE[text.charCodeAt(i)] !== 1) return false
  return !isBlank(text.charCodeAt(0)) && !isBlank(text.charCodeAt(text.length - 1))
}

function isBlank(code: number): boolean {
  return code === SP || code === TAB
}

// Pseudo-headers come before ORDINARY, invalid kinds from FORBIDDEN on.
export const METHOD = 1
export const PATH = 2
export const AUTHORITY = 3
export const SCHEME = 4
export const PROTOCOL = 5
export const STATUS = 6
export const ORDINARY = 7
export const HOST = 8
export const COOKIE = 9
export const TE = 10
export const EXPECT = 11
export const CONTENT_LENGTH = 12
export const DROPPED = 13
/** The field names the client's address or scheme. */
export const CLAIM = 14
export const HOPS = 15
export const FORBIDDEN = 16
export const BAD_NAME = 17
export const BAD_VALUE = 18

const fieldKinds = new Map<string, number>([
  [':method', METHOD],
  [':path', PATH],
  [':authority', AUTHORITY],
  [':scheme', SCHEME],
  [':protocol', PROTOCOL],
  [':status', STATUS],
  ['host', HOST],
  ['cookie', COOKIE],
  ['te', TE],
  ['expect', EXPECT],
  ['content-length', CONTENT_LENGTH],
  ['http2-settings', DROPPED],
  ['proxy-authenticate', DROPPED],
  ['trailer', DROPPED],
  // Has no meaning over HTTP/2 (RFC 8441 section 5).
  [KEY_HEADER, DROPPED],
  [HOPS_HEADER, HOPS],
  ['connection', FORBIDDEN],
  ['keep-alive', FORBIDDEN],
  ['proxy-connection', FORBIDDEN],
  ['transfer-encoding', FORBIDDEN],
  ['upgrade', FORBIDDEN],
])
