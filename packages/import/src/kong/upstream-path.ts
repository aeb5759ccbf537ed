import { isRegex } from '../http/paths.ts'
import type { RoutePath } from './route-match.ts'

/** The path of the requests that a service gets. */
export interface UpstreamPath {
  /** A CEL expression for path and query; null when they are the client's path and query. */
  readonly expression: string | null
  /**
   * Returns the upstream path for a path of the client; the function is null when the importer cannot compute the path.
   */
  readonly pathFor: ((this: void, path: string) => string) | null
}

const SAME: UpstreamPath = { expression: null, pathFor: (path) => path }

export interface PathRules {
  /** The path of the service; empty when the service has no path. */
  readonly base: string
  readonly isStripped: boolean
  /** Kong's `path_handling`. Version 1 joins the paths of service and request without a slash. */
  readonly handling: 'v0' | 'v1'
}

/**
 * Returns the upstream path for requests to one path of a route; the reason as a string when the path cannot be
 * imported.
 */
export function upstreamPath(
  path: RoutePath | null,
  { base: given, isStripped, handling }: PathRules,
): UpstreamPath | string {
  const base = given === '' ? '/' : given
  const withoutSlash = base.replace(/\/$/, '')
  if (!isStripped || path === null) {
    const start = handling === 'v0' || base.endsWith('/') ? withoutSlash : base
    return start === '' ? SAME : prefixed(start)
  }
  if (path.kind === 'pattern') return strippedPattern(path.regex, base)
  const cut = path.text
  if (cut === '/') return withoutSlash === '' ? SAME : strippedRoot(base, withoutSlash, handling)
  const rest = `request.pathAndQuery.substring(${cut.length})`
  const join = (start: string): string => (start === '' ? rest : `${JSON.stringify(start)} + ${rest}`)
  const slash = handling === 'v0' || base.endsWith('/') ? `${withoutSlash}/` : base
  if (cut.endsWith('/')) return { expression: join(slash), pathFor: (text) => slash + text.slice(cut.length) }
  const isSegment = `request.path.startsWith(${JSON.stringify(`${cut}/`)})`
  const isWhole = `request.path == ${JSON.stringify(cut)}`
  const whole = withoutSlash === '' ? '/' : handling === 'v0' ? withoutSlash : base
  const condition = whole === withoutSlash ? `${isWhole} || ${isSegment}` : isSegment
  return {
    expression: `${condition} ? ${join(withoutSlash)} : ${join(slash)}`,
    pathFor: (text) =>
      text === cut ? whole : (text.startsWith(`${cut}/`) ? withoutSlash : slash) + text.slice(cut.length),
  }
}

function prefixed(start: string): UpstreamPath {
  return { expression: `${JSON.stringify(start)} + request.pathAndQuery`, pathFor: (path) => start + path }
}

/** Returns the upstream path for a route with the path `/`, whose slash is stripped. */
function strippedRoot(base: string, withoutSlash: string, handling: 'v0' | 'v1'): UpstreamPath {
  if (handling === 'v1' && !base.endsWith('/')) {
    return {
      expression: `${JSON.stringify(base)} + request.pathAndQuery.substring(1)`,
      pathFor: (path) => base + path.slice(1),
    }
  }
  const rest = 'request.pathAndQuery.substring(1)'
  return {
    expression: `request.path == "/" ? ${JSON.stringify(withoutSlash)} + ${rest} : ${JSON.stringify(`${withoutSlash}/`)} + ${rest}`,
    pathFor: (path) => (path === '/' ? withoutSlash : withoutSlash + path),
  }
}

/**
 * Returns the upstream path for a route whose path is a pattern: the part of the path that fits the pattern is removed.
 */
function strippedPattern(regex: string, base: string): UpstreamPath | string {
  const query = 'request.pathAndQuery.substring(request.path.size())'
  if (/(^|[^\\])(\\\\)*\$$/.test(regex)) {
    return { expression: `${JSON.stringify(base)} + ${query}`, pathFor: () => base }
  }
  const start = `^(?:${regex})/?`
  if (!isRegex(start)) return 'the gateway cannot remove the part that fits the pattern from the path'
  const withoutSlash = base.replace(/\/$/, '')
  const rest = `${JSON.stringify(`${withoutSlash}/`)} + request.path.regexReplace(${JSON.stringify(start)}, "")`
  const isWhole = `request.path.matches(${JSON.stringify(`^(?:${regex})$`)})`
  const path = withoutSlash === '' ? rest : `(${isWhole} ? ${JSON.stringify(withoutSlash)} : ${rest})`
  return { expression: `${path} + ${query}`, pathFor: null }
}
