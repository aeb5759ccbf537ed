import { parseBackendUrl } from '../formats/address.ts'
import { isIpv4 } from '@portico/http/text'

/** A base URL that replaces the vendor's own, from the environment variable that its SDK reads. */
export interface BaseUrl {
  /** For people. */
  authority: string
  overrides: { host: string; port: number; pathPrefix?: string }
  tls: boolean
}

interface OwnUrl {
  provider: string
  home: string
  prefix: string
  path: string
}

/** Null when the vendor is where it always is. */
export function readBaseUrl(text: string | undefined, own: OwnUrl, ownPort: string): BaseUrl | null | RejectedUrl {
  if (text === undefined || text === '') return null
  const url = parseBackendUrl(text)
  if (url === null) return { refused: 'expected a URL such as `https://llm.example.com/v1`' }
  const { host, port, secure, authority } = url
  // Whoever has told clients about this gateway, in the shell that starts it, means the vendor here.
  if (isLoopback(host) && String(port) === ownPort) return null
  const path = url.path.replace(/\/+$/, '')
  if (!PLAIN_PATH.test(path)) return { refused: 'expected a URL with a plain path, and without a query' }
  if (secure && host === own.home && port === 443 && path === own.path) return null
  // A port other than 443 is spoken to plainly unless told otherwise, and 443 never is.
  if (!secure && port === 443) return { refused: 'expected `https` on port 443' }
  if (own.provider === 'gemini') {
    if (path !== '') return { refused: 'expected a URL without a path' }
    return { authority, overrides: { host, port }, tls: secure }
  }
  return { authority, overrides: { host, port, pathPrefix: path + own.prefix || '/' }, tls: secure }
}

interface RejectedUrl {
  refused: string
}

export function isRefused(url: BaseUrl | null | RejectedUrl): url is RejectedUrl {
  return url !== null && 'refused' in url
}

const PLAIN_PATH = /^(?:\/[\w~-][\w.~-]{0,63}){0,8}$/

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIpv4(host) && host.startsWith('127.'))
}
