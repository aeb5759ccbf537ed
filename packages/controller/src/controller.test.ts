import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Ir } from '@portico/gateway/ir'
import { createLogger, parseLogFilter } from '@portico/gateway/log'
import type { Resource } from '@portico/translate'
import { Controller, type Streams } from './controller.ts'
import { listAt, textAt, valueAt } from './deploy/json.ts'
import { apiByKind } from './deploy/objects.ts'
import { Metrics } from './metrics.ts'
import { eventually } from './testing/eventually.ts'
import { type ObjectApi, useObjectApi } from './testing/object-api.ts'
import type { GatewayState } from './status/gateway-truth.ts'
import { watchedKinds } from './watch/watched-kinds.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'
const GATEWAY = `/apis/${GATEWAY_API}/namespaces/shop/gateways/web`
const ROUTE = `/apis/${GATEWAY_API}/namespaces/shop/httproutes/cart`
const ROUTES = `/apis/${GATEWAY_API}/httproutes`

describe('the controller', () => {
  it('hands out nothing before all kinds are read', async (t) => {
    const scene = await useScene(t)
    let release = (): void => undefined
    scene.api.intercept = ({ path }, response) => {
      if (path !== '/api/v1/services') return false
      release = () => response.destroy()
      return true
    }
    scene.start()
    await scene.api.received('/api/v1/services')
    await eventually('only these are missing', () => scene.controller.pending.join() === 'Service')
    assert.equal(scene.published.length, 0)
    scene.api.intercept = () => false
    release()
    await eventually('it is published', () => scene.published.length === 1)
    assert.deepEqual(scene.controller.pending, [])
    assert.deepEqual(scene.order, ['reach shop/web', 'publish shop/web'])
    assert.deepEqual(scene.reached.get('shop/web'), { 'backend/service/shop/cart/80': ['10.0.0.7:3000'] })
  })

  it('hands out what changes, and not what it has written itself', async (t) => {
    const scene = await useScene(t)
    scene.controller.lead()
    scene.start()
    await eventually('the route has a status', () => conditionOf(scene.api, ROUTE, 'Accepted') === 'True')
    await eventually('the Gateway has one', () => conditionOf(scene.api, GATEWAY, 'Accepted') === 'True')
    const before = scene.published.length
    scene.api.put(route('/other'))
    await eventually('it is published', () => scene.published.length === before + 1)
    assert.match(JSON.stringify(scene.published.at(-1)?.routes), /\/other/)
    scene.api.put(slice('10.0.0.8'))
    await eventually('the address is known', () =>
      JSON.stringify(scene.reached.get('shop/web')).includes('10.0.0.8:3000'),
    )
    assert.equal(scene.published.length, before + 1)
    scene.api.drop(GATEWAY)
    await eventually('it is retired', () => scene.order.at(-1) === 'retire shop/web')
  })

  it('waits for kinds that the server has not got, and takes them up', async (t) => {
    const scene = await useScene(t)
    scene.api.setMissing(ROUTES, true)
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    assert.equal(scene.published[0]?.routes.length, 0)
    scene.api.setMissing(ROUTES, false)
    await eventually('the route is there', () => scene.published.at(-1)?.routes.length === 1)
  })

  it('says of a Gateway what data planes say', async (t) => {
    const scene = await useScene(t)
    scene.controller.lead()
    scene.start()
    const reason = (): string | undefined => reasonOf(scene.api, GATEWAY, 'Programmed')
    await eventually('it waits for a data plane', () => reason() === 'Pending')
    await eventually('it is deployed', () => scene.api.get('/api/v1/namespaces/shop/services/web') !== undefined)
    scene.api.put(withAddress(scene.api))
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is programmed', () => reason() === 'Programmed')
    assert.deepEqual(valueAt(scene.api.get(GATEWAY), 'status', 'addresses'), [
      { type: 'IPAddress', value: '10.97.0.1' },
    ])
    // A change under way does not make it less so.
    scene.state = { connected: 1, acknowledged: false, problems: [] }
    scene.api.put(route('/next'))
    await eventually('it is published', () => /\/next/.test(JSON.stringify(scene.published.at(-1)?.routes)))
    scene.controller.stateChanged('shop/web')
    assert.equal(reason(), 'Programmed')
    scene.state = { connected: 1, acknowledged: false, problems: ['route cart: not like that'] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is invalid', () => reason() === 'Invalid')
    await scene.api.received('/api/v1/namespaces/shop/events')
    const event = scene.api.asked.find(({ path }) => path.endsWith('/events'))
    assert.equal(valueAt(event?.body, 'reason'), 'ConfigRefused')
    assert.match(textAt(event?.body, 'message') ?? '', /not like that/)
  })

  it('says of a ListenerSet that it is programmed when its Gateway is', async (t) => {
    const scene = await useScene(t)
    const set = `/apis/${GATEWAY_API}/namespaces/shop/listenersets/more`
    const listeners = [{ name: 'more', port: 8080, protocol: 'HTTP' }]
    scene.api.put(gateway({ allowedListeners: { namespaces: { from: 'Same' } } }))
    scene.api.put({
      apiVersion: GATEWAY_API,
      kind: 'ListenerSet',
      metadata: { namespace: 'shop', name: 'more', generation: 1 },
      spec: { parentRef: { name: 'web' }, listeners },
    })
    scene.controller.lead()
    scene.start()
    await eventually('it waits', () => reasonOf(scene.api, set, 'Programmed') === 'Pending')
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is programmed', () => reasonOf(scene.api, set, 'Programmed') === 'Programmed')
    const ports = (): string =>
      listAt(scene.api.get('/api/v1/namespaces/shop/services/web'), 'spec', 'ports')
        .map((one) => valueAt(one, 'port'))
        .join()
    await eventually('its port is deployed', () => ports() === '80,8080')
  })

  it('keeps quiet about a changed Gateway until it has the address that it asks for', async (t) => {
    const scene = await useScene(t)
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.lead()
    scene.start()
    const service = '/api/v1/namespaces/shop/services/web'
    await eventually('it is deployed', () => scene.api.get(service) !== undefined)
    scene.api.put(withAddress(scene.api))
    await eventually('it is programmed', () => reasonOf(scene.api, GATEWAY, 'Programmed') === 'Programmed')
    const live = scene.api.get(GATEWAY) ?? assert.fail('there is no Gateway')
    const asking = gateway({ addresses: [{ value: '10.97.0.2' }] })
    scene.api.put({ ...live, spec: asking.spec, metadata: { ...live.metadata, generation: 2 } })
    const asked = (): boolean => valueAt(scene.api.get(service), 'spec', 'loadBalancerIP') === '10.97.0.2'
    await eventually('the address is asked for', asked)
    const observed = (): unknown => valueAt(findCondition(scene.api, GATEWAY, 'Programmed'), 'observedGeneration')
    assert.equal(observed(), 1)
    scene.api.put(withAddress(scene.api, '10.97.0.2'))
    await eventually('it is told of', () => observed() === 2)
    assert.equal(reasonOf(scene.api, GATEWAY, 'Programmed'), 'Programmed')
    assert.deepEqual(valueAt(scene.api.get(GATEWAY), 'status', 'addresses'), [
      { type: 'IPAddress', value: '10.97.0.2' },
    ])
  })

  it('tells of parameters that are wrong, and mends it when they are right', async (t) => {
    const scene = await useScene(t)
    const parametersRef = { group: 'portico.dev', kind: 'GwParameters', name: 'small' }
    scene.api.put({ ...gateway({ infrastructure: { parametersRef } }) })
    scene.controller.lead()
    scene.start()
    await eventually('it is told', () => reasonOf(scene.api, GATEWAY, 'Accepted') === 'InvalidParameters')
    scene.api.put({
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { namespace: 'shop', name: 'small', generation: 1 },
      spec: {},
    })
    await eventually('it is mended', () => reasonOf(scene.api, GATEWAY, 'Accepted') === 'Accepted')
    await eventually(
      'it is deployed',
      () => scene.api.get('/apis/apps/v1/namespaces/shop/deployments/web') !== undefined,
    )
  })

  it('leaves statuses and Deployments to the leader', async (t) => {
    const scene = await useScene(t)
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    scene.controller.lead()
    await eventually('the route has a status', () => conditionOf(scene.api, ROUTE, 'Accepted') === 'True')
    await scene.controller.follow()
    const writes = (): number => scene.api.asked.filter(({ method }) => method !== 'GET').length
    const before = writes()
    assert.ok(before > 0)
    scene.api.put({ ...route('/late'), metadata: { ...route('/late').metadata, generation: 99 } })
    await eventually('it is published', () => /\/late/.test(JSON.stringify(scene.published.at(-1)?.routes)))
    assert.equal(writes(), before)
  })
})

interface Scene {
  api: ObjectApi
  controller: Controller
  metrics: Metrics
  published: Ir[]
  reached: Map<string, Readonly<Record<string, readonly string[]>>>
  order: string[]
  state: GatewayState
  start(): void
}

async function useScene(t: TestContext): Promise<Scene> {
  const plurals = [...watchedKinds, ...Object.values(apiByKind)].map(({ kind, plural }) => [kind, plural] as const)
  const api = await useObjectApi(t, Object.fromEntries(plurals))
  for (const resource of [gatewayClass, gateway(), route('/'), service, slice('10.0.0.7')]) api.put(resource)
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const logger = createLogger({ filter: filter.value, format: 'text', write: () => undefined })
  const streams: Streams = {
    publish(key, ir) {
      scene.order.push(`publish ${key}`)
      scene.published.push(ir)
    },
    reach(key, endpoints) {
      scene.order.push(`reach ${key}`)
      scene.reached.set(key, endpoints)
    },
    retire: (key) => void scene.order.push(`retire ${key}`),
    stateOf: () => scene.state,
  }
  const metrics = new Metrics()
  const controller = new Controller({
    client: api.client,
    streams,
    controllerName: 'portico.dev/gateway',
    clusterDomain: 'cluster.local',
    namespaceSelector: null,
    deploy: { image: {}, version: '1.2.3' },
    ownService: 'portico-system/portico-controller',
    log: (module) => logger.child(module),
    metrics,
    reflector: { missingMs: 20, backoff: { firstMs: 5, mostMs: 20 } },
  })
  const stop = new AbortController()
  let running = Promise.resolve()
  t.after(async () => {
    stop.abort()
    await controller.follow()
    await running
  })
  const scene: Scene = {
    api,
    controller,
    metrics,
    published: [],
    reached: new Map(),
    order: [],
    state: { connected: 0, acknowledged: false, problems: [] },
    start: () => void (running = controller.run(stop.signal)),
  }
  return scene
}

const gatewayClass: Resource = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'portico', generation: 1 },
  spec: { controllerName: 'portico.dev/gateway' },
}

function gateway(spec: object = {}): Resource {
  const metadata = { namespace: 'shop', name: 'web', generation: 1 }
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  return {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata,
    spec: { gatewayClassName: 'portico', listeners, ...spec },
  }
}

let generation = 0

function route(path: string): Resource {
  const rules = [{ matches: [{ path: { value: path } }], backendRefs: [{ name: 'cart', port: 80 }] }]
  const metadata = { namespace: 'shop', name: 'cart', generation: ++generation }
  return { apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata, spec: { parentRefs: [{ name: 'web' }], rules } }
}

const service: Resource = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'cart' },
  spec: { ports: [{ port: 80 }] },
}

function slice(address: string): Resource {
  const labels = { 'kubernetes.io/service-name': 'cart' }
  const metadata = { namespace: 'shop', name: 'cart-1', labels, generation: ++generation }
  const facts = { addressType: 'IPv4', ports: [{ port: 3000 }], endpoints: [{ addresses: [address] }] }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...facts }
}

/** What a load balancer does to the Service of the Gateway. */
function withAddress(api: ObjectApi, ip = '10.97.0.1'): Resource {
  const found = api.get('/api/v1/namespaces/shop/services/web') ?? assert.fail('there is no Service')
  return { ...found, ...{ status: { loadBalancer: { ingress: [{ ip }] } } } }
}

function findCondition(api: ObjectApi, path: string, type: string): unknown {
  const status = api.get(path)?.status
  const lists = [status, ...listAt(status, 'parents')].flatMap((one) => listAt(one, 'conditions'))
  return lists.find((one) => textAt(one, 'type') === type)
}

function conditionOf(api: ObjectApi, path: string, type: string): string | undefined {
  return textAt(findCondition(api, path, type), 'status')
}

function reasonOf(api: ObjectApi, path: string, type: string): string | undefined {
  return textAt(findCondition(api, path, type), 'reason')
}
