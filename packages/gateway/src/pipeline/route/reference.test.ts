import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { applyChange, changeBetween, EMPTY_IR } from '../../ir/change.ts'
import type { Route, RouteMatch, ValueMatch } from '../../ir/resources.ts'
import { canonicalHostname } from './hostname.ts'
import { compileRegex } from '@portico/regex'
import { type RoutesChange, RouteTable } from './route-table.ts'
import type { RequestParts } from './test-routes.ts'
import { exact, is, like, makeRequest, makeRoute, prefix, regex } from './test-routes.ts'
import { firstQueryValue } from './query.ts'
import type { RoutableRequest } from './request.ts'

/** Unless all cases are wanted, a share of them runs. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

describe('route table against a sorted list', () => {
  it('finds the same match', () => {
    let found = 0
    fc.assert(
      fc.property(
        fc.array(generatedRoute, { maxLength: 8 }),
        fc.array(generatedRequest, { minLength: 3, maxLength: 3 }),
        (parts, requests) => {
          const routes = parts.map((part, index) => makeRoute(index, part))
          const table = RouteTable.of(routes.map((route) => ({ route, value: route })))
          for (const request of requests) {
            const actual = table.find(makeRequest(request))
            const expected = slowFind(routes, makeRequest(request))
            assert.deepEqual(actual && [actual.routeKey, actual.matchIndex], expected)
            const explained = table.explain(makeRequest(request))
            assert.equal(explained.found, actual)
            if (actual !== null) {
              found++
              assert.ok(explained.evaluated.includes(actual.routeKey))
            } else assert.ok(explained.rejected.every(({ lacks }) => lacks.length > 0))
          }
        },
      ),
      // The cases are counted, so that none may be left out to save time.
      { seed: 70, numRuns: 3000 * SHARE, interruptAfterTimeLimit: 60_000 },
    )
    assert.ok(found > 2000 * SHARE, `${found} found`)
  })

  it('finds the same match when it is made of another table', () => {
    let found = 0
    const picks = fc.array(fc.uniqueArray(fc.nat(9), { maxLength: 10 }), { minLength: 2, maxLength: 5 })
    const all = fc.array(generatedRoute, { minLength: 10, maxLength: 10 })
    const replaced = fc.array(fc.tuple(fc.nat(9), generatedRoute), { maxLength: 5 })
    const asked = fc.array(generatedRequest, { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(all, picks, replaced, asked, (parts, lists, others, requests) => {
        const routes = parts.map((part, index) => makeRoute(index, part))
        let before: Route[] = []
        let table = RouteTable.of<Route>([])
        const check = (after: Route[]): void => {
          table = table.after(changeOf(before, after))
          before = after
          const fresh = RouteTable.of(after.map((route) => ({ route, value: route })))
          for (const request of requests.map(makeRequest)) {
            const actual = table.find(request)
            assert.deepEqual(actual && [actual.routeKey, actual.matchIndex], slowFind(after, request))
            assert.deepEqual(table.explain(request).rejected, fresh.explain(request).rejected)
            if (actual !== null) found++
          }
        }
        for (const list of lists) check(list.map((index) => routes[index]!))
        for (const [index, part] of others) {
          const changed = makeRoute(index, part)
          check(before.map((route) => (route.key === changed.key ? changed : route)))
        }
      }),
      { seed: 71, numRuns: 500 * SHARE, interruptAfterTimeLimit: 60_000 },
    )
    assert.ok(found > 1000 * SHARE, `${found} found`)
  })

  it('leaves a table as it was when another is made of it', () => {
    fc.assert(
      fc.property(
        fc.array(generatedRoute, { minLength: 6, maxLength: 6 }),
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5]),
        generatedRequest,
        (parts, list, request) => {
          const routes = parts.map((part, index) => makeRoute(index, part))
          const table = RouteTable.of(routes.map((route) => ({ route, value: route })))
          const before = table.find(makeRequest(request))
          const after = list.map((index) => routes[index]!)
          assert.ok(table.after(changeOf(routes, after)) instanceof RouteTable)
          assert.equal(table.find(makeRequest(request)), before)
        },
      ),
      { numRuns: 500 },
    )
  })
})

/** As a change of a config has it: what moves comes anew. */
function changeOf(before: readonly Route[], after: readonly Route[]): RoutesChange<Route> {
  const [one, other] = [before, after].map((routes) => ({ ...EMPTY_IR, routes: [...routes] }))
  const changed = applyChange(one!, changeBetween(one!, other!)!)
  const isInPlace = before.length === after.length && before.every(({ key }, index) => key === after[index]?.key)
  return {
    gone: changed.gone.routes.map(({ key }) => key),
    came: changed.came.routes.map((route) => ({ route, value: route })),
    order: isInPlace ? null : after,
  }
}

const segments = fc.array(fc.constantFrom('', 'a', 'b', 'ab'), { maxLength: 4 }).map((names) => `/${names.join('/')}`)
const valueMatch = fc.constantFrom(is('x', '1'), is('y', '1'), is('x', '2'), like('x', '[12]'), like('y', '.*'))
const conditions: fc.Arbitrary<ValueMatch[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ValueMatch[]>([]) },
  { weight: 1, arbitrary: fc.array(valueMatch, { maxLength: 2 }) },
)
const generatedRoute: fc.Arbitrary<Partial<Route>> = fc.record({
  hostnames: fc.array(fc.constantFrom('a.com', 'A.com.', 'b.a.com', '*.com', '*.a.com', '*', '*.b.a.com'), {
    maxLength: 2,
  }),
  matches: fc.array(
    fc.record<RouteMatch>({
      path: fc.oneof(
        segments.map(exact),
        segments.map(prefix),
        fc.constantFrom('/.*', '.*', '/a/.+', '/(a|b)', '.*/b').map(regex),
      ),
      method: fc.constantFrom(null, null, null, 'GET', 'PUT'),
      headers: conditions,
      query: conditions,
    }),
    { maxLength: 3 },
  ),
})
const generatedRequest: fc.Arbitrary<RequestParts> = fc.record({
  method: fc.constantFrom('GET', 'PUT'),
  host: fc.constantFrom('a.com', 'b.a.com', 'c.b.a.com', 'com', 'x.net', ''),
  path: segments,
  query: fc.constantFrom('', 'x=1', 'x=2&y=1', 'y=1&x=3&x=1'),
  headers: fc.array(fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2', '3')), { maxLength: 3 }),
})

/** The rules written down once more, without any index: filter, sort, take the first. */
function slowFind(routes: Route[], request: RoutableRequest): [routeKey: string, matchIndex: number] | null {
  const fitting = routes
    .flatMap((route, order) =>
      route.matches.map((match, index) => ({ route, order, match, index, host: hostScore(route, request.host) })),
    )
    .filter(({ host, match }) => host >= 0 && slowMatches(match, request))
    .toSorted((left, right) => {
      const differences = [
        right.host - left.host,
        Number(right.match.path.kind === 'exact') - Number(left.match.path.kind === 'exact'),
        textLength(right.match) - textLength(left.match),
        Number(right.match.method !== null) - Number(left.match.method !== null),
        right.match.headers.length - left.match.headers.length,
        right.match.query.length - left.match.query.length,
        left.order - right.order,
        left.index - right.index,
      ]
      return differences.find((difference) => difference !== 0) ?? 0
    })
  return fitting[0] === undefined ? null : [fitting[0].route.key, fitting[0].index]
}

/** Higher is more specific, -1 does not fit. */
function hostScore(route: Route, host: string): number {
  const names = route.hostnames.length === 0 ? [''] : route.hostnames.map(canonicalHostname)
  const scores = names.map((name) => {
    if (name === '') return 0
    if (name === host) return 1000
    return name.startsWith('*.') && host.endsWith(name.slice(1)) ? name.length : -1
  })
  return Math.max(...scores)
}

function slowMatches(match: RouteMatch, request: RoutableRequest): boolean {
  const lines = (name: string): string[] =>
    [0, 1, 2].map((nth) => request.header(name, nth)).filter((line) => line !== undefined)
  return (
    slowPathMatches(match.path, request.path) &&
    (match.method === null || match.method === request.method) &&
    match.headers.every((header) => lines(header.name).some((line) => slowValueMatches(header, line))) &&
    match.query.every((query) => {
      const value = firstQueryValue(request.query, query.name)
      return value !== null && slowValueMatches(query, value)
    })
  )
}

function slowPathMatches(path: RouteMatch['path'], text: string): boolean {
  if (path.kind === 'exact') return path.value === text
  if (path.kind === 'regex') return slowValueMatches(like('', path.value), text)
  const start = path.value.replace(/\/+$/, '')
  const trimmed = text.replace(/\/+$/, '')
  return trimmed.startsWith(start) && (trimmed.length === start.length || trimmed[start.length] === '/')
}

function slowValueMatches(match: ValueMatch, text: string): boolean {
  if (match.kind === 'exact') return match.value === text
  const compiled = compileRegex(match.value)
  return compiled.ok && compiled.fullMatch(text)
}

function textLength(match: RouteMatch): number {
  return match.path.kind === 'pathPrefix' ? match.path.value.replace(/\/+$/, '').length : match.path.value.length
}
