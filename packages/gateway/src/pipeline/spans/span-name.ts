import type { SpannedRequest } from './spanned-request.ts'

/** A name that many requests share: the path as the route has it, never as the client wrote it. */
export function spanName(request: Pick<SpannedRequest, 'method' | 'match' | 'mcp' | 'grpcStatus' | 'target'>): string {
  const { match, mcp, grpcStatus, target } = request
  if (mcp !== null && mcp.method !== '') return messageName(mcp.method, mcp.item)
  const method = METHODS.has(request.method ?? '') ? request.method : 'HTTP'
  if (match === null) return String(method)
  if (grpcStatus !== null && target !== null) return target.replaceAll(/^\/|\?.*/g, '').slice(0, LONGEST_NAME)
  const { kind, value } = match.match.path
  if (kind !== 'pathPrefix') return `${method} ${value}`.slice(0, LONGEST_NAME)
  let end = value.length
  while (value[end - 1] === '/') end--
  return `${method} ${value.slice(0, end)}/*`.slice(0, LONGEST_NAME)
}

/** `tools/call add`; of what is no tool or prompt, the method alone. */
export function messageName(method: string, item: { kind: string; name: string } | null): string {
  const hasName = item?.kind === 'tool' || item?.kind === 'prompt'
  return (hasName ? `${method} ${item.name}` : method).slice(0, LONGEST_NAME)
}

/** Clients may invent others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])
export const LONGEST_NAME = 256
