import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Route } from '../../ir/resources.ts'
import { createDelegatingTable } from './delegating-table.ts'
import { exact, is, makeRequest, makeRoute, matchOf, prefix } from './test-routes.ts'

/** A shop that delegates `/team` to two teams, and a route of somebody else that would match everything. */
const routes: Route[] = [
  makeRoute(0, { key: 'all', matches: [matchOf({ path: prefix('/') })] }),
  makeRoute(1, {
    key: 'teams',
    delegates: true,
    matches: [matchOf({ path: prefix('/team'), headers: [is('x-tenant', '1')] })],
  }),
  makeRoute(2, { key: 'red', within: 'teams', matches: [matchOf({ path: prefix('/team/red') })] }),
  makeRoute(3, { key: 'blue', within: 'teams', delegates: true, matches: [matchOf({ path: prefix('/team/blue') })] }),
  makeRoute(4, { key: 'navy', within: 'blue', matches: [matchOf({ path: exact('/team/blue/navy') })] }),
  makeRoute(5, { key: 'longer', matches: [matchOf({ path: prefix('/team/red/deep') })] }),
]

const entriesOf = (list: readonly Route[]) => list.map((route) => ({ route, value: route.key }))

const winner = (list: readonly Route[], path: string, tenant = '1'): string | null =>
  createDelegatingTable(entriesOf(list)).find(makeRequest({ path, headers: [['x-tenant', tenant]] }))?.value ?? null

describe('routes that delegate', () => {
  it('serve requests that match every level', () => {
    assert.equal(winner(routes, '/team/red/1'), 'red')
    assert.equal(winner(routes, '/team/blue/navy'), 'navy')
  })

  it('keep requests that no route within matches from all other routes', () => {
    assert.equal(winner(routes, '/team/green'), null)
    assert.equal(winner(routes, '/team/blue/sky'), null)
  })

  it('take only requests that match themselves', () => {
    assert.equal(winner(routes, '/team/red', '2'), 'all')
    assert.equal(winner(routes, '/elsewhere'), 'all')
  })

  it('give their own precedence to the routes within', () => {
    assert.equal(winner(routes, '/team/red/deep'), 'longer')
  })

  it('match nothing when no route is within them', () => {
    const childless = routes.filter(({ within }) => within === undefined)
    assert.equal(winner(childless, '/team/red'), null)
  })

  it('explain the routes of every level, and the nearest ones of the last level', () => {
    const table = createDelegatingTable(entriesOf(routes))
    const request = (path: string) => makeRequest({ path, headers: [['x-tenant', '1']] })
    assert.deepEqual(table.explain(request('/team/blue/navy')).evaluated, ['teams', 'blue', 'navy'])
    const { found, rejected } = table.explain(request('/team/blue/sky'))
    assert.equal(found, null)
    assert.deepEqual(
      rejected.map(({ route }) => route),
      ['navy'],
    )
  })

  it('change without affecting the table before', () => {
    const table = createDelegatingTable(entriesOf(routes))
    const grown = makeRoute(6, { key: 'sky', within: 'blue', matches: [matchOf({ path: prefix('/team/blue/sky') })] })
    const next = table.after({ gone: ['red'], came: entriesOf([grown]), order: [...routes, grown] })
    const at = (lookup: typeof table, path: string) =>
      lookup.find(makeRequest({ path, headers: [['x-tenant', '1']] }))?.value ?? null
    assert.equal(at(next, '/team/blue/sky'), 'sky')
    assert.equal(at(next, '/team/red'), null)
    assert.equal(at(table, '/team/blue/sky'), null)
    assert.equal(at(table, '/team/red'), 'red')
    const without = next.after({ gone: ['teams', 'blue', 'navy', 'sky'], came: [], order: null })
    assert.equal(at(without, '/team/blue/sky'), 'all')
  })
})
