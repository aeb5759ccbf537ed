/** The parts of a request that a rewrite reads. */
interface MatchedRequest {
  readonly path: string
  readonly query: string
  readonly match: { readonly pathPrefix: string | null } | null
}

/** `full` replaces the path; `prefix` replaces what the route's prefix matched. */
type PathRewrite = { full: string; prefix?: undefined } | { full?: undefined; prefix: string }

/** `full` replaces host and port together. */
interface AuthorityRewrite {
  full?: string | undefined
  host?: string | undefined
  port?: number | undefined
}

/** Returns the path and query after a rewrite; the query stays the same. */
export function rewriteTarget(rx: MatchedRequest, path: PathRewrite): string {
  const query = rx.query === '' ? '' : '?' + rx.query
  if (path.full !== undefined) return path.full + query
  const matched = rx.match?.pathPrefix ?? ''
  // A transformation may have changed the path since it was matched.
  if (!rx.path.startsWith(matched)) return rx.path + query
  const rest = rx.path.slice(matched.length)
  const prefix = path.prefix.endsWith('/') ? path.prefix.slice(0, -1) : path.prefix
  // Exactly one slash between the two parts, and never an empty path.
  const joined = rest === '' || rest.startsWith('/') ? prefix + rest : prefix + '/' + rest
  return (joined === '' ? '/' : joined) + query
}

export function rewriteAuthority(authority: string, rewrite: AuthorityRewrite): string {
  if (rewrite.full !== undefined) return rewrite.full
  const { host, port } = splitAuthority(authority)
  if (rewrite.host !== undefined) return port === undefined ? rewrite.host : `${rewrite.host}:${port}`
  return rewrite.port === undefined ? authority : `${host}:${rewrite.port}`
}

/** Splits host and port; the port is undefined without one. */
export function splitAuthority(authority: string): { host: string; port: string | undefined } {
  const [, host = '', port] = /^(.*?)(?::([0-9]+))?$/.exec(authority) ?? []
  return { host, port }
}
