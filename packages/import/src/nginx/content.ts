import { positionText } from '../core/source.ts'
import { type Access, joinAccess, readAccess } from './access.ts'
import { type Directive, Scope } from './directive.ts'
import { errorPageOf, fallbackOf } from './fallbacks.ts'
import type { Location } from './locations.ts'
import { readProxy } from './proxy.ts'
import { responseHeaders } from './response-headers.ts'
import { readReturn } from './return.ts'
import type { NewPath } from './rewrite.ts'
import type { Upstreams } from './upstreams.ts'

/** The upstream or the status that a request to a location gets. */
type Outcome =
  | { readonly kind: 'proxy'; readonly addresses: readonly string[]; pathFor(this: void, path: string): string }
  | { readonly kind: 'status'; readonly status: number }

/** The response to requests of a location. */
export interface Content {
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  readonly outcome: Outcome
  /** Whether access is checked before, so that tests need credentials. */
  readonly isGuarded: boolean
}

/** The parts of a config that a location refers to. */
export interface Surroundings {
  readonly server: Directive
  readonly http: Scope
  readonly upstreams: Upstreams
  readonly named: ReadonlyMap<string, Directive>
}

/** A block whose content is read. */
interface ContentBlock {
  /** Null for requests that no location takes. */
  readonly location: Location | null
  readonly scope: Scope
  readonly at: Directive
  /** The new path of requests that a `rewrite` sends here. */
  readonly path: NewPath | null
  /** Whether requests come from another location, so that `internal` allows them. */
  readonly isInside: boolean
  /** The checks of the location that the requests come from; null for requests of clients. */
  readonly before: Access | null
}

/** Reads the content of a block, and marks its directives. */
export function readContent(block: ContentBlock, around: Surroundings): Content {
  const { location, scope, at } = block
  if (at.name === 'location' && !at.isMarked) at.carried()
  if (location?.isIncomplete === true) {
    at.changed('a location within it is not carried, so its requests get 501', true)
    return reply(block, 501, `not imported: location at ${positionText(at.at)}\n`)
  }
  const response = responseHeaders(scope)
  const conditions = [...(location === null ? [] : scope.own), ...(around.server.block ?? [])]
  const denying = conditions.filter((each) => each.name === 'if').filter((each) => noteIf(each))
  // Locations within an internal one are internal too.
  const internal = scope.one('internal')
  if (internal !== null) internal.carried()
  if (internal !== null && !block.isInside) return reply(block, 404, 'not found\n')
  // `break` of the location itself ends its directives of the rewrite module.
  const isBroken = block.path?.replacesUri === true && !block.isInside
  const returned = isBroken ? null : scope.here('return')
  if (returned !== null) return returnedContent(block, returned, response, around)
  const own = readAccess(scope, around.http)
  const access = block.before === null ? own : joinAccess(block.before, own)
  if (denying.length > 0) return reply(block, 403, `not imported: if at ${positionText(at.at)}\n`)
  if (access.isDenied) return reply(block, 403, 'forbidden\n')
  if (access.isClosed) return reply(block, 403, `not imported: access rules at ${positionText(at.at)}\n`)
  const pass = scope.here('proxy_pass')
  if (pass === null) return fallbackContent(block, access, around)
  const tried = scope.here('try_files')
  if (tried !== null) {
    tried.notCarried('requests get 501: the upstream gets the path of a file that exists')
    return reply(block, 501, `not imported: try_files at ${positionText(tried.at)}\n`)
  }
  const proxy = readProxy(pass, scope, { location, upstreams: around.upstreams, path: block.path })
  if (typeof proxy === 'string') {
    pass.notCarried(`${proxy}; requests get 501`)
    return reply(block, 501, `not imported: proxy_pass at ${positionText(pass.at)}\n`)
  }
  return {
    policies: { ...access.policies, ...proxy.policies, ...response },
    backends: [...proxy.backends],
    isGuarded: 'authorization' in access.policies || 'basicAuthentication' in access.policies,
    outcome: { kind: 'proxy', addresses: proxy.backends.map(({ host }) => host), pathFor: proxy.pathFor },
  }
}

/** The content of a block without an upstream: files, or the named location for requests without a file. */
function fallbackContent(block: ContentBlock, access: Access, around: Surroundings): Content {
  const { location, at, before, scope } = block
  const fallback = before === null ? fallbackOf(scope) : null
  const target = fallback === null ? undefined : around.named.get(fallback.name)
  if (fallback !== null && target !== undefined) {
    if (target.block?.some(({ name }) => name === 'rewrite') !== true) {
      fallback.directive.changed(`files are not served: ${fallback.name} gets all requests`)
      return namedContent(block, target, access, around)
    }
    fallback.directive.notCarried(`requests get 501: ${fallback.name} rewrites paths`)
  }
  if (at.name === 'location')
    at.changed('no proxy_pass: files, FastCGI and others are not served, so its requests get 501')
  const status = location === null && before === null ? 404 : 501
  return reply(block, status, status === 404 ? 'not found\n' : `not imported: location at ${positionText(at.at)}\n`)
}

/** The content of a named location, for requests whose location has checked access. */
function namedContent(block: ContentBlock, target: Directive, before: Access, around: Surroundings): Content {
  target.carried()
  const scope = new Scope(target.block ?? [], new Scope(around.server.block ?? [], around.http))
  return readContent({ ...block, location: null, at: target, scope, before, isInside: true }, around)
}

/** The content of a `return`, which comes before the rules of access of its own block. */
function returnedContent(block: ContentBlock, returned: Directive, response: object, around: Surroundings): Content {
  const isLimited = block.scope.here('limit_except') !== null
  const page = isLimited ? null : errorPageOf(block.scope, returned)
  if (page !== null) {
    const target = page.name === null || block.before !== null ? undefined : around.named.get(page.name)
    if (target === undefined) {
      page.directive.notCarried('requests get 501: the page has another status than the error')
      return reply(block, 501, `not imported: error_page at ${positionText(page.directive.at)}\n`)
    }
    for (const each of [page.directive, returned]) each.carried()
    return namedContent(block, target, NOTHING_CHECKED, around)
  }
  // It does not respond to requests that limit_except denies.
  const found = isLimited ? 'limit_except comes first' : readReturn(returned)
  if (typeof found !== 'string') {
    const checked = block.before?.policies ?? {}
    const content = statusContent({ ...checked, ...found.policies, ...response }, found.status)
    return { ...content, isGuarded: Object.keys(checked).length > 0 }
  }
  returned.notCarried(`${found}; requests get 501`)
  return reply(block, 501, `not imported: return at ${positionText(returned.at)}\n`)
}

const NOTHING_CHECKED: Access = { policies: {}, isClosed: false, isDenied: false }

/** Content that is a status alone. */
export function statusContent(policies: Content['policies'], status: number): Content {
  return { policies, backends: [], isGuarded: false, outcome: { kind: 'status', status } }
}

/** A response of the gateway. Directives that have no effect then are marked. */
export function reply({ scope, at }: Pick<ContentBlock, 'scope' | 'at'>, status: number, body: string): Content {
  if (at.name === 'location') {
    for (const each of scope.own) {
      if (!each.isMarked && each.name !== 'location') each.notCarried('requests to the location do not get this far')
    }
  }
  return statusContent({ directResponse: { status, body } }, status)
}

/** Marks an `if`; returns whether it denies requests, so that its locations must stay closed. */
function noteIf(directive: Directive): boolean {
  const isDenying = (directive.block ?? []).some(
    ({ name, args }) => name === 'deny' || (name === 'return' && /^4/.test(args[0] ?? '')),
  )
  const effect = isDenying
    ? 'requests to its locations get 403 until you replace it'
    : 'requests are served as if the condition were never true'
  directive.notCarried(effect, true)
  for (const each of directive.block ?? []) each.notCarried('its `if` is not carried')
  return isDenying
}
