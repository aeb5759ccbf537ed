import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BackendsView, RoutesView, ViewedBackend, ViewedEndpoint, ViewedPart } from '@portico/gateway/admin-config'
import { mapGraph } from './map-graph.ts'
import { ratesOf } from './rates.ts'

const route = (name: string, backend: string) => ({
  ...{ key: `l/${name}`, name, rule: '', hostnames: [], policies: [] },
  matches: [{ path: { kind: 'pathPrefix', value: `/${name}` }, method: null, headers: [], query: [] }],
  backends: [{ backend, name: backend, weight: 1, policies: [] }],
})
const routes = (list: object[]): RoutesView =>
  ({
    ...{ generation: 1, frontend: [] },
    binds: [
      {
        key: 'b',
        port: 80,
        address: '',
        listeners: [{ key: 'l', name: 'web', protocol: 'HTTP', hostname: '', policies: [], routes: list }],
      },
    ],
  }) as unknown as RoutesView
const backends: BackendsView = {
  ...{ generation: 1, unheard: 0 },
  backends: [{ key: 'x', name: 'x', kind: 'static', at: '127.0.0.1:1', groups: [], activeGroup: null, endpoints: [] }],
}
const quiet = ratesOf([], 0, 1, 60_000)

test('two routes to one backend meet there', () => {
  const { nodes, edges } = mapGraph(routes([route('a', 'x'), route('b', 'x')]), backends, quiet)
  assert.deepEqual(
    nodes.map(({ id, about }) => [id, about]),
    [
      ['listener l', 'HTTP :80'],
      ['route l/a', '/a…'],
      ['backend x', '127.0.0.1:1'],
      ['route l/b', '/b…'],
    ],
  )
  assert.deepEqual([edges.length, edges[0]?.rate], [4, null])
})

test('many routes are groups that open, and a closed group leads to its backends', () => {
  const many = Array.from({ length: 40 }, (_, index) =>
    route(`${index % 2 === 0 ? 'a' : 'b'}/${index}`, index % 2 === 0 ? 'x' : `y${index}`),
  )
  const seen = (open: string[], search = '') => {
    const { nodes, edges } = mapGraph(routes(many), backends, quiet, { isGrouped: true, open: new Set(open), search })
    return { names: nodes.map(({ kind, name }) => `${kind} ${name}`), edges: edges.map(({ id }) => id) }
  }
  assert.deepEqual(seen([]), {
    names: ['listener web', 'group /a', 'backend x', 'group /b', 'backends 20 backends'],
    edges: [
      'listener l>group l ▸ /a',
      'group l ▸ /a>backend x',
      'listener l>group l ▸ /b',
      'group l ▸ /b>backends group l ▸ /b',
    ],
  })
  const opened = seen(['l ▸ /a'])
  assert.deepEqual(opened.names.slice(0, 4), ['listener web', 'group /a', 'route a/0', 'backend x'])
  assert.equal(opened.names.filter((name) => name.startsWith('route ')).length, 20)
  assert.deepEqual(seen([], 'B/13').names, ['listener web', 'route b/13', 'backend y13'])
  assert.deepEqual(seen([], 'nothing').names, [])
})

test('a backend is left out when all of it is, and tells when the first returns', () => {
  const endpoint = (evictedUntil: number | null) => ({ evictedUntil }) as ViewedEndpoint
  const part = (health: ViewedEndpoint | null) => ({ health, endpoints: [] }) as unknown as ViewedPart
  const seen = (rest: Partial<ViewedBackend>) => {
    const [only] = backends.backends
    const view = { ...backends, backends: [{ ...only!, ...rest }] }
    const { nodes } = mapGraph(routes([route('a', 'x')]), view, quiet)
    return nodes.find(({ kind }) => kind === 'backend')?.evicted
  }
  assert.equal(seen({}), null)
  assert.equal(seen({ endpoints: [endpoint(null)] }), null)
  assert.deepEqual(seen({ endpoints: [endpoint(9), endpoint(7)] }), { isWhole: true, until: 7 })
  assert.deepEqual(seen({ endpoints: [endpoint(9), endpoint(null)] }), { isWhole: false, until: 9 })
  assert.deepEqual(seen({ groups: [[part(endpoint(5))], [part(null)]] }), { isWhole: false, until: 5 })
})
