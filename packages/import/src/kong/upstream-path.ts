import { isRegex } from '../http/paths.ts'
import type { RoutePath } from './route-match.ts'

/** The path of upstream requests. */
export interface UpstreamPath {
  /** A CEL expression for path and query; null when they are those of the client. */
  readonly expression: string | null
  /** The path for a path of a client; null when the importer cannot compute it. */
  readonly pathFor: ((this: void, path: string) => string) | null
}

const SAME: UpstreamPath = { expression: null, pathFor: (path) => path }

export interface PathRules {
  /** The path of the service; empty without. */
  readonly base: string
  readonly isStripped: boolean
  /** Version 1 joins the texts without a slash. */
  readonly handling: 'v0' | 'v1'
}

/** The path for requests of one path of a route; a text says why it cannot be imported. */
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

/** The slash of a route for all paths is taken away. */
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

/** The part of the path that fits the pattern is cut off. */
function strippedPattern(regex: string, base: string): UpstreamPath | string {
  const query = 'request.pathAndQuery.substring(request.path.size())'
  if (/(^|[^\\])(\\\\)*\$$/.test(regex)) {
    return { expression: `${JSON.stringify(base)} + ${query}`, pathFor: () => base }
  }
  const start = `^(?:${regex})/?`
  if (!isRegex(start)) return 'the pattern cannot be cut off the path'
  const withoutSlash = base.replace(/\/$/, '')
  const rest = `${JSON.stringify(`${withoutSlash}/`)} + request.path.regexReplace(${JSON.stringify(start)}, "")`
  const isWhole = `request.path.matches(${JSON.stringify(`^(?:${regex})$`)})`
  const path = withoutSlash === '' ? rest : `(${isWhole} ? ${JSON.stringify(withoutSlash)} : ${rest})`
  return { expression: `${path} + ${query}`, pathFor: null }
}
