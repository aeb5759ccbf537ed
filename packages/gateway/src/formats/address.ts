/** Address texts, checked without Node builtins so that a browser can load them. */

export type HostTarget = { kind: 'static'; host: string; port: number } | { kind: 'unix'; path: string }

const hostNamePattern =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i

/** `name:port`, `1.2.3.4:port`, `[::1]:port` or `unix:/path`; null when it is none of them. */
export function parseHostTarget(text: string): HostTarget | null {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length)
    return path.startsWith('/') && path.length > 1 ? { kind: 'unix', path } : null
  }
  const address = parseHostPort(text)
  return address === null || address.port === 0 ? null : { kind: 'static', ...address }
}

export interface BackendUrl {
  secure: boolean
  host: string
  port: number
  /** For `Host`: a default port is not part of it. */
  authority: string
  /** With the query. */
  path: string
}

/** An absolute `http` or `https` URL without user and fragment; null when it is none. */
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

/** The key of the backend that stands for the origin of a URL. */
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

/** A DNS name or an address; half addresses (`1.2.3`, `010.0.0.1`, `0x7f.1`), which resolvers read as addresses, are refused. */
export function isHost(text: string): boolean {
  if (isIp(text)) return true
  return hostNamePattern.test(text) && !/(^|\.)([0-9]+|0x[0-9a-f]*)\.?$/i.test(text)
}

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text)
}

export function isIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/.test(text)
}

export function isIpv6(text: string): boolean {
  let groups = text
  const lastColon = text.lastIndexOf(':')
  if (text.includes('.')) {
    if (!isIpv4(text.slice(lastColon + 1))) return false
    groups = `${text.slice(0, lastColon + 1)}0:0`
  }
  const halves = groups.split('::')
  if (halves.length > 2) return false
  const parts = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return false
  return halves.length === 2 ? parts.length <= 7 : parts.length === 8
}

export interface Cidr {
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

/** A range of addresses, `10.0.0.0/8`; an address alone is a range of one. Null when it is neither. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/')
  const address = slash < 0 ? text : text.slice(0, slash)
  const family = isIpv4(address) ? 'ipv4' : isIpv6(address) ? 'ipv6' : null
  if (family === null) return null
  const bits = family === 'ipv4' ? 32 : 128
  if (slash < 0) return { address, prefix: bits, family }
  const digits = text.slice(slash + 1)
  return /^(0|[1-9][0-9]{0,2})$/.test(digits) && Number(digits) <= bits
    ? { address, prefix: Number(digits), family }
    : null
}

export function isCidr(text: string): boolean {
  return parseCidr(text) !== null
}
