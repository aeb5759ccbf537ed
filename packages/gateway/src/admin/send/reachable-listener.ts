import { isIP } from 'node:net'

/** A listener of this process, as a client on this machine reaches it. */
export interface ReachableListener {
  /** An address of this machine that the process listens on. */
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  /** The hostname of the listener; empty for every host. */
  readonly hostname: string
  /** The version of the PROXY header that every connection begins with; null when the listener wants none. */
  readonly proxyHeader: 'V1' | 'V2' | null
  /** It takes no HTTP/1. */
  readonly isHttp2: boolean
}

/** Finds out how a listener of this process is reached. */
export interface ListenerSource {
  /** Returns a listener, or the reason why it cannot be reached. */
  findListener(bind: string, listener: string): ReachableListener | string
}

/** The default `Host`: any name that matches a wildcard will do. */
export function hostOf({ hostname, address, port, isTls }: ReachableListener): string {
  const name = hostname === '' ? literal(address) : hostname.replace(/^\*/, 'any')
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}

/** The name to ask for by TLS; none for an address. */
export function serverNameOf(host: string): string | undefined {
  const name = host.replace(/:\d+$/, '')
  return name.startsWith('[') || isIP(name) !== 0 ? undefined : name
}

/** The address at which this machine reaches a socket that listens on `address`: loopback for an unspecified address. */
export function reachable(address: string): string {
  if (address === '' || address === '0.0.0.0') return '127.0.0.1'
  return address === '::' ? '::1' : address
}

function literal(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
