import type { Duplex } from 'node:stream'

export interface AdminAddress {
  /** The name in messages. */
  readonly label: string
  readonly connect: AddressAndPort | { readonly socketPath: string }
  /** Returns more about a failed connection, when more is known; otherwise null. */
  readonly explain?: () => Promise<string | null>
}

interface AddressAndPort {
  readonly host: string
  readonly port: number
  /** Opens the connection, when the server is not on the network of this machine. */
  readonly createConnection?: (options: unknown, connected: (error: Error | null, stream?: Duplex) => void) => void
}

/**
 * Parses `127.0.0.1:15000`, `[::1]:15000`, `localhost:15000`, with or without `http://`, or `unix:/path`; null otherwise.
 */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (text.startsWith('unix:/')) return { label: text, connect: { socketPath: text.slice('unix:'.length) } }
  const [, host = '', portText = ''] = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(text) ?? []
  const port = Number(portText)
  if (host === '' || port < 1 || port > 65_535) return null
  return { label: `${host}:${port}`, connect: { host: host.replaceAll(/[[\]]/g, ''), port } }
}
