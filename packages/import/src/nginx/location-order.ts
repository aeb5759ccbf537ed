import { ANY_MATCH, type HttpMatch } from '../http/model.ts'
import { escapeRegex, literalStart } from '../http/paths.ts'
import { isPrefix, isProxied, isRegex, type Location, wholeRegex } from './locations.ts'

/** A location with one match for some of its requests. */
interface LocationMatch {
  readonly location: Location
  readonly match: HttpMatch
}

/**
 * Returns the matches of all locations in an order in which the first match is the location that nginx chooses: exact
 * paths; prefixes with their own list of regular expressions, the longest first; the regular expressions of the server;
 * all other prefixes. A prefix has its own list when regular expressions are nested in it, or when it is `^~` or within
 * `^~`.
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

/** Whether requests can reach a nested location: at the outer levels, no other location takes all of its requests. */
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

/**
 * Whether nginx redirects a path to the same path with a slash, because only a location with the slash exists at this
 * level.
 */
function hasSlashRedirect(level: readonly Location[], path: string): boolean {
  const fixed = level.filter((each) => !isRegex(each))
  return fixed.some((each) => each.path === `${path}/` && isProxied(each)) && !fixed.some((each) => each.path === path)
}

function siblingsOf({ parent }: Location, top: readonly Location[]): readonly Location[] {
  return parent === null ? top : parent.nested
}

/** Whether a prefix contains a nested prefix with the same path, which takes all of its requests. */
function hasSamePathWithin({ path, nested }: Location): boolean {
  return nested.some((each) => isPrefix(each) && each.path === path)
}

/** Returns the regular expressions that nginx tries before it uses a prefix, in their order. */
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

/**
 * Returns a match for paths that fit a pattern and begin with a text. The condition on the start uses `:path`, which
 * also contains the query.
 */
export function patternWithin(regex: string, start: string): HttpMatch {
  const path = { kind: 'pattern', regex } as const
  if (start === '/' || literalStart(regex).startsWith(start)) return { ...ANY_MATCH, path }
  return { ...ANY_MATCH, path, headers: [{ name: ':path', value: { regex: `${escapeRegex(start)}.*` } }] }
}
