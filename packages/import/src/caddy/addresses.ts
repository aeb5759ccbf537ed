import { routeHost } from '../http/addresses.ts'

/** An address of a Caddy site, such as `https://example.com:8443/path`. */
export interface SiteAddress {
  readonly port: number
  readonly isTls: boolean
  /** The hostname, in which `${NAME}` is an environment variable; null for an address that takes every host. */
  readonly host: string | null
  /** The path that requests must have; usually empty. */
  readonly path: string
}

export interface ServerPorts {
  readonly http: number
  readonly https: number
  /** Whether Caddy gets certificates for sites with a hostname by itself. */
  readonly isAutomatic: boolean
  /** Whether the HTTP port redirects requests to sites with TLS. */
  readonly redirects: boolean
}

/** Reads an address of a site; returns the reason as a string when the address has no counterpart. */
export function readAddress(text: string, ports: ServerPorts, hasCertificate: boolean): SiteAddress | string {
  const parts = /^(?:(https?):\/\/)?(\[[0-9a-fA-F:]+\]|(?:\$\{\w+\}|[^:/{}\s])*)(?::(\d{1,5}))?(\/[^\s{}]*)?$/.exec(
    text.replaceAll(/\{(?:\$|env\.)(\w+)\}/g, (_all, name: string) => `\${${name}}`),
  )
  if (parts === null) return 'the address has a range of ports, or a variable in the port or path'
  const [, scheme, name = '', number, path = ''] = parts
  const host = name === '' || name === '*' ? null : readHost(name)
  if (host === null && name !== '' && name !== '*') return 'the host is not a valid hostname'
  const port = number === undefined ? defaultPort(scheme, host, ports) : Number(number)
  if (port < 1 || port > 65_535) return 'the port is not a number from 1 to 65535'
  const isPlain = scheme === 'http' || (scheme === undefined && port === ports.http)
  const isSecured = scheme === 'https' || port === ports.https || host !== null
  const isTls = !isPlain && (hasCertificate || scheme === 'https' || (ports.isAutomatic && isSecured))
  return { port, isTls, host, path: path === '/' ? '' : path }
}

/** Reads a hostname, which may have environment variables; returns null for other texts. */
function readHost(name: string): string | null {
  const example = routeHost(name.replaceAll(/\$\{\w+\}/g, 'x').replaceAll(/[[\]]/g, ''))
  if (example === null) return null
  return name.includes('$')
    ? name.replaceAll(/\$\{\w+\}|[A-Z]/g, (part) => (part.length > 1 ? part : part.toLowerCase()))
    : example
}

function defaultPort(scheme: string | undefined, host: string | null, { http, https }: ServerPorts): number {
  if (scheme !== undefined) return scheme === 'http' ? http : https
  return host === null ? http : https
}
