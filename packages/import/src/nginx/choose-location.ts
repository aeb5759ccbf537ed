import { isPrefix, isRegex, type Location, wholeRegex } from './locations.ts'

/** Returns the location that nginx chooses for a path; null when no location fits. */
export function chosenLocation(path: string, top: readonly Location[]): Location | null {
  return choose(path, top)?.location ?? null
}

interface Choice {
  readonly location: Location
  /** Whether the choice is final, so that nginx does not try the regular expressions of outer levels. */
  readonly isFinal: boolean
}

function choose(path: string, level: readonly Location[]): Choice | null {
  const exact = level.find((each) => each.kind === '=' && each.path === path)
  if (exact !== undefined) return { location: exact, isFinal: true }
  const longest = longestPrefix(path, level)
  const inner = longest === null ? null : choose(path, longest.nested)
  if (inner?.isFinal === true) return inner
  const regex = longest?.kind === '^~' ? undefined : level.find((each) => isRegex(each) && fits(path, each))
  if (regex !== undefined) return { location: regex, isFinal: true }
  return inner ?? (longest === null ? null : { location: longest, isFinal: false })
}

/** Returns the nested prefix locations that match a path, from the outermost to the innermost. */
export function prefixChain(path: string, top: readonly Location[]): Location[] {
  const longest = longestPrefix(path, top)
  return longest === null ? [] : [longest, ...prefixChain(path, longest.nested)]
}

function longestPrefix(path: string, level: readonly Location[]): Location | null {
  return level
    .filter((each) => isPrefix(each) && path.startsWith(each.path))
    .reduce<Location | null>((most, each) => (most === null || each.path.length > most.path.length ? each : most), null)
}

function fits(path: string, location: Location): boolean {
  const source = wholeRegex(location).replace('(?i)', '').replaceAll('(?P<', '(?<')
  return new RegExp(`^(?:${source})$`, location.kind === '~*' ? 'i' : '').test(path)
}
