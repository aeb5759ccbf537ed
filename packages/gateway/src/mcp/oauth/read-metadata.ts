import { isObject } from '@portico/http/json'
import { parseSafely } from '@portico/cel'
import type { JsonObject } from '../../pipeline/context/request-context.ts'

/**
 * Authorization server metadata as somebody else wrote it. Clients open its URLs in browsers and send secrets there, so
 * one bad URL spoils the whole document.
 */
export function readMetadata(text: string, issuer: string): { document: JsonObject } | { fault: string } {
  const document = parse(text)
  if (document === null) return { fault: 'the answer is no JSON object' }
  // RFC 8414 section 3.3.
  if (!isSame(document['issuer'], issuer)) return { fault: 'the answer names another issuer' }
  const bad = badUrl(document, new URL(issuer).origin, 0)
  return bad === null ? { document } : { fault: `\`${bad}\` of the answer is no URL that clients may use` }
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = parseSafely(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** The name of the first member that should be a URL and is none. */
function badUrl(object: JsonObject, ownOrigin: string, depth: number): string | null {
  for (const [name, value] of Object.entries(object)) {
    if (isObject(value)) {
      const inner = depth < MAX_DEPTH ? badUrl(value, ownOrigin, depth + 1) : name
      if (inner !== null) return inner
    } else if (URL_NAME.test(name) && !isUsable(value, ownOrigin)) return name
  }
  return null
}

/** `https`, or what an operator chose by the issuer, or this machine. */
function isUsable(value: unknown, ownOrigin: string): boolean {
  if (typeof value !== 'string' || !/^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i.test(value)) return false
  if (!URL.canParse(value)) return false
  const { protocol, hostname, origin, username, password } = new URL(value)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || origin === ownOrigin || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function isSame(found: unknown, issuer: string): boolean {
  return typeof found === 'string' && withoutSlash(found) === withoutSlash(issuer)
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}

const URL_NAME = /(^|_)(endpoint|uri|url|issuer|iframe|documentation)$/i
const MAX_DEPTH = 4
