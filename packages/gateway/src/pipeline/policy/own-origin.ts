import type { RequestContext } from '../context/request-context.ts'

/** Whether the origin of a page is the gateway itself, which clients reach as `authority`. */
export function isOwnOrigin(
  rx: Pick<RequestContext, 'headers' | 'connection'>,
  authority: string,
  origin: string,
): boolean {
  const canonical = canonicalOrigin(origin)
  const scheme = clientScheme(rx) ?? /^https?(?=:)/.exec(canonical)?.[0]
  return scheme !== undefined && canonical === canonicalOrigin(`${scheme}://${authority}`)
}

/** Returns the origin in lower case, without the default port of its scheme. */
export function canonicalOrigin(origin: string): string {
  const text = origin.toLowerCase()
  if (text.startsWith('https:')) return text.replace(/:443$/, '')
  return text.startsWith('http:') ? text.replace(/:80$/, '') : text
}

/**
 * Returns the scheme that the client used; null when it is unknown, because a proxy in front of a plain connection may have
 * terminated TLS. `x-forwarded-proto` is from a trusted proxy here: the gateway has replaced all other values.
 */
function clientScheme({ headers, connection }: Pick<RequestContext, 'headers' | 'connection'>): string | null {
  const said = headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase()
  if (said !== connection.scheme && (said === 'http' || said === 'https')) return said
  return connection.scheme === 'https' ? 'https' : null
}
