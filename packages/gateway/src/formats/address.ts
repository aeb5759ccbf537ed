/** Address parsers without Node builtins, so that a browser can load them. */

import { isIp, isIpv6 } from '@portico/http/text'

export type HostTarget = { kind: 'static'; host: string; port: number } | { kind: 'unix'; path: string }

const hostNamePattern =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i

/** Parses `name:port`, `1.2.3.4:port`, `[::1]:port` or `unix:/path`; returns null for other texts. */
export function parseHostTarget(text: string): HostTarget | null {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length)
    return path.startsWith('/') && path.length > 1 ? { kind: 'unix', path } : null
  }
  const address = parseHostPort(text)
  return address === null || address.port === 0 ? null : { kind: 'static', ...address }
}

/** Parses `https://host:port`, or its parts without the scheme or the port (15012, as in Istio); returns null for other texts. */
export function parseCaAddress(text: string): { host: string; port: number } | null {
  const rest = text.replace(/^https:\/\//i, '').replace(/\/$/, '')
  const address = text.length > 512 ? null : (parseHostPort(rest) ?? parseHostPort(`${rest}:15012`))
  return address === null || address.port === 0 ? null : address
}

export interface BackendUrl {
  secure: boolean
  host: string
  port: number
  /** Value for the `Host` header, without a default port. */
  authority: string
  /** Path and query. */
  path: string
}

/** Parses an absolute `http` or `https` URL without user and fragment; returns null for other texts. */
export function parseBackendUrl(text: string): BackendUrl | null {
  const found = /^(https?):\/\/([^/?#@\s]+)([/?][\x21-\x22\x24-\x7e]*)?$/i.exec(text)
  if (found === null || text.length > 2_048) return null
  const [, scheme = '', place = '', path = '/'] = found
  const secure = scheme.toLowerCase() === 'https'
  const standard = secure ? 443 : 80
  const address = parseHostPort(/:[0-9]+$/.test(place) ? place : `${place}:${standard}`)
  if (address === null || address.port === 0) return null
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    ...address,
    secure,
    authority: address.port === standard ? host : `${host}:${address.port}`,
    path: path.startsWith('/') ? path : `/${path}`,
  }
}

/** Returns the key of the backend for the origin of a URL. */
export function urlKey({ secure, host, port }: BackendUrl): string {
  return `url/${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

export function parseHostPort(text: string): { host: string; port: number } | null {
  const found = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text)
  if (found === null) return null
  const [, bracketed, plain = '', digits] = found
  const port = Number(digits)
  if (port > 65_535) return null
  if (bracketed !== undefined) return isIpv6(bracketed) ? { host: bracketed.toLowerCase(), port } : null
  return isHost(plain) ? { host: plain.toLowerCase(), port } : null
}

/**
 * Returns whether the text is a DNS name or an IP address. Partial addresses that resolvers would read as addresses
 * (`1.2.3`, `010.0.0.1`, `0x7f.1`) are rejected.
 */
export function isHost(text: string): boolean {
  if (isIp(text)) return true
  return hostNamePattern.test(text) && !/(^|\.)([0-9]+|0x[0-9a-f]*)\.?$/i.test(text)
}
