import { effect } from '../../chain/effects.ts'
import { CLIENT_PATH, type PathState, withoutPrefix } from '../../chain/path-state.ts'
import type { Handler } from '../../chain/routes.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import { isPlainPath, isRegex } from '../../http/paths.ts'
import { memberAt, takeFlag } from '../messages/message.ts'

/** Changes of the path and the host, before a request is sent to the upstream. */
interface Rewrites {
  readonly handlers: readonly Handler[]
  /** The policy for the host: `urlRewrite` or `hostRewrite`. */
  readonly host: Readonly<Record<string, unknown>>
}

/** Reads the rewrites of a route; returns the reason as a string when a rewrite cannot be expressed. */
export function rewritesOf(route: Field, matchedPath: string | null): Rewrites | string {
  const host = hostOf(route)
  if (typeof host === 'string') return host
  const [prefix, regex, template] = ['prefix_rewrite', 'regex_rewrite', 'path_rewrite_policy'].map((name) =>
    memberAt(route, name),
  )
  if (template != null) return 'a path rewrite by a template has no counterpart'
  const handlers = [...host.handlers]
  if (prefix != null) {
    const path = pathAfterRewrite(prefix.text ?? '', matchedPath)
    if (path === null) return 'the new path contains unsupported characters'
    prefix.carried()
    handlers.push(effect((state) => ({ ...state, path })))
  }
  if (regex != null) {
    const expression = regexExpression(regex)
    if (expression === null) return 'the pattern of the rewrite has no counterpart'
    const header = { name: ':path', value: expression, when: null }
    handlers.push(effect((state) => ({ ...state, request: [...state.request, header] })))
  }
  return { handlers, host: host.policies }
}

/** Returns the path after a text replaces the part that the route matched; null when the text is not a plain path. */
export function pathAfterRewrite(text: string, matchedPath: string | null): PathState | null {
  if (text !== '' && !isPlainPath(text)) return null
  if (matchedPath === null) return { prefix: text === '' ? '/' : text, cut: null, query: null, isBroken: false }
  const rest = withoutPrefix(CLIENT_PATH, matchedPath)
  return rest === null ? null : { ...rest, prefix: text }
}

export function regexExpression(rewrite: Field): string | null {
  const [pattern, text] = [memberAt(rewrite, 'pattern', 'regex'), memberAt(rewrite, 'substitution')]
  memberAt(rewrite, 'pattern', 'google_re2')?.carried()
  const [regex, substitution] = [pattern?.text ?? '', text?.text ?? '']
  if (!isRegex(regex) || /[^\x20-\x7e]/.test(substitution)) return null
  if (regex.startsWith('^')) pattern?.carried()
  else pattern?.changed('the gateway replaces only the first match')
  text?.carried()
  // Groups are `$1` in replacements of the gateway, and `$$` is a dollar sign.
  const replacement = substitution
    .replaceAll('$', '$$$$')
    .replaceAll(/\\(\d)/g, (_all, group: string) => `\${${group}}`)
  if (/\\(?!\\)/.test(replacement.replaceAll('\\\\', ''))) return null
  const parts = [JSON.stringify(regex), JSON.stringify(replacement.replaceAll('\\\\', '\\'))]
  return `request.path.regexReplace(${parts.join(', ')}) + request.pathAndQuery.substring(request.path.size())`
}

interface HostRewrite {
  readonly handlers: readonly Handler[]
  readonly policies: Readonly<Record<string, unknown>>
}

function hostOf(route: Field): HostRewrite | string {
  takeFlag(route, 'append_x_forwarded_host')
  const [literal, header, pattern] = ['host_rewrite_literal', 'host_rewrite_header', 'host_rewrite_path_regex'].map(
    (name) => memberAt(route, name),
  )
  if (pattern != null) return 'the rewrite makes a part of the path the new Host, which has no counterpart'
  if (literal != null) {
    if (hostPortOf(literal.text ?? '', 80) === null) return 'the new Host is not a valid hostname'
    literal.carried()
    return { handlers: [], policies: { urlRewrite: { authority: { full: literal.text } } } }
  }
  if (header != null) {
    const name = header.text?.toLowerCase() ?? ''
    if (!/^[\w-]+$/.test(name)) return 'the name of the header with the new Host is not valid'
    header.carried()
    const change = { name: ':authority', value: `request.headers[${JSON.stringify(name)}]`, when: null }
    return {
      handlers: [effect((state) => ({ ...state, request: [...state.request, change] }))],
      policies: { hostRewrite: { mode: 'None' } },
    }
  }
  const automatic = memberAt(route, 'auto_host_rewrite')
  if (automatic?.isTrue === true)
    automatic.changed('the new Host contains the port of the backend, unless it is the default port')
  else automatic?.carried()
  return { handlers: [], policies: { hostRewrite: { mode: automatic?.isTrue === true ? 'Auto' : 'None' } } }
}
