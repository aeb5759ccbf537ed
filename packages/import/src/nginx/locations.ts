import { compileRegex } from '@portico/regex'
import { wholePattern } from '../http/paths.ts'
import type { Directive } from './directive.ts'

/** How a location matches: `=`, `^~`, a prefix, or a regular expression with or without letter case. */
type LocationKind = '=' | '^~' | 'prefix' | '~' | '~*'

export interface Location {
  readonly kind: LocationKind
  /** A path, or a regular expression. */
  readonly path: string
  readonly directive: Directive
  /** The location that contains this location; null at the top level of a server. */
  readonly parent: Location | null
  readonly nested: readonly Location[]
  /**
   * Whether a nested location cannot be imported, so that the importer cannot tell which requests belong to this
   * location.
   */
  readonly isIncomplete: boolean
}

/** All locations of a server. */
interface LocationTree {
  readonly top: readonly Location[]
  /** The named locations, by a name that begins with `@`. */
  readonly named: ReadonlyMap<string, Directive>
}

/** Reads the locations of a server, including nested locations. */
export function readLocations(server: Directive): LocationTree {
  const named = new Map<string, Directive>()
  for (const directive of server.block ?? []) {
    const [name = '', second] = directive.args
    if (directive.name !== 'location' || !name.startsWith('@') || second !== undefined) continue
    if (named.has(name)) directive.notCarried('an earlier location has the same name or path')
    else {
      directive.notCarried('no imported location leads to this named location')
      named.set(name, directive)
    }
  }
  return { top: readLevel(server, null).found, named }
}

function readLevel(block: Directive, parent: Location | null): { found: Location[]; isComplete: boolean } {
  const found: Location[] = []
  let isComplete = true
  for (const directive of block.block ?? []) {
    if (directive.name !== 'location' || directive.args[0]?.startsWith('@') === true) continue
    const problem = addLocation(directive, parent, found)
    if (problem === null) continue
    directive.notCarried(problem.text, problem.isProtection)
    isComplete = false
  }
  return { found, isComplete }
}

/** Adds a location to `found`; returns why the location cannot be imported, or null. */
function addLocation(
  directive: Directive,
  parent: Location | null,
  found: Location[],
): { text: string; isProtection: boolean } | null {
  const head = readHead(directive)
  if (typeof head === 'string') return { text: head, isProtection: parent !== null }
  if (parent !== null && (parent.kind === '=' || isRegex(parent) || !isWithin(head, parent))) {
    return {
      text: 'requests to the outer location get 501, because the outer location cannot contain this location',
      isProtection: true,
    }
  }
  if (found.some(({ kind, path }) => kind === head.kind && path === head.path)) {
    return { text: 'an earlier location has the same name or path', isProtection: false }
  }
  if (isRegex(head)) {
    const compiled = compileRegex(wholeRegex(head))
    if (!compiled.ok) {
      const effect = parent === null ? 'requests go to other locations' : 'requests to the outer location get 501'
      return { text: `${effect}: the pattern is not RE2 (${compiled.message})`, isProtection: true }
    }
  }
  const nested: Location[] = []
  const location = { ...head, directive, parent, nested, isIncomplete: false }
  const inner = readLevel(directive, location)
  nested.push(...inner.found)
  location.isIncomplete = !inner.isComplete
  found.push(location)
  return null
}

function isWithin(inner: Pick<Location, 'kind' | 'path'>, outer: Location): boolean {
  return isRegex(inner) || inner.path.startsWith(outer.path)
}

/** Reads the kind and path of a `location`; returns the reason as a string when they have no counterpart. */
function readHead(directive: Directive): Pick<Location, 'kind' | 'path'> | string {
  const [first = '', second] = directive.args
  const [kind, path] = splitKind(first, second)
  if (kind === null || path === undefined || directive.args.length > 2) return 'the kind of location is not known'
  if (kind === '~' || kind === '~*') return { kind, path }
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#?]/.test(path)) return 'the path contains characters that need encoding'
  return { kind, path }
}

function splitKind(first: string, second: string | undefined): [LocationKind | null, string | undefined] {
  if (second !== undefined) {
    return first === '=' || first === '^~' || first === '~' || first === '~*' ? [first, second] : [null, undefined]
  }
  const glued = /^(=|\^~|~\*|~)(.+)$/.exec(first)
  return glued === null ? ['prefix', first] : [glued[1] as LocationKind, glued[2]]
}

export function isRegex({ kind }: Pick<Location, 'kind'>): boolean {
  return kind === '~' || kind === '~*'
}

export function isPrefix({ kind }: Pick<Location, 'kind'>): boolean {
  return kind === 'prefix' || kind === '^~'
}

/**
 * Whether a location passes requests to an upstream. nginx then redirects a path without a trailing slash to the
 * location's path.
 */
export function isProxied({ directive }: Location): boolean {
  return (directive.block ?? []).some(({ name }) => /^(proxy|fastcgi|uwsgi|scgi|grpc|memcached)_pass$/.test(name))
}

/** Returns a pattern for the whole path, because nginx searches a pattern anywhere in the path. */
export function wholeRegex({ kind, path }: Pick<Location, 'kind' | 'path'>): string {
  return wholePattern(kind === '~*' ? `(?i)${path}` : path)
}
