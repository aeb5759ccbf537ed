import { isIP } from 'node:net'

export type Address =
  | { kind: 'off' }
  | { kind: 'unix'; path: string }
  /** Tried in order; the first must be bound, the others only where the machine has that address family. */
  | { kind: 'tcp'; hosts: readonly [string, ...string[]]; port: number; loopback: boolean }

type AddressResult = { ok: true; value: Address } | { ok: false; problem: string }

/** Parses `127.0.0.1:15000`, `[::]:15020`, `localhost:15000`, `unix:/path` and `off`. */
export function parseAddress(text: string): AddressResult {
  if (text === 'off') return { ok: true, value: { kind: 'off' } }
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length)
    return path.startsWith('/') ? { ok: true, value: { kind: 'unix', path } } : rejectAddress(text)
  }
  const [, host = '', portText = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  const port = Number(portText)
  if (host === '' || port > 65_535) return rejectAddress(text)
  if (host === 'localhost') return tcp(['127.0.0.1', '::1'], port)
  const literal = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  // A bare IPv6 address cannot be told from its port.
  return isIP(literal) === (literal === host ? 4 : 6) ? tcp([literal], port) : rejectAddress(text)
}

/** `127.0.0.1:80`, `[::1]:80`. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function tcp(hosts: readonly [string, ...string[]], port: number): AddressResult {
  return { ok: true, value: { kind: 'tcp', hosts, port, loopback: hosts.every(isLoopback) } }
}

function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function rejectAddress(text: string): AddressResult {
  return {
    ok: false,
    problem: `found address ${JSON.stringify(text)}, expected <ip>:<port>, [<ipv6>]:<port>, localhost:<port>, unix:/<path> or off`,
  }
}
