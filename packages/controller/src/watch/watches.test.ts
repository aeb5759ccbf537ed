import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Kind, Resource } from '@portico/translate'
import { eventually } from '../testing/eventually.ts'
import { type ObjectApi, useObjectApi } from '../testing/object-api.ts'
import { failCall } from '../testing/scripted-api.ts'
import { watchedKinds } from './watched-kinds.ts'
import { Watches } from './watches.ts'

describe('the watches', () => {
  it('report objects in namespaces with the labels, and follow changes of labels', async (t) => {
    const { api, told } = await useScene(t, { namespaceSelector: 'team=shop' })
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

  it('include the Service and parameters in the namespace of the controller, whatever its labels', async (t) => {
    const { api, told } = await useScene(t, { namespaceSelector: 'team=shop' })
    api.put({ apiVersion: 'portico.dev/v1alpha1', kind: 'GwParameters', metadata: own('defaults') })
    api.put({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: own('portico-controller-1') })
    api.put(service('portico-system'))
    await told.start()
    assert.deepEqual(told.keys('GwParameters'), ['portico-system/defaults'])
    assert.deepEqual(told.keys('EndpointSlice'), ['portico-system/portico-controller-1'])
    assert.deepEqual(told.keys('Service'), [])
  })

  it('with a list of namespaces read only Gateways elsewhere, which are not served', async (t) => {
    const { api, told } = await useScene(t, { namespaces: ['shop', 'bank'] })
    for (const name of ['shop', 'bank', 'other']) {
      api.put(namespace(name, name))
      api.put(service(name))
      api.put(gateway(name))
    }
    await told.start()
    assert.deepEqual(told.keys('Service'), ['bank/cart', 'shop/cart'])
    assert.deepEqual(told.keys('Gateway'), ['bank/web', 'shop/web'])
    assert.deepEqual(told.watches.unservedGateways(), ['other/web'])
    assert.match(told.watches.unserved('other/web')?.reason ?? '', /no rights in namespace other/)
    assert.equal(told.watches.get('Gateway', 'other/web'), undefined)
    api.put(service('shop', 'late'))
    api.drop('/api/v1/namespaces/bank/services/cart')
    await eventually('changes are told', () => told.keys('Service').join() === 'shop/cart,shop/late')
    api.put(gateway('other', 2))
    await eventually('a change of the other is told', () => told.unserved.join() === 'other/web')
    const paths = new Set(api.asked.map(({ path }) => path))
    const wide = [...paths].filter((path) => !path.includes('/namespaces/') && !/\/apis\/[^/]+\/[^/]+$/.test(path))
    assert.deepEqual(wide.toSorted(), [
      '/api/v1/namespaces',
      '/apis/gateway.networking.k8s.io/v1/gatewayclasses',
      '/apis/gateway.networking.k8s.io/v1/gateways',
    ])
    assert.ok(paths.has('/apis/discovery.k8s.io/v1/namespaces/portico-system/endpointslices'))
    assert.equal(paths.has('/api/v1/namespaces/portico-system/secrets'), false)
  })

  it('are ready without a namespace that is denied, and serve it once it is allowed', async (t) => {
    const { api, told } = await useScene(t, { namespaces: ['shop', 'bank'] })
    let isDenied = true
    api.intercept = ({ path }, response) => {
      if (!isDenied || path !== '/api/v1/namespaces/bank/secrets') return false
      failCall(response, 403, 'secrets is forbidden')
      return true
    }
    for (const name of ['shop', 'bank']) {
      api.put(service(name))
      api.put(gateway(name))
    }
    await told.start()
    assert.deepEqual([told.keys('Gateway'), told.keys('Service')], [['shop/web'], ['shop/cart']])
    assert.match(
      told.watches.unserved('bank/web')?.reason ?? '',
      /lacks rights in namespace bank: .*secrets is forbidden/,
    )
    isDenied = false
    await eventually('it is served', () => told.keys('Gateway').join() === 'bank/web,shop/web')
    assert.deepEqual(told.keys('Service'), ['bank/cart', 'shop/cart'])
    assert.deepEqual(told.watches.unservedGateways(), [])
    // Objects that were read stay while the server denies access.
    isDenied = true
    api.cut('/api/v1/namespaces/bank/secrets')
    const asked = api.asked.length
    await eventually('it was refused', () => api.asked.slice(asked).some(({ path }) => path.endsWith('bank/secrets')))
    assert.deepEqual(told.watches.unservedGateways(), [])
  })

  it('serve a namespace again whose rights return, also if a kind that was denied is not installed', async (t) => {
    const { api, told } = await useScene(t, { namespaces: ['shop', 'bank'] })
    let isDenied = true
    api.intercept = ({ path }, response) => {
      if (!path.endsWith('/xbackendtrafficpolicies')) return false
      if (isDenied && path.includes('/namespaces/bank/')) failCall(response, 403, 'the kind is forbidden')
      // The denial comes first, so that the missing kind ends a watch that knows of it.
      else setTimeout(() => failCall(response, 404, 'there is no such kind'), 100)
      return true
    }
    for (const name of ['shop', 'bank']) api.put(gateway(name))
    await told.start()
    isDenied = false
    await eventually('it is served', () => told.keys('Gateway').join() === 'bank/web,shop/web')
    assert.deepEqual(told.watches.unservedGateways(), [])
  })

  it('ignore Gateways in namespaces without the labels, listed or not', async (t) => {
    const { api, told } = await useScene(t, { namespaceSelector: 'team=shop', namespaces: ['shop', 'bank'] })
    for (const [name, team] of [
      ['shop', 'shop'],
      ['bank', 'bank'],
      ['late', 'shop'],
    ] as const) {
      api.put(namespace(name, team))
      api.put(gateway(name))
    }
    await told.start()
    assert.deepEqual(told.keys('Gateway'), ['shop/web'])
    assert.deepEqual(told.watches.unservedGateways(), ['late/web'])
    api.put(namespace('bank', 'shop'))
    await eventually('it is served', () => told.keys('Gateway').join() === 'bank/web,shop/web')
    api.drop('/api/v1/namespaces/late')
    await eventually('it is left alone', () => told.watches.unservedGateways().length === 0)
  })

  it('read a kind in the served version, and follow its change', async (t) => {
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

  it('do not list Secrets of irrelevant types', async (t) => {
    const { api, told } = await useScene(t)
    await told.start()
    const asked = api.asked.find(({ path }) => path === '/api/v1/secrets')
    assert.match(asked?.query.get('fieldSelector') ?? '', /type!=helm\.sh\/release\.v1/)
  })
})

interface WatchReports {
  watches: Watches
  /** Gateways that were reported as unserved because of their namespace, in order. */
  unserved: string[]
  /** Resolves when all kinds are read. */
  start(): Promise<void>
  keys(kind: Kind): string[]
}

interface Narrowing {
  namespaceSelector?: string
  namespaces?: readonly string[]
}

async function useScene(t: TestContext, narrowing: Narrowing = {}): Promise<{ api: ObjectApi; told: WatchReports }> {
  const api = await useObjectApi(t, Object.fromEntries(watchedKinds.map(({ kind, plural }) => [kind, plural])))
  const known = new Set<string>()
  const unserved: string[] = []
  const stop = new AbortController()
  let running = Promise.resolve()
  const watches = new Watches({
    client: api.client,
    ownNamespace: 'portico-system',
    ...narrowing,
    changed: (kind, key, resource) =>
      void (resource === undefined ? known.delete(`${kind} ${key}`) : known.add(`${kind} ${key}`)),
    unservedChanged: (key) => void unserved.push(key),
    ready: () => undefined,
    onError: () => undefined,
    reflector: { missingMs: 10, backoff: { firstMs: 5, mostMs: 20 } },
  })
  t.after(async () => {
    stop.abort()
    await running
  })
  const told: WatchReports = {
    watches,
    unserved,
    start() {
      running = watches.run(stop.signal)
      return eventually('initial sync complete', () => watches.isReady)
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

function service(of: string, name = 'cart'): Resource {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace: of, name } }
}

function gateway(of: string, generation = 1): Resource {
  const metadata = { namespace: of, name: 'web', generation }
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata }
}

function own(name: string): Resource['metadata'] {
  return { namespace: 'portico-system', name }
}
