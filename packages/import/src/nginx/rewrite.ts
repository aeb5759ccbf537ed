import { compileRegex } from '@portico/regex'
import { hasOuterChoice, isPlainPath, isRegex as isUsableRegex, wholePattern } from '../http/paths.ts'
import type { Directive } from './directive.ts'

/** A `rewrite` directive that has a counterpart in the gateway. */
export interface Rewrite {
  readonly directive: Directive
  /** A pattern for the whole paths that the rewrite changes. */
  readonly regex: string
  /** Whether the rewrite changes every path. */
  readonly changesAll: boolean
  readonly effect: RewriteEffect
}

type RewriteEffect =
  | { readonly kind: 'redirect'; readonly status: number; readonly target: RedirectTarget }
  | { readonly kind: 'path'; readonly isLast: boolean; readonly path: NewPath }

/** The policies of a redirect. */
type RedirectTarget = Readonly<Record<string, unknown>>

/** The path and query of a request after a rewrite. */
export interface NewPath {
  /** A CEL expression for the new path and query. */
  readonly expression: string
  /** The text with which each new path begins. `isWhole` says that this text is the whole path. */
  readonly start: string
  readonly isWhole: boolean
  /** Whether `proxy_pass` sends the new path unchanged, without adding its own path. This is so after `break`. */
  readonly replacesUri: boolean
  /** Returns the new path for a path of the client, without a query. */
  pathFor(this: void, path: string): string
}

/** Reads a `rewrite` directive; returns the reason as a string when the directive has no counterpart. */
export function readRewrite(directive: Directive): Rewrite | string {
  const [source = '', text = '', flag = ''] = directive.args
  const regex = wholePattern(source)
  if (!isUsableRegex(regex)) return 'the pattern is not valid RE2 syntax, or too long'
  const replaced = searched(source)
  if (!compileRegex(replaced).ok) return 'the pattern is not valid RE2 syntax'
  const replacement = readReplacement(text, replaced)
  if (typeof replacement === 'string') return replacement
  const firstGroup = /\(([^]*)/.exec(source)?.[1] ?? ''
  const hasSlash = firstGroup.startsWith('/') || /^\^?\(/.test(source)
  if (replacement.origin === null && replacement.path?.startsWith('$') === true && !hasSlash) {
    return 'the new path does not begin with a slash'
  }
  const isRedirect = flag === 'redirect' || flag === 'permanent' || replacement.origin !== null
  const base = { directive, regex, changesAll: EVERY_PATH.test(source) }
  if (isRedirect) {
    const status = flag === 'permanent' ? 301 : 302
    return { ...base, effect: { kind: 'redirect', status, target: redirectTarget(replacement, source, status) } }
  }
  if (!['last', 'break', ''].includes(flag)) return 'the flag of the rewrite is not known'
  const path = newPath(replacement, replaced, flag === 'break')
  return path === null
    ? 'the new path contains variables'
    : { ...base, effect: { kind: 'path', isLast: flag !== 'break', path } }
}

const EVERY_PATH = /^(\^|\^\/|\^\(\.\*\)\$?|\^\/\(\.\*\)\$?|\^\.\*\$?|\.\*|\/|\(\.\*\))$/

/**
 * Extends a pattern to the whole path, because a rewrite replaces the whole path. The groups are those of the pattern's
 * first match.
 */
function searched(source: string): string {
  const pattern = source.replaceAll(/\(\?<(?![=!])/g, '(?P<')
  if (!pattern.startsWith('^') || hasOuterChoice(pattern)) return `^.*?(?:${pattern}).*$`
  return /(^|[^\\])(\\\\)*\$$/.test(pattern) ? pattern : `${pattern}.*$`
}

interface Replacement {
  /** Scheme and host as expressions; null when the replacement is only a path. */
  readonly origin: { readonly scheme: string; readonly host: string } | null
  /**
   * The path with `${1}` for groups of the pattern; null when the replacement keeps the client's path and query
   * (`$request_uri`).
   */
  readonly path: string | null
  /** The query of the replacement; null when the replacement has no query. */
  readonly query: string | null
  readonly keepsQuery: boolean
  readonly regex: string
}

const URL_PARTS =
  /^(?:(https?|\$scheme):\/\/([A-Za-z0-9.:_-]+|\$host|\$http_host))?(\/?\$request_uri|[^?]*)(?:\?(.*))?$/s

function readReplacement(text: string, regex: string): Replacement | string {
  const isCut = text.endsWith('?')
  const [, scheme, host = '', rawPath = '', rawQuery] = URL_PARTS.exec(isCut ? text.slice(0, -1) : text) ?? []
  if (scheme === undefined && /^(https?:|\$scheme)/.test(text))
    return 'the new address contains variables without a counterpart'
  const origin = scheme === undefined ? null : { scheme, host }
  const isClients = rawPath === '$request_uri'
  const path = isClients ? null : groupsOf(rawPath)
  const query = rawQuery === undefined ? null : groupsOf(rawQuery)
  if (path === null && !isClients) return 'the new path contains variables'
  if (rawQuery !== undefined && query === null) return 'the new query contains variables'
  if (isClients && origin === null) return 'the new path contains variables'
  if (origin === null && path !== null && !/^(\/|\$\{1\})/.test(path)) return 'the new path does not begin with a slash'
  return { origin, path, query, keepsQuery: !isCut, regex }
}

/** Returns the text of a replacement with `${1}` for groups; null when it contains variables. */
function groupsOf(text: string): string | null {
  if (/\$(?!\d|\{\d\})|[^\x21-\x7e]|["\\]/.test(text)) return null
  return text.replaceAll(
    /\$(?:\{(\d)\}|(\d))/g,
    (_all, braced: string | undefined, plain: string) => `\${${braced ?? plain}}`,
  )
}

/** Returns an expression for a text with groups of a pattern that fits the path. */
function textExpression(text: string, regex: string): string {
  if (!/\$\{\d\}/.test(text)) return JSON.stringify(text)
  return `request.path.regexReplace(${JSON.stringify(regex)}, ${JSON.stringify(text)})`
}

const CLIENT_QUERY = 'request.pathAndQuery.substring(request.path.size())'
const JOINED_QUERY =
  '(request.pathAndQuery.size() > request.path.size() + 1 ? "&" + request.pathAndQuery.substring(request.path.size() + 1) : "")'

function pathExpression({ path, query, keepsQuery, regex }: Replacement): string {
  if (path === null) return 'request.pathAndQuery'
  const text = textExpression(query === null ? path : `${path}?${query}`, regex)
  if (!keepsQuery) return text
  return `${text} + ${query === null ? CLIENT_QUERY : JOINED_QUERY}`
}

function newPath(replacement: Replacement, regex: string, replacesUri: boolean): NewPath | null {
  const { path, query } = replacement
  if (path === null) return null
  const replaced = query === null ? path : `${path}?${query}`
  const [start = ''] = path.split(/\$\{\d\}/)
  const pattern = compiled(regex)
  if (pattern === null) return null
  return {
    expression: pathExpression(replacement),
    start,
    replacesUri,
    isWhole: !/\$\{\d\}/.test(path),
    pathFor: (from) => from.replace(pattern, replaced.replaceAll(/\$\{(\d)\}/g, '$$$1')),
  }
}

function compiled(regex: string): RegExp | null {
  try {
    return new RegExp(regex.replaceAll('(?P<', '(?<'))
  } catch {
    return null
  }
}

/**
 * Returns the policies of a redirect: `requestRedirect` when the path stays the same or is literal, and otherwise a
 * response with a computed `Location`.
 */
function redirectTarget(replacement: Replacement, source: string, status: number): RedirectTarget {
  const { origin, path, query, keepsQuery } = replacement
  const isSame =
    path === null || (query === null && keepsQuery && KEEPS_PATH.some(([from, to]) => from.test(source) && path === to))
  const isText = path !== null && !path.includes('$') && query === null && keepsQuery && isPlainPath(path)
  if (isSame || isText) {
    const { scheme = '$scheme', host = '$host' } = origin ?? {}
    return {
      requestRedirect: {
        ...(scheme !== '$scheme' && { scheme }),
        ...(!host.startsWith('$') && { authority: host.includes(':') ? { full: host } : { host } }),
        ...(!isSame && { path: { full: path } }),
        status,
      },
    }
  }
  const value = `${originExpression(origin)} + ${pathExpression(replacement)}`
  return {
    directResponse: { status },
    transformation: { response: { set: [{ name: 'location', value }] } },
  }
}

function originExpression(origin: Replacement['origin']): string {
  const { scheme = '$scheme', host = '$host' } = origin ?? {}
  const start = scheme === '$scheme' ? 'request.scheme + "://"' : JSON.stringify(`${scheme}://`)
  if (host.startsWith('$')) return `${start} + request.host`
  return scheme === '$scheme' ? `${start} + ${JSON.stringify(host)}` : JSON.stringify(`${scheme}://${host}`)
}

/** Patterns with the replacements that leave the path unchanged. */
const KEEPS_PATH = [
  [/^(\^?\(\.\*\)\$?)$/, '${1}'],
  [/^\^?\/\(\.\*\)\$?$/, '/${1}'],
] as const
