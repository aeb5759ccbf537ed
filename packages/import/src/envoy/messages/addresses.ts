import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import { memberAt } from './message.ts'

/** Returns an Address as `host:port` or `unix:/path`; null for other kinds of addresses. */
export function upstreamAddress(address: Field | null): string | null {
  const socket = memberAt(address, 'socket_address')
  const pipe = memberAt(address, 'pipe', 'path')
  if (pipe !== null) {
    const path = pipe.text ?? ''
    const isUsable = /^\/[\x21-\x7e]{1,100}$/.test(path)
    if (isUsable) pipe.carried()
    return isUsable ? `unix:${path}` : null
  }
  const [host, port, protocol] = ['address', 'port_value', 'protocol'].map((name) => memberAt(socket, name))
  if (protocol != null && protocol.text?.toUpperCase() !== 'TCP') return null
  const text = host?.text ?? ''
  const found = hostPortOf(text.includes(':') ? `[${text}]:${port?.text}` : `${text}:${port?.text}`, null)
  if (found === null) return null
  for (const each of [host, port, protocol]) each?.carried()
  return found
}

/** The TCP address on which a listener accepts connections. */
export interface ListenAddress {
  readonly port: number
  /** The IP address; null for all addresses of the machine. */
  readonly address: string | null
}

/** Reads the address of a listener; returns the reason as a string when it is not a TCP address. */
export function listenAddress(address: Field | null): ListenAddress | string {
  const socket = memberAt(address, 'socket_address')
  const [host, port, protocol, both] = ['address', 'port_value', 'protocol', 'ipv4_compat'].map((name) =>
    memberAt(socket, name),
  )
  if (protocol != null && protocol.text?.toUpperCase() !== 'TCP') return 'the address is not a TCP port: docs/udp.md'
  const number = port?.number ?? 0
  if (!Number.isInteger(number) || number < 1 || number > 65_535) return 'the address has no valid TCP port'
  for (const each of [host, port, protocol, both]) each?.carried()
  const text = host?.text ?? ''
  if (['', '0.0.0.0', '::', '*'].includes(text)) return { port: number, address: null }
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text) || text.includes(':')) return { port: number, address: text }
  return text === 'localhost'
    ? { port: number, address: '127.0.0.1' }
    : 'the address is a name instead of an IP address'
}
