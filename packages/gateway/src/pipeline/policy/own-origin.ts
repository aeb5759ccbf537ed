import type { RequestContext } from '../context/request-context.ts'

/** Whether a page of that origin is a page of this place, which clients call `authority`. */
export function isOwnOrigin(
  rx: Pick<RequestContext, 'headers' | 'connection'>,
  authority: string,
  origin: string,
): boolean {
  const canonical = canonicalOrigin(origin)
  const scheme = clientScheme(rx) ?? /^https?(?=:)/.exec(canonical)?.[0]
  return scheme !== undefined && canonical === canonicalOrigin(`${scheme}://${authority}`)
}

/** Lower case, without the default port of the scheme. */
export function canonicalOrigin(origin: string): string {
  const text = origin.toLowerCase()
  if (text.startsWith('https:')) return text.replace(/:443$/, '')
  return text.startsWith('http:') ? text.replace(/:80$/, '') : text
}

/**
 * What the client spoke, as far as it is known; null where it came over a plain connection, since a hop before the
 * gateway may have ended TLS. A trusted hop says it in `x-forwarded-proto`; what others say there has been replaced.
 */
function clientScheme({ headers, connection }: Pick<RequestContext, 'headers' | 'connection'>): string | null {
  const said = headers.get('x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase()
  if (said !== connection.scheme && (said === 'http' || said === 'https')) return said
  return connection.scheme === 'https' ? 'https' : null
}
