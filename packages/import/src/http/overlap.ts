import type { FieldCondition, HttpMatch, PathCondition } from './model.ts'
import { anyCase, fitsPath, literalOfRegex, literalStart, regexOf } from './paths.ts'

/** Whether a request can fit both matches; true when the importer cannot tell. */
export function canOverlap(one: HttpMatch, other: HttpMatch): boolean {
  if (one.method !== null && other.method !== null && one.method !== other.method) return false
  return (
    pathsOverlap(one.path, other.path) && !one.headers.some((each) => other.headers.some((its) => excludes(each, its)))
  )
}

/**
 * Whether two conditions exclude each other. This is certain only for pseudo-headers such as `:authority`, because
 * other headers can be sent twice.
 */
function excludes(one: FieldCondition, other: FieldCondition): boolean {
  return (
    one.name === other.name &&
    one.name.startsWith(':') &&
    'exact' in one.value &&
    'exact' in other.value &&
    one.value.exact !== other.value.exact
  )
}

export function pathsOverlap(one: PathCondition | null, other: PathCondition | null): boolean {
  if (one === null || other === null) return true
  const [anyOne, anyOther] = [anyCase(one), anyCase(other)]
  // A path without letters is the same in any letter case.
  if (isCaseless(one) !== isCaseless(other) && isCaseless(anyOne) === isCaseless(anyOther)) {
    return pathsOverlap(anyOne, anyOther)
  }
  if (one.kind === 'exact') return fitsPath(other, one.path) !== false
  if (other.kind === 'exact') return fitsPath(one, other.path) !== false
  if (one.kind === 'pattern' || other.kind === 'pattern') {
    const [start, second] = [startOf(one), startOf(other)]
    return start.startsWith(second) || second.startsWith(start)
  }
  return isPathWithin(one, other) || isPathWithin(other, one)
}

function isCaseless(path: PathCondition): boolean {
  return path.kind === 'pattern' ? path.regex.startsWith('(?i)') : path.isCaseless === true
}

/** Whether every path that fits the first condition also fits the second; false when the importer cannot tell. */
export function isPathWithin(inner: PathCondition | null, outer: PathCondition | null): boolean {
  if (outer === null || (outer.kind !== 'exact' && outer.kind !== 'pattern' && outer.path === '/')) return true
  if (inner === null) return false
  if (inner.kind === 'pattern') return outer.kind === 'pattern' && outer.regex === inner.regex
  if (isCaseless(outer) && !isCaseless(inner) && anyCase(inner) !== inner) return isPathWithin(anyCase(inner), outer)
  // A path in another letter case fits `inner`, but not `outer`.
  if (isCaseless(inner) && !isCaseless(outer) && anyCase(outer) !== outer) return false
  if (inner.kind === 'exact') return fitsPath(outer, inner.path) === true
  if (outer.kind === 'start') return inner.path.startsWith(outer.path)
  if (outer.kind === 'segments') {
    const isSame = inner.path === outer.path && inner.kind === 'segments'
    return isSame || inner.path.startsWith(`${outer.path}/`)
  }
  return false
}

/** Returns a text that all paths of the condition begin with. */
function startOf(path: PathCondition): string {
  return path.kind === 'pattern' ? literalStart(path.regex) : path.path
}

/** Returns a pattern for the paths that fit both conditions; null when the importer finds none. */
export function commonPattern(one: PathCondition, other: PathCondition): PathCondition | null {
  if (other.kind === 'start') return one.kind === 'start' ? null : commonPattern(other, one)
  if (one.kind !== 'start' || other.kind !== 'pattern' || isCaseless(one) !== isCaseless(other)) return null
  // A path can begin with one text and end with another when the two texts cannot share characters.
  const regex = other.regex.replace('(?i)', '')
  const end = regex.startsWith('.*') ? literalOfRegex(regex.slice(2)) : null
  if (end === null || end === '') return null
  for (let size = 1; size <= Math.min(end.length, one.path.length); size++) {
    if (one.path.toLowerCase().endsWith(end.slice(0, size).toLowerCase())) return null
  }
  return { kind: 'pattern', regex: `${regexOf(one)}${regex.slice(2)}` }
}
