import type { Destination } from './provider.ts'
import type { Overrides } from './schema.ts'

/** The vendor's host, or the one of the config. A server of one's own on another port than 443 mostly speaks plainly. */
export function destinationOf({ host: other, port = TLS_PORT }: Overrides, own: string): Destination {
  const host = other ?? own
  const isStandard = port === TLS_PORT
  const name = host.includes(':') ? `[${host}]` : host
  return { host, port, tls: isStandard, authority: isStandard ? name : `${name}:${port}` }
}

const TLS_PORT = 443
