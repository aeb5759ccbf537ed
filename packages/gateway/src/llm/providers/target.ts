import { isCredentialParameter } from '../../redaction/credential-names.ts'
import { splitTarget, withoutParameter, withoutParametersWhere } from '../../formats/query-parameters.ts'
import { Unsupported } from '../middle.ts'
import type { Destination, ProviderCall } from './provider.ts'
import type { Overrides } from '../../schema/fields/llm-providers.ts'

/** What a vendor says of its own paths; null leaves the path as the client sent it. */
export type OwnTarget = (call: ProviderCall) => string | Unsupported | null

/** The client's parameters that do not go on. Some vendors refuse what they do not know, and other vendors' SDKs send such. */
export interface QueryRule {
  drop: 'all' | readonly string[]
}

/**
 * Path and query of each call: those of the config before those of the vendor. Credentials in the client's query are
 * for the gateway and never go on; policies of the backend may add others.
 */
export function createTarget(
  { path, pathPrefix }: Overrides,
  own: OwnTarget,
  { drop }: QueryRule,
): (call: ProviderCall) => string | Unsupported {
  return (call) => {
    if (call.kind === 'raw') return rawTarget(call.clientTarget, pathPrefix)
    // A list of models is never where chats go.
    if (path !== undefined && call.kind !== 'models') return path
    const target = own(call)
    if (target === null) return rawTarget(call.clientTarget, pathPrefix)
    if (target instanceof Unsupported || drop === 'all') return target
    return withClientQuery(target, splitTarget(call.clientTarget)[1], drop)
  }
}

/** What stands before the names of calls, without the slash at its end. */
export function basePath({ pathPrefix = '/v1' }: Overrides): string {
  return pathPrefix.replace(/\/+$/, '')
}

/** The vendor's host, or the one of the config. A server of one's own on another port than 443 mostly speaks plainly. */
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

/** The vendor's own parameters are not the client's to say. */
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
