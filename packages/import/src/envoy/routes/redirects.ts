import { pathExpression } from '../../chain/path-state.ts'
import { final, notImported, statusReply } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import { policiesOf, type State } from '../../chain/state.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import { isPlainPath } from '../../http/paths.ts'
import { enumOf, memberAt, takeFlag } from '../messages/message.ts'
import { pathAfterRewrite, regexExpression } from './rewrites.ts'

const STATUSES: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
}

interface RedirectContext {
  readonly port: number
  /** The text at the start of the path that `prefix_rewrite` replaces; null when a rewrite replaces the whole path. */
  readonly matchedPath: string | null
}

export function readRedirect(redirect: Field, directive: Directive, { port, matchedPath }: RedirectContext): Handler {
  const code = memberAt(redirect, 'response_code')
  code?.carried()
  const status = STATUSES[enumOf(code, 'MOVED_PERMANENTLY')] ?? 301
  const path = newPath(redirect, matchedPath)
  const authority = newAuthority(redirect)
  const scheme = takeFlag(redirect, 'https_redirect')
    ? 'https'
    : (memberAt(redirect, 'scheme_redirect')?.text?.toLowerCase() ?? undefined)
  memberAt(redirect, 'scheme_redirect')?.carried()
  const isScheme = scheme === undefined || scheme === 'http' || scheme === 'https'
  if (path === null || authority === null || !isScheme) {
    directive.notCarried('the new address has no counterpart; matching requests get 501')
    return notImported(directive)
  }
  if (scheme !== undefined && authority === undefined && port !== 80 && port !== 443)
    memberAt(redirect, 'https_redirect')?.changed('the redirect leaves out the port of the Host')
  const target =
    'expression' in path
      ? { location: `${originExpression(scheme, authority)} + ${path.expression}`, status }
      : { requestRedirect: withoutAbsent({ scheme, authority, path: path.path, status }) }
  return final((state) => ({
    ...statusReply(directive, status, state),
    policies: redirectPolicies(state, target),
  }))
}

type RedirectTarget = { readonly location: string; readonly status: number } | { readonly requestRedirect: object }

/** Returns the policies of a redirect. A target that is an expression becomes a response with a computed `Location`. */
function redirectPolicies(state: State, target: RedirectTarget): Record<string, unknown> {
  const policies = policiesOf(state, false)
  if ('requestRedirect' in target) return { ...policies, ...target }
  const { transformation } = policies as { transformation?: { response?: { set?: readonly object[] } } }
  const set = [...(transformation?.response?.set ?? []).slice(0, 15), { name: 'location', value: target.location }]
  return {
    ...policies,
    directResponse: { status: target.status },
    transformation: { ...transformation, response: { ...transformation?.response, set } },
  }
}

/**
 * The new path of a redirect: the `path` of `requestRedirect`, which is undefined when the path stays the same, or an
 * expression for path and query.
 */
type NewPath = { readonly path: object | undefined } | { readonly expression: string }

function newPath(redirect: Field, matchedPath: string | null): NewPath | null {
  const [full, prefix, regex] = ['path_redirect', 'prefix_rewrite', 'regex_rewrite'].map((name) =>
    memberAt(redirect, name),
  )
  const isCut = takeFlag(redirect, 'strip_query')
  if ([full, prefix, regex].filter((each) => each != null).length > 1) return null
  if (regex != null) return cutQuery(regexExpression(regex), isCut)
  if (prefix != null) {
    const path = pathAfterRewrite(prefix.text ?? '', matchedPath)
    if (path === null) return null
    prefix.carried()
    return cutQuery(pathExpression(path) ?? CLIENT_PATH_AND_QUERY, isCut)
  }
  if (full == null) return isCut ? { expression: 'request.path' } : { path: undefined }
  // A query in the new path replaces the query of the request.
  const [path = '', query] = (full.text ?? '').split(/\?(.*)/s, 2)
  if (!isPlainPath(path) || (query !== undefined && !/^[!$%&'()*+,\-./0-9:;=?@A-Z_a-z~]*$/.test(query))) return null
  full.carried()
  if (query === undefined && !isCut) return { path: { full: path } }
  return { expression: JSON.stringify(full.text) }
}

const CLIENT_PATH_AND_QUERY = 'request.pathAndQuery'

function cutQuery(expression: string | null, isCut: boolean): NewPath | null {
  if (expression === null) return null
  return { expression: isCut ? `(${expression}).regexReplace("[?].*$", "")` : expression }
}

interface NewAuthority {
  readonly full?: string
  readonly port?: number
}

function newAuthority(redirect: Field): NewAuthority | null | undefined {
  const [host, port] = [memberAt(redirect, 'host_redirect'), memberAt(redirect, 'port_redirect')]
  const number = port?.number ?? null
  if (host !== null) {
    const full = `${host.text}${number === null ? '' : `:${number}`}`
    if (hostPortOf(full, 80) === null) return null
    for (const each of [host, port]) each?.carried()
    return { full }
  }
  if (port === null) return undefined
  if (number === null || number < 1 || number > 65_535) return null
  port.carried()
  return { port: number }
}

/**
 * Returns an expression for the scheme and authority of the new address. With a new scheme, the port is that scheme's
 * default unless the redirect names a port.
 */
function originExpression(scheme: string | undefined, authority: NewAuthority | undefined): string {
  const start = scheme === undefined ? 'request.scheme + "://"' : JSON.stringify(`${scheme}://`)
  if (authority?.full !== undefined) return `${start} + ${JSON.stringify(authority.full)}`
  if (scheme === undefined && authority === undefined) return `${start} + request.host`
  const host = 'request.host.regexReplace(":[0-9]+$", "")'
  return `${start} + ${host}${authority?.port === undefined ? '' : ` + ${JSON.stringify(`:${authority.port}`)}`}`
}
