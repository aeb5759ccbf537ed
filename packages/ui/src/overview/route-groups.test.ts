import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewedRoute } from '@portico/gateway/admin-config'
import { groupRoutes, MOST_ITEMS, type RouteItem } from './route-groups.ts'

const route = (name: string, path: string, hostnames: string[] = []): ViewedRoute => ({
  ...{ key: `l/${name}`, name, rule: '', hostnames, policies: [], backends: [] },
  matches: [{ path: { kind: 'pathPrefix', value: path }, method: null, headers: [], query: [] }],
})
const many = (count: number, make: (index: number) => ViewedRoute): ViewedRoute[] =>
  Array.from({ length: count }, (_, index) => make(index))
const names = (items: readonly RouteItem[]): string[] =>
  items.map((item) => (item.kind === 'route' ? item.route.name : `${item.name} (${item.routes.length})`))

test('few routes stand by themselves', () => {
  const routes = many(MOST_ITEMS, (index) => route(`r${index}`, `/r${index}`))
  assert.deepEqual(
    names(groupRoutes('l', routes)),
    routes.map(({ name }) => name),
  )
})

test('hosts group before paths, and a route alone is no group', () => {
  const routes = [
    ...many(30, (index) => route(`a${index}`, `/v1/a${index}`, ['a.test'])),
    ...many(30, (index) => route(`b${index}`, `/${index % 2 === 0 ? 'even' : 'odd'}/b${index}`, ['b.test'])),
    route('open', '/open'),
  ]
  const items = groupRoutes('l', routes)
  assert.deepEqual(names(items), ['a.test (30)', 'open', 'b.test (30)'])
  const [, , second] = items
  assert.ok(second?.kind === 'group')
  assert.deepEqual(names(groupRoutes(second.id, second.routes)), ['/even (15)', '/odd (15)'])
})

test('routes that share nothing are grouped in ranges, and every box opens to fewer', () => {
  const routes = many(2000, (index) => route(`r${index}`, `/r${index}`))
  const items = groupRoutes('l', routes)
  assert.equal(names(items)[0], 'r0 … r166 (167)')
  const seen: string[] = []
  const open = (some: readonly RouteItem[]): void => {
    assert.ok(some.length <= MOST_ITEMS)
    for (const item of some) {
      if (item.kind === 'route') seen.push(item.route.name)
      else open(groupRoutes(item.id, item.routes))
    }
  }
  open(items)
  assert.equal(new Set(seen).size, 2000)
  assert.equal(seen.length, 2000)
})

test('routes of one name are told apart by their rules', () => {
  const routes = many(30, (index) => ({ ...route('same', '/'), key: `l/same/${index}`, rule: String(index) }))
  const items = groupRoutes('l', routes)
  assert.deepEqual(names(items), ['same/0 … same/14 (15)', 'same/15 … same/29 (15)'])
})
