import { isOwnOrigin } from '../pipeline/policy/own-origin.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'

export interface GuardConfig {
  allowedHosts: readonly string[] | undefined
  allowedOrigins: readonly string[] | undefined
  /** The route is for certain hostnames only. */
  hasHostnames: boolean
  /** Origins that a CORS policy of the route lets in. */
  corsAllows: (origin: string) => boolean
}

/**
 * Keeps web pages out that reach the gateway under a name of their own (DNS rebinding), and pages nobody allowed. Gives
 * the reason to refuse a request, or null.
 */
export type RequestGuard = (rx: RequestContext) => string | null

export function createGuard({ allowedHosts, allowedOrigins, hasHostnames, corsAllows }: GuardConfig): RequestGuard {
  const hosts = allowedHosts === undefined ? null : new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins?.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  return (rx) => {
    const authority = rx.authority.toLowerCase()
    const isLoopbackName = isLoopback(rx.host)
    // Routing has held the request against the names of the config.
    const hasName = hosts !== null || hasHostnames || (rx.listener !== null && rx.listener.hostname !== '')
    if (hosts !== null && !hosts.has('*') && !hosts.has(authority) && !hosts.has(rx.host)) {
      return NOT_THIS_HOST
    }
    // A client on this machine calls it by a name of this machine; a page elsewhere uses its own.
    if (!hasName && !isLoopbackName && isLoopbackAddress(rx.connection.rawAddress)) return NOT_THIS_HOST
    const origin = rx.headers.get('origin')
    if (origin === null) return null
    const text = origin.toLowerCase()
    if (origins.has('*') || origins.has(text) || corsAllows(origin)) return null
    const host = hostOf(text)
    if (host === null) return NOT_THIS_ORIGIN
    if (isLoopbackName && isLoopback(host)) return null
    return hasName && isOwnOrigin(rx, authority, text) ? null : NOT_THIS_ORIGIN
  }
}

function hostOf(origin: string): string | null {
  const url = URL.parse(origin)
  return url === null || url.hostname === '' ? null : url.hostname.replace(/^\[|\]$/g, '')
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

const NOT_THIS_HOST = 'host not allowed: name it in `allowedHosts` of the backend, or give the route a hostname'
const NOT_THIS_ORIGIN = 'origin not allowed: name it in `allowedOrigins` of the backend, or in `cors` of the route'
