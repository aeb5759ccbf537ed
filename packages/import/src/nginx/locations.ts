import { escapeRegex, wholePattern } from '../http/paths.ts'
import type { Directive } from './directive.ts'

/** How a location matches: `=`, `^~`, a prefix, or a regular expression with or without letter case. */
type LocationKind = '=' | '^~' | 'prefix' | '~' | '~*'

export interface Location {
  readonly kind: LocationKind
  /** A path, or a regular expression. */
  readonly path: string
  readonly directive: Directive
}

/** Reads a `location`; a text says why it is not possible. */
export function readLocation(directive: Directive): Location | string {
  const [first = '', second] = directive.args
  const [kind, path] = splitKind(first, second)
  if (kind === null || path === undefined || directive.args.length > 2) return 'the location cannot be read'
  if (path.startsWith('@')) return 'a named location is reached only by error_page and try_files'
  if (kind === '~' || kind === '~*') return { kind, path, directive }
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#?]/.test(path)) return 'the path has characters that need encoding'
  return { kind, path, directive }
}

function splitKind(first: string, second: string | undefined): [LocationKind | null, string | undefined] {
  if (second !== undefined) {
    return first === '=' || first === '^~' || first === '~' || first === '~*' ? [first, second] : [null, undefined]
  }
  const glued = /^(=|\^~|~\*|~)(.+)$/.exec(first)
  return glued === null ? ['prefix', first] : [glued[1] as LocationKind, glued[2]]
}

/** The condition of a route on the path. */
export type PathMatch = { readonly exact: string } | { readonly pathPrefix: string } | { readonly regex: string }

/**
 * The path conditions of locations, so that the gateway chooses the same one as nginx: exact paths; `^~` prefixes, the longest
 * first; regular expressions in their order; prefixes, the longest first. The gateway tries longer patterns first, so patterns
 * are padded with empty groups where the order needs it.
 */
export function pathMatches(locations: readonly Location[]): Map<Location, PathMatch> {
  const matches = new Map<Location, PathMatch>()
  const prefixes = locations.filter(({ kind }) => kind === 'prefix')
  const regexes = locations.filter(({ kind }) => kind === '~' || kind === '~*')
  const firm = prefixes.filter((each) => isBelowFirm(each, locations) && regexes.length > 0)
  for (const each of locations.filter(({ kind }) => kind === '=')) matches.set(each, { exact: each.path })
  let longest = 1
  for (const each of prefixes.filter((prefix) => !firm.includes(prefix))) {
    const match = prefixMatch(each)
    matches.set(each, match)
    longest = Math.max(longest, 'regex' in match ? match.regex.length : 1)
  }
  for (const each of regexes.toReversed()) {
    const regex = padded(wholeRegex(each), regexes.length === 0 ? 0 : longest + 1)
    matches.set(each, { regex })
    longest = Math.max(longest, regex.length)
  }
  const last = [...locations.filter(({ kind }) => kind === '^~'), ...firm].toSorted(
    (a, b) => a.path.length - b.path.length,
  )
  for (const each of last) {
    const regex = padded(`${escapeRegex(each.path)}.*`, regexes.length === 0 ? 0 : longest + 1)
    matches.set(each, { regex })
    longest = Math.max(longest, regex.length)
  }
  return matches
}

/** Whether a prefix extends a `^~` prefix. */
function isBelowFirm({ kind, path }: Location, locations: readonly Location[]): boolean {
  return (
    kind === 'prefix' &&
    locations.some((each) => each.kind === '^~' && path.startsWith(each.path) && path !== each.path)
  )
}

function prefixMatch({ path }: Location): PathMatch {
  return path === '/' ? { pathPrefix: '/' } : { regex: `${escapeRegex(path)}.*` }
}

function padded(regex: string, length: number): string {
  return regex + '(?:)'.repeat(Math.max(0, Math.ceil((length - regex.length) / 4)))
}

/** nginx searches a pattern anywhere in the path; the gateway compares the whole path. */
function wholeRegex({ kind, path }: Location): string {
  return wholePattern(kind === '~*' ? `(?i)${path}` : path)
}

/** The location that nginx chooses for a path; null when none fits. */
export function chosenLocation(path: string, locations: readonly Location[]): Location | null {
  const exact = locations.find((each) => each.kind === '=' && each.path === path)
  if (exact !== undefined) return exact
  const [longest = null] = locations
    .filter((each) => (each.kind === 'prefix' || each.kind === '^~') && path.startsWith(each.path))
    .toSorted((a, b) => b.path.length - a.path.length)
  if (longest?.kind === '^~' || (longest !== null && isBelowFirm(longest, locations))) return longest
  const regex = locations.find((each) => {
    if (each.kind !== '~' && each.kind !== '~*') return false
    const source = wholeRegex(each).replace('(?i)', '').replaceAll('(?P<', '(?<')
    return new RegExp(`^(?:${source})$`, each.kind === '~*' ? 'i' : '').test(path)
  })
  return regex ?? longest
}
