import { type Exchange, isForwardingHeader } from '@portico/http'
import { rangeMatcher } from '@portico/http/client'
import type { ForwardedHeadersConfig } from './schema.ts'

/**
 * Sets the `x-forwarded-*` headers from the connection. Headers of untrusted clients, in any spelling, are dropped
 * first, before other code reads them.
 */
export function forwardedHeaders(config: ForwardedHeadersConfig): ((exchange: Exchange) => void) | null {
  if (config.mode === 'Preserve') return null
  const append = config.mode === 'Append'
  const trusted = rangeMatcher(config.trustedProxies)
  return (exchange) => {
    const { headers, connection } = exchange
    const believed = exchange.claimsForwarding && (append || (trusted !== null && trusted(connection.rawAddress)))
    if (exchange.claimsForwarding && !believed) headers.removeWhere(isForwardingHeader)
    if (!believed) {
      // Addresses, schemes and authorities have been parsed before they come here.
      headers.addChecked('x-forwarded-for', connection.address)
      headers.addChecked('x-forwarded-proto', connection.scheme)
      headers.addChecked('x-forwarded-host', exchange.authority)
      return
    }
    const chain = headers.joined('x-forwarded-for')
    headers.set('x-forwarded-for', chain === null ? connection.address : `${chain}, ${connection.address}`)
    if (!headers.has('x-forwarded-proto')) headers.add('x-forwarded-proto', connection.scheme)
    if (!headers.has('x-forwarded-host')) headers.add('x-forwarded-host', exchange.authority)
  }
}
