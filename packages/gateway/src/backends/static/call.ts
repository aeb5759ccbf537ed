import { isIP } from 'node:net'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { tracedConnect } from '../../pipeline/traced/traced-connect.ts'
import { tracedSend } from '../../pipeline/traced/traced-send.ts'
import { chooseVersion, Destination, type DestinationOptions } from '@portico/http/client'

/** A backend whose host, or socket file, the config names. */
export function staticBackend(identity: BackendIdentity, options: DestinationOptions): CompiledBackend {
  const destination = new Destination(options)
  const { settings, address } = options
  const send: CompiledBackend['send'] = (request, context, handler) =>
    destination.send(request, chooseVersion(settings.version, request, context), context, handler)
  const sendTraced = tracedSend(identity, send)
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: settings.requestTimeoutMs,
    limitsHead: settings.requestTimeoutMs === 0,
    hostname: hostnameOf(address, settings.tls !== null),
    send: (request, context, handler) =>
      (context.span ?? null) === null ? send(request, context, handler) : sendTraced(request, context, handler),
    connect: tracedConnect(identity, (_authority, context, done) => destination.connect(context, done)),
    // Datagrams pass neither TLS nor a tunnel, and socket files take none.
    ...(settings.tls === null &&
      settings.tunnel === null &&
      !('path' in address) && {
        lease: (context, done) => destination.lease(context, done),
        hasEndpoint: (name) => destination.hasEndpoint(name),
      }),
  }
}

/**
 * The `Host` for the backend; null when the backend gets the client's host, as for a Service, whose name is internal to
 * the cluster.
 */
function hostnameOf(address: DestinationOptions['address'], secure: boolean): string | null {
  if ('path' in address || address.named === true || isIP(address.host) !== 0) return null
  // A default port is not part of a Host (RFC 9110 section 7.2).
  return address.port === (secure ? 443 : 80) ? address.host : `${address.host}:${address.port}`
}
