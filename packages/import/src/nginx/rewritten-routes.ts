import { positionText } from '../core/source.ts'
import { ANY_MATCH, type HttpMatch } from '../http/model.ts'
import { canOverlap } from '../http/overlap.ts'
import { fitsRegex, isRegex as isUsableRegex, literalStart, patternBeforeQuery } from '../http/paths.ts'
import { chosenLocation, prefixChain } from './choose-location.ts'
import { type Content, readContent, reply, statusContent, type Surroundings } from './content.ts'
import { type Directive, Scope } from './directive.ts'
import { flattened, patternWithin, regexesOf } from './location-order.ts'
import { isRegex, type Location, wholeRegex } from './locations.ts'
import { responseHeaders } from './response-headers.ts'
import { type NewPath, readRewrite, type Rewrite } from './rewrite.ts'

/** A route for requests that a `rewrite` changes, or for requests that no `rewrite` of their location changes. */
interface RewrittenRoute extends Content {
  readonly location: Location | null
  readonly match: HttpMatch
  readonly at: Directive
}

interface RewrittenLocation {
  readonly location: Location
  readonly match: HttpMatch
  readonly top: readonly Location[]
  scopeOf(this: void, location: Location): Scope
}

/** Returns the routes of a location with `rewrite` directives; null when the location has none, or is internal. */
export function rewrittenRoutes(
  { location, match, top, scopeOf }: RewrittenLocation,
  around: Surroundings,
): RewrittenRoute[] | null {
  const at = location.directive
  const scope = scopeOf(location)
  const directives = rewritesBeforeReturn(scope.own)
  // Requests of clients do not reach an internal location, so its rewrites change none of them.
  if (directives.length === 0 || scope.one('internal') !== null) return null
  const block = { location, scope, at, path: null, isInside: false, before: null }
  const closed = (why: string): RewrittenRoute[] => {
    if (!at.isMarked) at.carried()
    for (const each of directives)
      each.notCarried(`${why}; requests to the location get 501 until you configure a replacement`)
    const [first = at] = directives
    return [{ location, match, at, ...reply(block, 501, `not imported: rewrite at ${positionText(first.at)}\n`) }]
  }
  const rewrites = inOrder(directives, scope)
  if (typeof rewrites === 'string') return closed(rewrites)
  if (scope.here('limit_except') !== null) return closed('nginx does not rewrite requests that limit_except denies')
  if (!at.isMarked) at.carried()
  const routes: RewrittenRoute[] = []
  for (const rewrite of rewrites) {
    const own = commonMatch(match, rewrite, location)
    if (own === undefined) return closed('the patterns of the location and the rewrite cannot be joined')
    if (own === null) {
      rewrite.directive.carried('the rewrite changes no path of the location')
      continue
    }
    const { effect, directive } = rewrite
    const isBreak = effect.kind === 'path' && !effect.isLast
    const content = isBreak
      ? readContent({ ...block, path: effect.path }, around)
      : contentAfter(rewrite, { location, top, scopeOf, scope }, around)
    if (isBreak) directive.carried()
    routes.push({ location, match: own, at: directive, ...content })
    if (own === match) return routes
  }
  return [...routes, { location, match, at, ...readContent(block, around) }]
}

/**
 * Returns the routes for the `rewrite` directives of a server. `isComplete` says that they take all requests, so that
 * none reaches a location.
 */
export function serverRewrites(
  around: Surroundings,
  top: readonly Location[],
): { routes: RewrittenRoute[]; isComplete: boolean } {
  const { server, http } = around
  const scope = new Scope(server.block ?? [], http)
  const scopeOf = ({ directive, parent }: Location): Scope =>
    new Scope(directive.block ?? [], parent === null ? scope : scopeOf(parent))
  const directives = rewritesBeforeReturn(server.block ?? [])
  const base = { location: null, at: server }
  const rewrites = inOrder(directives, scope)
  if (typeof rewrites === 'string') {
    for (const each of directives)
      each.notCarried(`${rewrites}; requests to the server get 501 until you configure a replacement`)
    const closed = reply(
      { scope, at: server },
      501,
      `not imported: rewrite at ${positionText(directives[0]?.at ?? server.at)}\n`,
    )
    return { routes: [{ ...base, match: ANY_MATCH, ...closed }], isComplete: true }
  }
  const routes: RewrittenRoute[] = []
  for (const rewrite of rewrites) {
    const match = rewrite.changesAll ? ANY_MATCH : patternWithin(rewrite.regex, '/')
    const content = contentAfter(rewrite, { location: null, top, scopeOf, scope }, around)
    routes.push({ ...base, match, at: rewrite.directive, ...content })
    if (rewrite.changesAll) return { routes, isComplete: true }
  }
  return { routes, isComplete: false }
}

/** Returns the rewrites before the first `return` of a block. Rewrites after it have no effect. */
function rewritesBeforeReturn(block: readonly Directive[]): Directive[] {
  const returns = block.findIndex(({ name }) => name === 'return')
  return block.filter((each, index) => {
    if (each.name !== 'rewrite') return false
    const isReached = returns < 0 || index < returns
    if (!isReached) each.carried('a `return` before this rewrite responds to all requests')
    return isReached
  })
}

/**
 * Reads rewrites of which only the first match applies. Returns the reason as a string when a rewrite has no
 * counterpart, or when later directives also apply to its result.
 */
function inOrder(directives: readonly Directive[], scope: Scope): Rewrite[] | string {
  const hasReturn = scope.here('return') !== null
  const found: Rewrite[] = []
  for (const [index, directive] of directives.entries()) {
    const rewrite = readRewrite(directive)
    if (typeof rewrite === 'string') return rewrite
    const isOpen = rewrite.effect.kind === 'path' && directive.args[2] === undefined
    if (isOpen && (hasReturn || index < directives.length - 1))
      return 'a rewrite without a flag continues with later directives'
    found.push(rewrite)
  }
  return found
}

/**
 * Returns a match for the requests of a location that a rewrite changes; null when it changes none, undefined when
 * routes cannot express the match.
 */
function commonMatch(
  match: HttpMatch,
  { regex, changesAll }: Rewrite,
  location: Location,
): HttpMatch | null | undefined {
  const { path } = match
  if (changesAll || path === null) return match
  if (path.kind === 'exact') {
    const isFit = fitsRegex(regex, path.path)
    return isFit === null ? undefined : isFit ? match : null
  }
  if (match.headers.length > 0) return undefined
  if (path.kind === 'pattern') {
    const second = patternBeforeQuery(path.regex)
    return second === null || !isUsableRegex(second)
      ? undefined
      : { ...match, path: { kind: 'pattern', regex }, headers: [{ name: ':path', value: { regex: second } }] }
  }
  return takesAll(regex, location.path) ? match : patternWithin(regex, path.path)
}

/** Whether a pattern fits every path that begins with a text: the pattern is a start of this text, followed by `.*`. */
function takesAll(regex: string, start: string): boolean {
  const literal = literalStart(regex)
  if (literal === '' || !start.startsWith(literal)) return false
  const rest = regex.slice(literal.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').length)
  const isAnything = /^(\/\?)?(\.\*|\(\.\*\))(\.\*)?$/.test(rest)
  return isAnything || (/^(\/\.\*|\(\/\.\*\))(\.\*)?$/.test(rest) && start.startsWith(`${literal}/`))
}

interface RewriteTargets extends Omit<RewrittenLocation, 'match' | 'location'> {
  readonly location: Location | null
  /** The directives of the block that contains the rewrite. */
  readonly scope: Scope
}

/** Reads how requests are served after a rewrite: by a redirect, or by the location of the new path. */
function contentAfter(rewrite: Rewrite, targets: RewriteTargets, around: Surroundings): Content {
  const { directive, effect } = rewrite
  const { scope, top, scopeOf } = targets
  if (effect.kind === 'redirect') {
    directive.carried()
    return statusContent({ ...effect.target, ...responseHeaders(scope) }, effect.status)
  }
  const target = targetOf(effect.path, top)
  if (target === null || hasRewrites(target, effect.path)) {
    directive.notCarried('requests get 501, because the location of the new path depends on the request')
    return reply({ scope, at: around.server }, 501, `not imported: rewrite at ${positionText(directive.at)}\n`)
  }
  directive.carried()
  return readContent(
    { location: target, scope: scopeOf(target), at: target.directive, path: effect.path, isInside: true, before: null },
    around,
  )
}

/** Whether a location may rewrite the new path again. */
function hasRewrites({ directive }: Location, path: NewPath): boolean {
  const rewritten: HttpMatch = { ...ANY_MATCH, path: { kind: path.isWhole ? 'exact' : 'start', path: path.start } }
  return (directive.block ?? []).some((each) => {
    if (each.name !== 'rewrite') return false
    const rewrite = readRewrite(each)
    return typeof rewrite === 'string' || canOverlap(rewritten, patternWithin(rewrite.regex, '/'))
  })
}

/** Returns the location that serves every new path; null when the location depends on the request. */
function targetOf({ start, isWhole }: NewPath, top: readonly Location[]): Location | null {
  if (!start.startsWith('/')) return null
  const all = flattened(top).filter((each) => !isRegex(each))
  // If only a location with a trailing slash exists, nginx redirects the path to the same path with the slash.
  if (all.some(({ path }) => path === `${start}/`)) return null
  if (isWhole) return chosenLocation(start, top)
  const target = prefixChain(start, top).at(-1)
  if (target === undefined || all.some((each) => each !== target && each.path.startsWith(start))) return null
  const rewritten: HttpMatch = { ...ANY_MATCH, path: { kind: 'start', path: start } }
  const mayFit = regexesOf(target, top).some((each) => canOverlap(rewritten, patternWithin(wholeRegex(each), '/')))
  return mayFit ? null : target
}
