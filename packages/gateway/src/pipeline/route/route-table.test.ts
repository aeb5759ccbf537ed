import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Route, RouteMatch } from '../../ir/resources.ts'
import { RouteTable } from './route-table.ts'
import type { RequestParts } from './test-routes.ts'
import { exact, is, like, makeRequest, makeRoute, matchOf, prefix, regex } from './test-routes.ts'

describe('route paths', () => {
  const prefixCases: [prefix: string, path: string, matches: boolean][] = [
    ['/', '/', true],
    ['/', '/any/thing', true],
    ['/', '', true],
    ['/', '*', false],
    ['/foo', '/foo', true],
    ['/foo', '/foo/', true],
    ['/foo', '/foo/bar', true],
    ['/foo', '/foo//bar', true],
    ['/foo', '/foobar', false],
    ['/foo', '/Foo', false],
    ['/foo/', '/foo', true],
    ['/foo/', '/foo/bar', true],
    ['/foo//', '/foo', true],
    ['/foo/', '/foobar', false],
    ['/foo/bar', '/foo', false],
    ['/foo/bar', '/foo/bar/baz', true],
    ['/foo/bar', '/foo//bar', false],
    ['/a//b', '/a//b/c', true],
    ['/foo', '/%66oo', false],
    ['/a%2Fb', '/a%2Fb/c', true],
    ['/foo', '//foo', false],
  ]
  for (const [prefix, path, matches] of prefixCases) {
    it(`prefix ${prefix} ${matches ? 'matches' : 'does not match'} '${path}'`, () =>
      assert.equal(winner([{ path: { kind: 'pathPrefix', value: prefix } }], { path }), matches ? '0' : null))
  }

  it('exact paths and whole-text regexes', () => {
    const exact = [{ path: { kind: 'exact' as const, value: '/a' } }]
    assert.equal(winner(exact, { path: '/a' }), '0')
    assert.equal(winner(exact, { path: '/a/' }), null)
    const regex = [{ path: { kind: 'regex' as const, value: '/a[0-9]+' } }]
    assert.equal(winner(regex, { path: '/a12' }), '0')
    assert.equal(winner(regex, { path: '/a12/' }), null)
    assert.equal(winner(regex, { path: '/x/a12' }), null)
  })

  it('tells the matched prefix, the match and its index', () => {
    const route = makeRoute(0, { matches: [matchOf({ method: 'PUT' }), matchOf({ path: prefix('/foo/') })] })
    const found = RouteTable.of([{ route, value: 'v' }]).find(makeRequest({ path: '/foo/bar' }))
    assert.equal(found?.value, 'v')
    assert.equal(found?.matchIndex, 1)
    assert.equal(found?.match, route.matches[1])
    assert.equal(found?.pathPrefix, '/foo')
  })

  it('refuses a pattern that validation should have refused', () => {
    assert.throws(() => winner([{ path: { kind: 'regex', value: '(' } }], {}), /missing closing/)
  })
})

describe('route conditions', () => {
  const cases: [name: string, match: Partial<RouteMatch>, request: RequestParts, matches: boolean][] = [
    ['method', { method: 'GET' }, { method: 'GET' }, true],
    ['method in another case', { method: 'GET' }, { method: 'get' }, false],
    ['header', { headers: [is('x', '1')] }, { headers: [['x', '1']] }, true],
    ['absent header', { headers: [is('x', '')] }, {}, false],
    ['empty header', { headers: [is('x', '')] }, { headers: [['x', '']] }, true],
    [
      'one of the repeated lines',
      { headers: [is('x', '2')] },
      {
        headers: [
          ['x', '1'],
          ['x', '2'],
        ],
      },
      true,
    ],
    ['no splitting at commas', { headers: [is('x', '2')] }, { headers: [['x', '1,2']] }, false],
    ['header regex over the whole line', { headers: [like('x', '[a-z]')] }, { headers: [['x', 'ab']] }, false],
    [
      'header regex on any line',
      { headers: [like('x', '[a-z]')] },
      {
        headers: [
          ['x', '1'],
          ['x', 'b'],
        ],
      },
      true,
    ],
    ['all headers', { headers: [is('x', '1'), is('y', '2')] }, { headers: [['x', '1']] }, false],
    [':method', { headers: [like(':method', 'GET|HEAD')] }, { method: 'HEAD' }, true],
    [':authority', { headers: [is(':authority', 'A.com:81')] }, { authority: 'A.com:81' }, true],
    [':scheme', { headers: [is(':scheme', 'https')] }, { scheme: 'http' }, false],
    [':path with the query', { headers: [is(':path', '/a?b')] }, { path: '/a', query: 'b' }, true],
    [':path without a query', { headers: [is(':path', '/a')] }, { path: '/a' }, true],
    ['query', { query: [is('a', 'b c')] }, { query: 'x=1&a=b+c' }, true],
    ['the first of repeated keys', { query: [is('a', '2')] }, { query: 'a=1&a=2' }, false],
    ['absent query', { query: [is('a', '')] }, { query: 'b' }, false],
    ['query regex', { query: [like('a', '\\d+')] }, { query: 'a=12' }, true],
  ]
  for (const [name, match, request, matches] of cases) {
    it(`${name}: ${matches ? 'matches' : 'does not match'}`, () =>
      assert.equal(winner([match], request), matches ? '0' : null))
  }
})

describe('route precedence', () => {
  const everything: RequestParts = {
    path: '/aa/b',
    query: 'q=1&r=1',
    headers: [
      ['x', '1'],
      ['y', '1'],
    ],
  }
  const cases: [name: string, loser: Partial<RouteMatch>, winner: Partial<RouteMatch>][] = [
    ['exact before longer regex', { path: regex('/aa/b|/long') }, { path: exact('/aa/b') }],
    ['exact before prefix with more conditions', { path: prefix('/aa/b'), method: 'GET' }, { path: exact('/aa/b') }],
    ['longer prefix', { path: prefix('/aa'), method: 'GET', headers: [is('x', '1')] }, { path: prefix('/aa/b') }],
    ['longer regex before prefix', { path: prefix('/aa'), method: 'GET' }, { path: regex('/aa/.*') }],
    ['longer prefix before regex', { path: regex('.*'), method: 'GET' }, { path: prefix('/aa') }],
    ['method on equal length of regex and prefix', { path: prefix('/aa') }, { path: regex('/.*'), method: 'GET' }],
    ['a trailing slash adds nothing', { path: prefix('/aa/') }, { path: prefix('/aa'), method: 'GET' }],
    ['method before headers', { headers: [is('x', '1'), is('y', '1')] }, { method: 'GET' }],
    ['more headers', { headers: [is('x', '1')] }, { headers: [is('x', '1'), is('y', '1')] }],
    ['headers before query', { query: [is('q', '1'), is('r', '1')] }, { headers: [is('x', '1')] }],
    ['more query', { query: [is('q', '1')] }, { query: [is('q', '1'), is('r', '1')] }],
  ]
  for (const [name, loser, winning] of cases) {
    it(`${name}, whatever the order in the file`, () => {
      assert.equal(winner([loser, winning], everything), '1')
      assert.equal(winner([winning, loser], everything), '0')
    })
  }

  it('decides ties by the order of the list', () => {
    const routes = [10, 2, 30].map((index) => ({ route: makeRoute(index, {}), value: index }))
    assert.equal(RouteTable.of(routes).find(makeRequest({}))?.value, 10)
  })

  it('decides ties inside a route by the order of its matches', () => {
    const route = makeRoute(0, { matches: [matchOf({}), matchOf({})] })
    assert.equal(RouteTable.of([{ route, value: 0 }]).find(makeRequest({}))?.matchIndex, 0)
  })

  it('takes the most specific hostname that has a matching route', () => {
    const table = RouteTable.of(
      [
        makeRoute(0, { hostnames: [], matches: [matchOf({ path: exact('/x') })] }),
        makeRoute(1, { hostnames: ['*.com'], matches: [matchOf({ path: prefix('/x') })] }),
        makeRoute(2, { hostnames: ['*.a.com', 'other.com'], matches: [matchOf({ path: prefix('/') })] }),
        makeRoute(3, { hostnames: ['b.a.com'], matches: [matchOf({ path: prefix('/only') })] }),
      ].map((route, value) => ({ route, value })),
    )
    const at = (host: string, path: string): number | undefined => table.find(makeRequest({ host, path }))?.value
    assert.equal(at('b.a.com', '/only'), 3)
    assert.equal(at('b.a.com', '/x'), 2)
    assert.equal(at('a.com', '/x'), 1)
    assert.equal(at('other.com', '/x'), 2)
    assert.equal(at('c.com', '/y'), undefined)
    assert.equal(at('c.net', '/x'), 0)
    assert.equal(at('c.net', '/x/'), undefined)
    assert.deepEqual(table.explain(makeRequest({ host: 'b.a.com', path: '/x' })).evaluated, ['r2'])
    assert.equal(table.explain(makeRequest({ host: 'c.net', path: '/y' })).found, null)
  })

  it('explains with the routes really compared, in order and once each', () => {
    const table = RouteTable.of(
      [
        makeRoute(0, { matches: [matchOf({ path: prefix('/') })] }),
        makeRoute(1, {
          matches: [matchOf({ path: prefix('/a'), method: 'PUT' }), matchOf({ path: prefix('/a/b'), method: 'PUT' })],
        }),
        makeRoute(2, { matches: [matchOf({ path: regex('/x+'), method: 'GET' })] }),
        makeRoute(3, { matches: [matchOf({ path: exact('/a/b'), method: 'PUT' })] }),
        makeRoute(4, { matches: [matchOf({ path: exact('/elsewhere') })] }),
      ].map((route, value) => ({ route, value })),
    )
    const { found, evaluated } = table.explain(makeRequest({ path: '/a/b' }))
    assert.equal(found?.value, 0)
    assert.deepEqual(evaluated, ['r3', 'r1', 'r2', 'r0'])
  })
})

describe('route table size', () => {
  for (const kind of ['exact', 'pathPrefix'] as const) {
    it(`compares one candidate among 10,000 routes with ${kind} paths`, () => {
      const few = RouteTable.of(manyRoutes(1, kind))
      const many = RouteTable.of(manyRoutes(10_000, kind))
      const request = makeRequest({ host: 'h0.example.com', path: '/service/0/items' })
      assert.equal(few.explain(request).evaluated.length, 1)
      assert.equal(many.explain(request).evaluated.length, 1)
      const last = makeRequest({ host: 'h3.example.com', path: '/service/9999/items' })
      assert.deepEqual(many.explain(last).evaluated, ['r9999'])
      assert.deepEqual(many.explain(makeRequest({ path: '/nowhere' })).evaluated, [])
    })
  }

  it('reads no more of a hostile path or host than the configured names are deep', () => {
    const table = RouteTable.of([
      { route: makeRoute(0, { hostnames: ['*.example.com'], matches: [matchOf({ path: prefix('/a/b') })] }), value: 0 },
    ])
    const slashes = '/'.repeat(50_000)
    assert.equal(table.find(makeRequest({ host: 'x.example.com', path: slashes })), null)
    assert.equal(table.find(makeRequest({ host: 'x.example.com', path: `/a/b${slashes}` }))?.value, 0)
    assert.equal(table.find(makeRequest({ host: `${'x.'.repeat(50_000)}example.com`, path: '/a/b' }))?.value, 0)
  })
})

function manyRoutes(count: number, kind: 'exact' | 'pathPrefix'): { route: Route; value: number }[] {
  const end = kind === 'exact' ? '/items' : ''
  return Array.from({ length: count }, (_, order) => {
    const match = matchOf({ path: { kind, value: `/service/${order}${end}` } })
    // Every other route has no hostname, so that both buckets are large.
    const hostnames = order % 2 === 0 ? [] : ['*.example.com']
    return { route: makeRoute(order, { hostnames, matches: [match] }), value: order }
  })
}

/** Which of the routes, one match each, wins. */
function winner(matches: Partial<RouteMatch>[], request: RequestParts): string | null {
  const routes = matches.map((match, order) => ({
    route: makeRoute(order, { matches: [matchOf(match)] }),
    value: `${order}`,
  }))
  return RouteTable.of(routes).find(makeRequest(request))?.value ?? null
}
