import type { Condition } from '../http/conditions.ts'
import type { PathCondition } from '../http/model.ts'
import { anyCase, escapeRegex, fitsPath, isRegex } from '../http/paths.ts'

/**
 * The path of a request after rewrites: a literal prefix, followed by the client's path without its first characters.
 */
export interface PathState {
  readonly prefix: string
  /** The removed start of the client's path, in any letter case; null when no part of the client's path is left. */
  readonly cut: string | null
  /** The new query; null when the query is still that of the client. */
  readonly query: string | null
  /** Whether the path lacks its leading slash, so that upstreams reject the request. */
  readonly isBroken: boolean
}

export const CLIENT_PATH: PathState = { prefix: '', cut: '', query: null, isBroken: false }

/** Converts a condition on the rewritten path to a condition on the client's path. */
export function conditionBefore(path: PathCondition, { prefix, cut }: PathState): Condition {
  if (prefix === '' && cut === '') return { kind: 'path', path }
  if (cut === null) {
    const fits = fitsPath(path, prefix)
    return fits === null
      ? { kind: 'unknown', why: 'an earlier rewrite changes the path' }
      : { kind: 'always', value: fits }
  }
  if (path.kind === 'pattern') {
    const regex = path.regex.startsWith('(?i)')
      ? `(?i)${escapeRegex(cut)}${path.regex.slice(4)}`
      : anyLetterCase(cut) + path.regex
    if (prefix === '' && isRegex(regex)) return { kind: 'path', path: { kind: 'pattern', regex } }
    return { kind: 'unknown', why: 'an earlier rewrite changes the path' }
  }
  const start = path.isCaseless === true ? prefix.toLowerCase() : prefix
  if (path.path.startsWith(start)) {
    const before = { kind: path.kind, path: cut + path.path.slice(prefix.length) }
    return before.path === ''
      ? { kind: 'always', value: true }
      : { kind: 'path', path: cut === '' ? { ...path, ...before } : anyCase(before) }
  }
  return { kind: 'always', value: path.kind !== 'exact' && start.startsWith(path.path) }
}

function anyLetterCase(text: string): string {
  return escapeRegex(text).replaceAll(/[a-z]/gi, (sign) => `[${sign.toLowerCase()}${sign.toUpperCase()}]`)
}

/** Removes a prefix from the path; returns null when the importer cannot tell the result. */
export function withoutPrefix(state: PathState, text: string): PathState | null {
  if (state.prefix === '') return state.cut === null ? null : { ...state, cut: state.cut + text }
  return state.prefix.toLowerCase().startsWith(text.toLowerCase())
    ? { ...state, prefix: state.prefix.slice(text.length) }
    : null
}

/**
 * Returns a CEL expression for the path and query of upstream requests; null when they are the client's path and query.
 */
export function pathExpression({ prefix, cut, query }: PathState): string | null {
  if (prefix === '' && cut === '' && query === null) return null
  const path = prefix === '' && cut === null ? '/' : prefix
  const parts = [
    ...(path === '' ? [] : [JSON.stringify(path + (cut === null && query !== null ? queryText(query) : ''))]),
    ...(query === null
      ? [
          cut === ''
            ? 'request.pathAndQuery'
            : `request.pathAndQuery.substring(${cut === null ? 'request.path.size()' : cut.length})`,
        ]
      : cut === null
        ? []
        : [
            cut === '' ? 'request.path' : `request.path.substring(${cut.length})`,
            ...(query === '' ? [] : [JSON.stringify(queryText(query))]),
          ]),
  ]
  return parts.join(' + ')
}

function queryText(query: string): string {
  return query === '' ? '' : `?${query}`
}

/** Returns the path and query of the upstream request for a path of the client. */
export function pathAfter({ prefix, cut, query }: PathState, path: string): string {
  const found = prefix + (cut === null ? '' : path.slice(cut.length))
  return (found === '' ? '/' : found) + queryText(query ?? '')
}
