import type { Duplex } from 'node:stream'

export interface AdminAddress {
  /** As messages name it. */
  readonly label: string
  readonly connect: AddressAndPort | { readonly socketPath: string }
  /** Why a connection has failed, where more is known than this end has seen; null where not. */
  readonly explain?: () => Promise<string | null>
}

interface AddressAndPort {
  readonly host: string
  readonly port: number
  /** How it is reached, where not over the network of this machine. */
  readonly createConnection?: (options: unknown, connected: (error: Error | null, stream?: Duplex) => void) => void
}

/** `127.0.0.1:15000`, `[::1]:15000`, `localhost:15000`, with or without `http://`, or `unix:/path`; null otherwise. */
export function parseAdminAddress(text: string): AdminAddress | null {
  if (text.startsWith('unix:/')) return { label: text, connect: { socketPath: text.slice('unix:'.length) } }
  const [, host = '', portText = ''] = /^(?:http:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i.exec(text) ?? []
  const port = Number(portText)
  if (host === '' || port < 1 || port > 65_535) return null
  return { label: `${host}:${port}`, connect: { host: host.replaceAll(/[[\]]/g, ''), port } }
}
