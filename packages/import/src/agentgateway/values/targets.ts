import { Variable } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { lost, type Scope } from './convert.ts'

/** A destination of connections: `host:port` or a Unix socket, with or without TLS. */
interface Destination {
  readonly host: string | object
  readonly isTls: boolean
  /** The address that generated tests expect; null when the address is not known. */
  readonly address: string | null
}

/**
 * Reads `host:port`, `unix:/path`, or a URL without a path. Returns the reason as a string when the address cannot be
 * carried.
 */
export function destinationOf(field: Field, { env }: Scope): Destination | string {
  const text = field.text ?? ''
  const value = env.valueOf(text)
  if (value instanceof Variable) {
    env.add(value.name)
    return 'the variable contains host and port; write an address with a variable for each'
  }
  if (typeof value !== 'string') {
    const sample = String(env.sampleOf(value))
    return HOST_PORT.test(sample) ? { host: value, isTls: false, address: sample } : 'not host:port'
  }
  if (/^unix:\/./.test(text)) return { host: text, isTls: false, address: text }
  if (!/^https?:\/\//.test(text)) {
    return HOST_PORT.test(text) ? { host: text, isTls: false, address: text.toLowerCase() } : 'not host:port'
  }
  if (!URL.canParse(text)) return 'the address is not a URL'
  const { protocol, host, port, pathname, search, username } = new URL(text)
  if (pathname !== '/' || search !== '' || username !== '')
    return 'the URL has a path, a query or a user; expected only a host'
  const isTls = protocol === 'https:'
  const address = port === '' ? `${host}:${isTls ? 443 : 80}` : host
  return { host: address, isTls, address }
}

const HOST_PORT = /^(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4}$/

/** A reference to a service: the name of a backend, or an address. */
interface ServiceReference {
  readonly name?: string
  readonly host?: string | object
}

/** Returns a static backend at `host:port` or `unix:/path`. */
export function staticOf(host: string): object {
  return host.startsWith('unix:') ? { unixPath: host.slice('unix:'.length) } : splitHostPort(host)
}

/** Splits `host:port` into host and port. */
export function splitHostPort(address: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  return { host: host.replaceAll(/^\[|\]$/g, ''), port: Number(port) }
}

/** Adds a named backend for an address that needs policies. */
export function named(
  field: Field,
  host: unknown,
  policies: object,
  { backends }: Scope,
): { name: string } | undefined {
  if (typeof host !== 'string') return lost(field, 'the address contains variables; configure a named backend')
  const hasPolicies = Object.keys(policies).length > 0
  const name = backends.add(splitHostPort(host).host, { static: staticOf(host), ...(hasPolicies && { policies }) })
  return name === null ? lost(field, 'Portico does not accept this address') : { name }
}

/**
 * Reads the service that a policy calls: `host`, `backend` or `service` beside the other members of the policy. A
 * service with policies or TLS becomes a named backend.
 */
export function serviceReference(
  field: Field,
  scope: Scope,
  policiesOf: (policies: Field) => object | undefined,
): ServiceReference | undefined {
  const [host, backend, service, policies] = ['host', 'backend', 'service', 'policies'].map((name) => field.get(name))
  if (service !== null && service !== undefined)
    return lost(service, 'Portico does not discover services of a mesh; write the address of the service')
  const own = policies === null || policies === undefined ? {} : policiesOf(policies)
  if (own === undefined) return undefined
  if (backend?.text != null) {
    const name = scope.backends.named(backend.text)
    if (typeof name !== 'string') return lost(backend, 'the named backend is missing or cannot be imported')
    if (Object.keys(own).length > 0) return lost(policies ?? field, 'write these policies into the named backend')
    backend.carried()
    return { name }
  }
  if (host?.text == null) return lost(field, 'the policy names no service, expected host')
  const found = destinationOf(host, scope)
  if (typeof found === 'string') return lost(host, found)
  host.carried()
  const all = { ...(found.isTls && { tls: {} }), ...own }
  if (Object.keys(all).length === 0) return { host: found.host }
  return named(host, found.host, all, scope)
}
