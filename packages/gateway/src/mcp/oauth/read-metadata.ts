import { isObject } from '@portico/http/json'
import { parseSafely } from '@portico/cel'
import type { JsonObject } from '../../pipeline/context/request-context.ts'

/**
 * Parses and checks authorization server metadata. Clients open its URLs in browsers and send secrets there, so a single
 * invalid URL makes the whole document invalid.
 */
export function readMetadata(text: string, issuer: string): { document: JsonObject } | { fault: string } {
  const document = parse(text)
  if (document === null) return { fault: 'the response is not a JSON object' }
  // RFC 8414 section 3.3.
  if (!isSame(document['issuer'], issuer)) return { fault: 'the response names another issuer' }
  const bad = badUrl(document, new URL(issuer).origin, 0)
  return bad === null ? { document } : { fault: `\`${bad}\` in the response is not a URL that clients may use` }
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = parseSafely(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Returns the name of the first member that has to be a URL and is not valid; null when all are valid. */
function badUrl(object: JsonObject, ownOrigin: string, depth: number): string | null {
  for (const [name, value] of Object.entries(object)) {
    if (isObject(value)) {
      const inner = depth < MAX_DEPTH ? badUrl(value, ownOrigin, depth + 1) : name
      if (inner !== null) return inner
    } else if (URL_NAME.test(name) && !isUsable(value, ownOrigin)) return name
  }
  return null
}

/** Whether clients may use the URL: `https`, the origin of the configured issuer, or a loopback address. */
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
