import { METHODS } from './http-attributes.ts'
import type { SpannedRequest } from './spanned-request.ts'

/** Returns a name of low cardinality: the path of the route, never the path of the client. */
export function spanName(request: Pick<SpannedRequest, 'method' | 'match' | 'mcp' | 'grpcStatus' | 'target'>): string {
  const { match, mcp, grpcStatus, target } = request
  if (mcp !== null && mcp.method !== '') return messageName(mcp.method, mcp.item)
  const method = METHODS.has(request.method ?? '') ? request.method : 'HTTP'
  if (match === null) return String(method)
  if (grpcStatus !== null && target !== null) return target.replaceAll(/^\/|\?.*/g, '').slice(0, LONGEST_NAME)
  return nameOfPath(String(method), match.match.path)
}

type Path = NonNullable<SpannedRequest['match']>['match']['path']

/** The last name, because consecutive requests often have the same route. */
let known: { method: string; path: Path; name: string } | null = null

function nameOfPath(method: string, path: Path): string {
  if (known !== null && known.path === path && known.method === method) return known.name
  const { kind, value } = path
  const text = kind === 'pathPrefix' ? `${value.replace(/\/+$/, '')}/*` : value
  const name = `${method} ${text}`.slice(0, LONGEST_NAME)
  known = { method, path, name }
  return name
}

/** Returns the method with the name of the tool or prompt, such as `tools/call add`; otherwise the method alone. */
export function messageName(method: string, item: { kind: string; name: string } | null): string {
  const hasName = item?.kind === 'tool' || item?.kind === 'prompt'
  return (hasName ? `${method} ${item.name}` : method).slice(0, LONGEST_NAME)
}

export const LONGEST_NAME = 256
