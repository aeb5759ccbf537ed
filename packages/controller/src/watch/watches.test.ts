import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Kind, Resource } from '@portico/translate'
import { eventually } from '../testing/eventually.ts'
import { type ObjectApi, useObjectApi } from '../testing/object-api.ts'
import { watchedKinds } from './watched-kinds.ts'
import { Watches } from './watches.ts'

describe('the watches', () => {
  it('tell of what is in namespaces with the labels, and of what comes and goes with them', async (t) => {
    const { api, told } = await useScene(t, 'team=shop')
    for (const name of ['shop', 'other']) {
      api.put(namespace(name, name))
      api.put(service(name))
    }
    await told.start()
    assert.deepEqual(told.keys('Service'), ['shop/cart'])
    api.put(namespace('late', 'shop'))
    api.put(service('late'))
    await eventually('it has come', () => told.keys('Service').join() === 'late/cart,shop/cart')
    api.drop('/api/v1/namespaces/shop')
    await eventually('it has gone', () => told.keys('Service').join() === 'late/cart')
    assert.equal(told.watches.get('Service', 'shop/cart'), undefined)
    assert.deepEqual(
      [...told.watches.list('Service')].map(([key]) => key),
      ['late/cart'],
    )
  })

  it('read a kind in the version that the server has, and go over to another', async (t) => {
    const { api, told } = await useScene(t)
    let version = 'v1alpha2'
    const tcp = (): Resource => ({
      apiVersion: `gateway.networking.k8s.io/${version}`,
      kind: 'TCPRoute',
      metadata: { namespace: 'shop', name: 'db', generation: 1 },
    })
    api.intercept = ({ path }, response) => {
      const [, asked] = /^\/apis\/gateway\.networking\.k8s\.io\/([^/]+)(\/tcproutes)?$/.exec(path) ?? []
      if (asked === undefined) return false
      if (path.endsWith('/tcproutes')) return asked === version ? false : (response.writeHead(404).end('{}'), true)
      const resources = asked === version ? [{ name: 'tcproutes' }] : []
      response.writeHead(200).end(JSON.stringify({ resources }))
      return true
    }
    api.put(tcp())
    await told.start()
    assert.deepEqual([told.keys('TCPRoute'), told.watches.apiOf('TCPRoute')?.version], [['shop/db'], 'v1alpha2'])
    version = 'v1'
    api.put(tcp())
    api.cut('/apis/gateway.networking.k8s.io/v1alpha2/tcproutes')
    await eventually('it is read anew', () => told.watches.apiOf('TCPRoute')?.version === 'v1')
    assert.deepEqual(told.keys('TCPRoute'), ['shop/db'])
  })

  it('ask for no Secrets that are of no use here', async (t) => {
    const { api, told } = await useScene(t)
    await told.start()
    const asked = api.asked.find(({ path }) => path === '/api/v1/secrets')
    assert.match(asked?.query.get('fieldSelector') ?? '', /type!=helm\.sh\/release\.v1/)
  })
})

interface Told {
  watches: Watches
  /** Resolves when all kinds are read. */
  start(): Promise<void>
  keys(kind: Kind): string[]
}

async function useScene(t: TestContext, namespaceSelector?: string): Promise<{ api: ObjectApi; told: Told }> {
  const api = await useObjectApi(t, Object.fromEntries(watchedKinds.map(({ kind, plural }) => [kind, plural])))
  const known = new Set<string>()
  const stop = new AbortController()
  let running = Promise.resolve()
  const watches = new Watches({
    client: api.client,
    ...(namespaceSelector !== undefined && { namespaceSelector }),
    changed: (kind, key, resource) =>
      void (resource === undefined ? known.delete(`${kind} ${key}`) : known.add(`${kind} ${key}`)),
    ready: () => undefined,
    troubled: () => undefined,
    reflector: { missingMs: 10, backoff: { firstMs: 5, mostMs: 20 } },
  })
  t.after(async () => {
    stop.abort()
    await running
  })
  const told: Told = {
    watches,
    start() {
      running = watches.run(stop.signal)
      return eventually('all kinds are read', () => watches.isReady)
    },
    keys: (kind) =>
      [...known]
        .filter((id) => id.startsWith(`${kind} `))
        .map((id) => id.slice(kind.length + 1))
        .toSorted(),
  }
  return { api, told }
}

function namespace(name: string, team: string): Resource {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team } } }
}

function service(of: string): Resource {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace: of, name: 'cart' } }
}
