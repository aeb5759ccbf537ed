import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import {
  type AddressGuard,
  chooseVersion,
  Destination,
  type DestinationOptions,
  type UpstreamCall,
  UpstreamError,
} from '@portico/http/client'
import { tracedConnect } from '../../pipeline/traced/traced-connect.ts'
import { tracedSend } from '../../pipeline/traced/traced-send.ts'

/**
 * A backend that each request names by its Host, or each TLS connection by its server name. The name is resolved
 * once, every address is judged, and the judged address is the one that is dialled.
 */
export function dynamicForwardProxyBackend(
  identity: BackendIdentity,
  options: Omit<DestinationOptions, 'address' | 'guard'> & { guard: AddressGuard },
): CompiledBackend {
  const { settings } = options
  const endpoints = options.endpoints.apart()
  const destinationsByAuthority = new Map<string, Destination>()

  function destinationFor(authority: string, defaultPort: number): Destination | null {
    const key = authority.toLowerCase()
    const known = destinationsByAuthority.get(key)
    if (known !== undefined) return known
    const address = parseAuthority(key, defaultPort)
    if (address === null) return null
    const made = new Destination({ ...options, address, endpoints })
    // Clients choose the names, so the oldest make room.
    if (destinationsByAuthority.size >= MAX_DESTINATIONS) {
      destinationsByAuthority.delete(destinationsByAuthority.keys().next().value ?? '')
    }
    destinationsByAuthority.set(key, made)
    return made
  }

  return {
    ...identity,
    needsName: true,
    requestTimeoutMs: settings.requestTimeoutMs,
    limitsHead: settings.requestTimeoutMs === 0,
    hostname: null,
    send: tracedSend(identity, (request, context, handler) => {
      const destination = destinationFor(request.authority, context.clientScheme === 'https' ? 443 : 80)
      if (destination === null) {
        handler.failed(new UpstreamError('address_refused', 'the host is not valid', true))
        return NOTHING
      }
      const version = chooseVersion(settings.version, request, context)
      return destination.send(request, version, context, handler)
    }),
    connect: tracedConnect(identity, (authority, context, done) => {
      const destination = destinationFor(authority, 443)
      if (destination === null) {
        done(new UpstreamError('address_refused', 'the host is not valid', true))
        return NOTHING
      }
      return destination.connect(context, done)
    }),
  }
}

const NOTHING: UpstreamCall = { cancel: () => {} }
const MAX_DESTINATIONS = 1000

/** Splits `host[:port]`; null when it is not one. */
function parseAuthority(authority: string, defaultPort: number): { host: string; port: number } | null {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(authority)
  if (parts === null) return null
  const host = (parts[1] ?? parts[2] ?? '').replace(/\.$/, '')
  const port = parts[3] === undefined ? defaultPort : Number(parts[3])
  return host === '' || port < 1 || port > 65535 ? null : { host, port }
}
