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

/** The result that generated tests expect for a request to a location: an upstream or a status. */
type Outcome =
  | { readonly kind: 'proxy'; readonly addresses: readonly string[]; pathFor(this: void, path: string): string }
  | { readonly kind: 'status'; readonly status: number }

/** The policies and backends with which a location serves its requests. */
export interface Content {
  readonly policies: Readonly<Record<string, unknown>>
  readonly backends: readonly object[]
  readonly outcome: Outcome
  /** Whether requests must pass access checks, so that tests cannot reach the upstream without credentials. */
  readonly isGuarded: boolean
}

/** The parts of the nginx config that a location can refer to. */
export interface Surroundings {
  readonly server: Directive
  readonly http: Scope
  readonly upstreams: Upstreams
  readonly named: ReadonlyMap<string, Directive>
}

/** A block of the nginx config, such as a location, for which policies and backends are read. */
interface ContentBlock {
  /** The location of the block; null for requests that no location takes, and for named locations. */
  readonly location: Location | null
  readonly scope: Scope
  readonly at: Directive
  /** The new path after a `rewrite` whose requests reach this block; null when the path is the client's. */
  readonly path: NewPath | null
  /** Whether requests come from another location instead of a client. `internal` allows such requests. */
  readonly isInside: boolean
  /** The access checks of the location that passes its requests to this block; null for requests of clients. */
  readonly before: Access | null
}

/** Reads how a block serves requests, and sets the verdicts of its directives. */
export function readContent(block: ContentBlock, around: Surroundings): Content {
  const { location, scope, at } = block
  if (at.name === 'location' && !at.isMarked) at.carried()
  if (location?.isIncomplete === true) {
    at.changed('a nested location is not carried, so requests to this location get 501', true)
    return reply(block, 501, `not imported: location at ${positionText(at.at)}\n`)
  }
  const response = responseHeaders(scope)
  const conditions = [...(location === null ? [] : scope.own), ...(around.server.block ?? [])]
  const denying = conditions.filter((each) => each.name === 'if').filter((each) => noteIf(each))
  // nginx inherits `internal`: a location within an internal location is internal too.
  const internal = scope.one('internal')
  if (internal !== null) internal.carried()
  if (internal !== null && !block.isInside) return reply(block, 404, 'not found\n')
  // After a `rewrite … break` in the same location, nginx skips the other rewrite directives, including `return`.
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
    tried.notCarried('requests get 501, because try_files changes the path for existing files')
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

/**
 * Serves a block that has no `proxy_pass`: with the named location for missing files if there is one, and otherwise
 * with status 404 or 501.
 */
function fallbackContent(block: ContentBlock, access: Access, around: Surroundings): Content {
  const { location, at, before, scope } = block
  const fallback = before === null ? fallbackOf(scope) : null
  const target = fallback === null ? undefined : around.named.get(fallback.name)
  if (fallback !== null && target !== undefined) {
    if (target.block?.some(({ name }) => name === 'rewrite') !== true) {
      fallback.directive.changed(`the gateway serves no files, so ${fallback.name} gets all requests`)
      return namedContent(block, target, access, around)
    }
    fallback.directive.notCarried(`requests get 501, because ${fallback.name} rewrites paths`)
  }
  if (at.name === 'location')
    at.changed('requests get 501, because the location has no proxy_pass and the gateway serves no files or FastCGI')
  const status = location === null && before === null ? 404 : 501
  return reply(block, status, status === 404 ? 'not found\n' : `not imported: location at ${positionText(at.at)}\n`)
}

/** Reads a named location for the requests of another location, which has already checked access (`before`). */
function namedContent(block: ContentBlock, target: Directive, before: Access, around: Surroundings): Content {
  target.carried()
  const scope = new Scope(target.block ?? [], new Scope(around.server.block ?? [], around.http))
  return readContent({ ...block, location: null, at: target, scope, before, isInside: true }, around)
}

/** Reads a `return` directive. nginx runs `return` before it checks the access rules of the same block. */
function returnedContent(block: ContentBlock, returned: Directive, response: object, around: Surroundings): Content {
  const isLimited = block.scope.here('limit_except') !== null
  const page = isLimited ? null : errorPageOf(block.scope, returned)
  if (page !== null) {
    const target = page.name === null || block.before !== null ? undefined : around.named.get(page.name)
    if (target === undefined) {
      page.directive.notCarried('requests get 501, because the error page changes the status')
      return reply(block, 501, `not imported: error_page at ${positionText(page.directive.at)}\n`)
    }
    for (const each of [page.directive, returned]) each.carried()
    return namedContent(block, target, NOTHING_CHECKED, around)
  }
  // nginx checks `limit_except` before `return`, which routes cannot express.
  const found = isLimited ? 'nginx checks limit_except before return' : readReturn(returned, around.server)
  if (typeof found !== 'string') {
    for (const each of block.scope.own) {
      if (each.name === 'allow' || each.name === 'deny') each.carried('nginx runs `return` first')
    }
    const checked = block.before?.policies ?? {}
    const content = statusContent({ ...checked, ...found.policies, ...response }, found.status)
    return { ...content, isGuarded: Object.keys(checked).length > 0 }
  }
  returned.notCarried(`${found}; requests get 501`)
  return reply(block, 501, `not imported: return at ${positionText(returned.at)}\n`)
}

const NOTHING_CHECKED: Access = { policies: {}, isClosed: false, isDenied: false }

/** Returns content that is a response with a status. */
export function statusContent(policies: Content['policies'], status: number): Content {
  return { policies, backends: [], isGuarded: false, outcome: { kind: 'status', status } }
}

/** Returns content that is a response of the gateway, and notes the other directives of the location as unused. */
export function reply({ scope, at }: Pick<ContentBlock, 'scope' | 'at'>, status: number, body: string): Content {
  if (at.name === 'location') {
    for (const each of scope.own) {
      if (!each.isMarked && each.name !== 'location')
        each.notCarried('an earlier directive responds to all requests of the location')
    }
  }
  return statusContent({ directResponse: { status, body } }, status)
}

/**
 * Reports an `if` block as not carried. Returns whether the block denies requests, so that its locations must be
 * closed.
 */
function noteIf(directive: Directive): boolean {
  const isDenying = (directive.block ?? []).some(
    ({ name, args }) => name === 'deny' || (name === 'return' && /^4/.test(args[0] ?? '')),
  )
  const effect = isDenying
    ? 'requests to the locations of the block get 403 until you configure a replacement'
    : 'the gateway serves requests as if the condition were never true'
  directive.notCarried(effect, true)
  for (const each of directive.block ?? []) each.notCarried('the `if` around this directive is not carried')
  return isDenying
}
