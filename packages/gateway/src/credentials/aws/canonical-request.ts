import { hash } from 'node:crypto'
import type { SignableRequest } from '../../pipeline/cloud-credentials.ts'

interface CanonicalRequest {
  text: string
  /** Header names, sorted and separated by `;`. */
  signedHeaders: string
}

/** Headers that the signer adds. */
export const OWN_HEADERS = ['authorization', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'] as const

/** Returns whether a header is part of the signature. Unsigned headers may be changed on the way. */
export function isSigned(lowerName: string): boolean {
  if (lowerName === 'content-type') return true
  // AWS load balancers rewrite `x-amzn-trace-id`.
  return (lowerName.startsWith('x-amz-') || lowerName.startsWith('x-amzn-')) && lowerName !== 'x-amzn-trace-id'
}

/** `own` are the headers that the signer adds; they replace headers of the same names in the request. */
export function canonicalRequest(
  request: SignableRequest,
  own: readonly (readonly [name: string, value: string])[],
  { bodyHash, service }: { bodyHash: string; service: string },
): CanonicalRequest {
  const { method, target, authority, headers } = request
  const question = target.indexOf('?')
  const path = question === -1 ? target : target.slice(0, question)
  const query = question === -1 ? '' : target.slice(question + 1)
  const values = new Map<string, string>([['host', authority], ...own])
  const received = new Set<string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    if (!isSigned(key) || (values.has(key) && !received.has(key))) continue
    received.add(key)
    const before = values.get(key)
    values.set(key, before === undefined ? value : `${before},${value}`)
  }
  const sorted = [...values].sort(([first], [second]) => (first < second ? -1 : 1))
  const lines = sorted.map(([name, value]) => {
    const plain = value.replaceAll(/[ \t]+/g, ' ').replaceAll(/^ | $/g, '')
    return `${name}:${plain}\n`
  })
  const signedHeaders = sorted.map(([name]) => name).join(';')
  // S3 paths are object names and are not escaped again.
  const resource = service === 's3' ? path : canonicalPath(path)
  const text = `${method}\n${resource}\n${canonicalQuery(query)}\n${lines.join('')}\n${signedHeaders}\n${bodyHash}`
  return { text, signedHeaders }
}

/** Strings are hashed as bytes on the wire (Latin-1): header values may contain bytes beyond ASCII. */
export function sha256(bytes: string | Buffer): string {
  return hash('sha256', typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, 'hex')
}

/** The path as sent, escaped once more: `%3A` becomes `%253A`. Empty segments are dropped. */
function canonicalPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const end = segments.length > 0 && path.endsWith('/') ? '/' : ''
  return `/${segments.map((segment) => segment.replaceAll(/[^A-Za-z0-9\-._~]/g, escape)).join('/')}${end}`
}

function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs = query.split('&').flatMap((part): [string, string][] => {
    if (part === '') return []
    const equals = part.indexOf('=')
    return equals === -1
      ? [[canonicalText(part), '']]
      : [[canonicalText(part.slice(0, equals)), canonicalText(part.slice(equals + 1))]]
  })
  pairs.sort(([a, x], [b, y]) => order(a, b) || order(x, y))
  return pairs.map(([name, value]) => `${name}=${value}`).join('&')
}

/**
 * Escapes exactly the characters that need it, however they were sent. A percent sign that starts no escape is escaped
 * too.
 */
function canonicalText(text: string): string {
  return text.replaceAll(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~]/g, (found) => {
    if (found.length === 1) return escape(found)
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(character) ? character : found.toUpperCase()
  })
}

/** A target has one character per byte. */
function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
