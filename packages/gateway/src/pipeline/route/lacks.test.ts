import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exact, is, like, makeRequest, makeRoute, matchOf, prefix, regex, type RequestParts } from './test-routes.ts'
import { RouteTable } from './route-table.ts'

const routes = [
  makeRoute(0, { hostnames: ['a.example', '*.b.example'], matches: [matchOf({ path: prefix('/api/') })] }),
  makeRoute(1, { matches: [matchOf({ path: exact('/one'), method: 'POST' }), matchOf({ path: regex('/[0-9]+') })] }),
  makeRoute(2, {
    matches: [matchOf({ headers: [is('x-team', 'red')], query: [like('v', '1|2'), is('w', 's3cret')] })],
  }),
]

function explain(parts: RequestParts) {
  return RouteTable.of(routes.map((route) => ({ route, value: route.key }))).explain(makeRequest(parts))
}

test('if no route matches, the nearest routes come first, each with the conditions that the request lacks', () => {
  const { found, evaluated, rejected } = explain({ path: '/one', query: 'v=1', headers: [['x-team', 'blue']] })
  assert.equal(found, null)
  assert.deepEqual(rejected, [
    { route: 'r1', match: 0, lacks: ['method POST'] },
    { route: 'r1', match: 1, lacks: ['path like /[0-9]+'] },
    { route: 'r2', match: 0, lacks: ['header x-team', 'query parameter w'] },
    { route: 'r0', match: 0, lacks: ['hostname a.example or *.b.example', 'path below /api/'] },
  ])
  assert.deepEqual(evaluated, ['r1', 'r2'])
})

test('values that the config expects are not told', () => {
  assert.ok(!JSON.stringify(explain({ path: '/x' })).includes('s3cret'))
})

test('a route that was found leaves nothing to explain', () => {
  assert.deepEqual(explain({ host: 'x.b.example', path: '/api' }).rejected, [])
})

test('the twenty nearest of ten thousand routes are listed', () => {
  const many = Array.from({ length: 10_000 }, (_, order) => {
    const match = matchOf({ path: exact(`/${order}`), method: order === 7_000 ? 'GET' : 'POST' })
    return { route: makeRoute(order, { matches: [match] }), value: order }
  })
  const { rejected } = RouteTable.of(many).explain(makeRequest({ path: '/none' }))
  assert.equal(rejected.length, 20)
  assert.deepEqual(rejected[0], { route: 'r7000', match: 0, lacks: ['path exactly /7000'] })
})
