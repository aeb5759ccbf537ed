import type { IncomingMessage } from 'node:http'
import type { AdminCaller, AdminScope } from './credentials.ts'
import { pathOf, type Reply, text } from './http.ts'

/** An endpoint of the admin server, as its start page lists it. */
export interface Endpoint {
  /** The first one is shown in the index. */
  readonly methods: readonly string[]
  /** Parts in `<>` and `{}` stand for any text without a slash. */
  readonly path: string
  /** The scope that a token needs: `Write` when the endpoint changes something, or sends requests. */
  readonly scope: AdminScope
  readonly summary: string
}

export const READ: readonly string[] = ['GET', 'HEAD']

/** Adds methods and scope to endpoints that only tell something. */
export function readEndpoints(routes: readonly Pick<Endpoint, 'path' | 'summary'>[]): Endpoint[] {
  return routes.map((route) => ({ methods: READ, scope: 'Read', ...route }))
}

/** `endpointScopes` returns the check of the scope of a caller: null allows the request. */
export function endpointScopes(
  endpoints: readonly Endpoint[],
): (request: IncomingMessage, caller: AdminCaller) => Reply | null {
  const patterns = endpoints.map(({ methods, path, scope }) => ({ methods, scope, pattern: patternOf(path) }))
  return (request, { token, scope }) => {
    if (scope === 'Write') return null
    const { method = '' } = request
    const path = pathOf(request) ?? ''
    const found = patterns.find(({ methods, pattern }) => methods.includes(method) && pattern.test(path))
    // A method that no endpoint has is refused later, unless it could change something.
    const needed = found?.scope ?? (READ.includes(method) ? 'Read' : 'Write')
    if (needed === 'Read') return null
    const by = token === null ? 'the caller' : `the token ${token}`
    return text(403, `${by} has the scope Read, and ${method} ${path} needs a token with the scope Write\n`)
  }
}

function patternOf(path: string): RegExp {
  const parts = path.split(/<[^>]*>|\{[^}]*\}/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
