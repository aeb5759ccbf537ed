import { isCredentialParameter } from '../../redaction/credential-names.ts'
import { splitTarget, withoutParameter, withoutParametersWhere } from '../../formats/query-parameters.ts'
import { Unsupported } from '@portico/chat'
import type { Destination, ProviderCall } from './provider.ts'
import type { Overrides } from '../../schema/fields/llm-providers.ts'

/** The vendor's path for a call; null keeps the path of the client. */
export type OwnTarget = (call: ProviderCall) => string | Unsupported | null

/** The client's query parameters to drop. Some vendors refuse unknown parameters, which SDKs of other vendors send. */
export interface QueryRule {
  drop: 'all' | readonly string[]
}

/**
 * Creates the function that returns the path and query of a call: configured ones win over the vendor's. Credentials in
 * the client's query are for the gateway and are never forwarded; policies of the backend may add others.
 */
export function createTarget(
  { path, pathPrefix }: Overrides,
  own: OwnTarget,
  { drop }: QueryRule,
): (call: ProviderCall) => string | Unsupported {
  return (call) => {
    if (call.kind === 'raw') return rawTarget(call.clientTarget, pathPrefix)
    // A model list is never at the path of chats.
    if (path !== undefined && call.kind !== 'models') return path
    const target = own(call)
    if (target === null) return rawTarget(call.clientTarget, pathPrefix)
    if (target instanceof Unsupported || drop === 'all') return target
    return withClientQuery(target, splitTarget(call.clientTarget)[1], drop)
  }
}

/** The path prefix before the name of a call, without a trailing slash. */
export function basePath({ pathPrefix = '/v1' }: Overrides): string {
  return pathPrefix.replace(/\/+$/, '')
}

/**
 * The configured host, or the vendor's. A self-hosted server on a port other than 443 usually speaks plaintext HTTP.
 */
export function destinationOf({ host: other, port = TLS_PORT }: Overrides, own: string): Destination {
  const host = other ?? own
  const isStandard = port === TLS_PORT
  const name = host.includes(':') ? `[${host}]` : host
  return { host, port, tls: isStandard, authority: isStandard ? name : `${name}:${port}` }
}

function rawTarget(target: string, pathPrefix: string | undefined): string {
  const clientTarget = withoutParametersWhere(target, isCredentialParameter)
  if (pathPrefix === undefined) return clientTarget
  const prefix = basePath({ pathPrefix })
  return prefix + (/^\/v1(?=[/?]|$)/.test(clientTarget) ? clientTarget.slice('/v1'.length) : clientTarget)
}

/** Adds the client's query. The client cannot override the vendor's own parameters. */
function withClientQuery(target: string, query: string, drop: readonly string[]): string {
  if (query === '') return target
  const [path, own] = splitTarget(target)
  const taken = own.split('&').map((pair) => pair.split('=', 1)[0] ?? '')
  const shown = withoutParametersWhere(`?${query}`, isCredentialParameter)
  const [, kept] = splitTarget([...taken, ...drop].reduce(withoutParameter, shown))
  const all = [own, kept].filter((part) => part !== '').join('&')
  return all === '' ? path : `${path}?${all}`
}

const TLS_PORT = 443
