import { ANY_MATCH, type HttpMatch } from '../http/model.ts'
import { escapeRegex, literalStart } from '../http/paths.ts'
import { isPrefix, isProxied, isRegex, type Location, wholeRegex } from './locations.ts'

/** Some of the requests that a location takes. */
interface LocationMatch {
  readonly location: Location
  readonly match: HttpMatch
}

/**
 * The matches of locations, so that the first one that fits is the location that nginx chooses: exact paths; prefixes with
 * regular expressions of their own, the longest first; the regular expressions of the server; other prefixes. A prefix has
 * regular expressions of its own when it has nested ones, or is below `^~`.
 */
export function locationMatches(top: readonly Location[]): LocationMatch[] {
  const all = flattened(top)
  const common = top.filter(isRegex)
  const prefixes = all
    .filter((each) => isPrefix(each) && isReached(each, top) && !hasSamePathWithin(each))
    .toSorted((one, other) => other.path.length - one.path.length)
  const special = new Set<Location>()
  for (const each of prefixes.toReversed()) {
    const own = regexesOf(each, top)
    const isSame = own.length === common.length && own.every((regex, index) => regex === common[index])
    if (!isSame || [...special].some(({ path }) => each.path.startsWith(path))) special.add(each)
  }
  const isAllSpecial = [...special].some(({ path }) => path === '/')
  return [
    ...all.filter((each) => each.kind === '=' && isReached(each, top)).map(exactMatch),
    ...prefixes
      .filter((each) => special.has(each))
      .flatMap((each) => [...regexesOf(each, top).map((regex) => regexWithin(regex, each)), prefixMatch(each)]),
    ...(isAllSpecial ? [] : common.map((each) => regexWithin(each, null))),
    ...prefixes.filter((each) => !special.has(each)).map(prefixMatch),
  ]
}

export function flattened(level: readonly Location[]): Location[] {
  return level.flatMap((each) => [each, ...flattened(each.nested)])
}

/** Whether nginx reaches a location in the one around it: no other location there takes all of its requests. */
export function isReached(
  { kind, path, parent }: Pick<Location, 'kind' | 'path' | 'parent'>,
  top: readonly Location[],
): boolean {
  for (let at = parent; at !== null; at = at.parent) {
    const around = at
    const isTaken = siblingsOf(around, top).some(
      (each) =>
        (isPrefix(each) && each.path.length > around.path.length && path.startsWith(each.path)) ||
        (kind === '=' && each.kind === '=' && each.path === path),
    )
    if (isTaken || (kind === '=' && hasSlashRedirect(siblingsOf(around, top), path))) return false
  }
  return true
}

/** Whether nginx adds a slash to a path that no location of the level has without it. */
function hasSlashRedirect(level: readonly Location[], path: string): boolean {
  const fixed = level.filter((each) => !isRegex(each))
  return fixed.some((each) => each.path === `${path}/` && isProxied(each)) && !fixed.some((each) => each.path === path)
}

function siblingsOf({ parent }: Location, top: readonly Location[]): readonly Location[] {
  return parent === null ? top : parent.nested
}

/** A prefix within a prefix of the same path takes all of its requests. */
function hasSamePathWithin({ path, nested }: Location): boolean {
  return nested.some((each) => isPrefix(each) && each.path === path)
}

/** The regular expressions that nginx tries before a prefix, in their order. */
export function regexesOf(prefix: Location, top: readonly Location[]): Location[] {
  const found = prefix.nested.filter(isRegex)
  for (let at: Location | null = prefix; at !== null; at = at.parent) {
    if (at.kind !== '^~') found.push(...siblingsOf(at, top).filter(isRegex))
  }
  return found
}

function exactMatch(location: Location): LocationMatch {
  return { location, match: { ...ANY_MATCH, path: { kind: 'exact', path: location.path } } }
}

function prefixMatch(location: Location): LocationMatch {
  return { location, match: { ...ANY_MATCH, path: { kind: 'start', path: location.path } } }
}

function regexWithin(location: Location, prefix: Location | null): LocationMatch {
  return { location, match: patternWithin(wholeRegex(location), prefix?.path ?? '/') }
}

/** A match for paths that fit a pattern and begin with a text: `:path` has the query too. */
export function patternWithin(regex: string, start: string): HttpMatch {
  const path = { kind: 'pattern', regex } as const
  if (start === '/' || literalStart(regex).startsWith(start)) return { ...ANY_MATCH, path }
  return { ...ANY_MATCH, path, headers: [{ name: ':path', value: { regex: `${escapeRegex(start)}.*` } }] }
}
