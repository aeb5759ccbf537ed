import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from './resources/resource.ts'
import { createTranslator } from './testing/golden.ts'

const COUNT = 500

function route(index: number, path = `/${index}`): Resource {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name: `route-${index}`, generation: 1 },
    spec: {
      parentRefs: [{ name: 'web' }],
      rules: [{ matches: [{ path: { value: path } }], backendRefs: [{ name: `service-${index}`, port: 80 }] }],
    },
  }
}

function service(index: number): Resource {
  const metadata = { namespace: 'shop', name: `service-${index}` }
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } }
}

function slice(index: number, address: string): Resource {
  const slice = { addressType: 'IPv4', ports: [{ port: 3000 }], endpoints: [{ addresses: [address] }] }
  const labels = { 'kubernetes.io/service-name': `service-${index}` }
  const metadata = { namespace: 'shop', name: `slice-${index}`, labels }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...slice }
}

const gateway: Resource[] = [
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'portico' },
    spec: { controllerName: 'portico.dev/gateway' },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  },
]

it('names in slices are not used as addresses', () => {
  const translator = createTranslator()
  for (const resource of [...gateway, route(0), service(0), slice(0, '10.0.0.1'), route(1), service(1)])
    translator.put(resource)
  translator.put(slice(1, 'db.example'))
  translator.settle()
  assert.deepEqual(Object.values(translator.endpoints.get('shop/web') ?? {}), [['10.0.0.1:3000'], []])
})

it('routes of two kinds with one name are separate', () => {
  const translator = createTranslator()
  const called: Resource = { ...route(0), kind: 'GRPCRoute', metadata: { namespace: 'shop', name: 'route-0' } }
  const rules = [{ backendRefs: [{ name: 'service-0', port: 80 }] }]
  called.spec = { parentRefs: [{ name: 'web' }], hostnames: ['calls.test'], rules }
  const alike = ['route-0.grpc', 'grpc', 'route-0'].map((name): Resource => {
    const spec = { ...(route(1).spec as object), hostnames: ['pages.test'] }
    return { ...route(1), spec, metadata: { namespace: 'shop', name } }
  })
  for (const resource of [...gateway, service(0), service(1), called, ...alike]) translator.put(resource)
  translator.settle()
  const routes = translator.gateways.get('shop/web')?.routes ?? []
  assert.equal(routes.length, 4)
  assert.equal(new Set(routes.map(({ key }) => key)).size, 4)
})

describe('a change among many resources', () => {
  const translator = createTranslator()
  for (const resource of gateway) translator.put(resource)
  for (let index = 0; index < COUNT; index++) {
    for (const resource of [route(index), service(index), slice(index, '10.0.0.1')]) translator.put(resource)
  }
  translator.settle()
  const costOf = (change: () => void) => {
    const before = translator.computed
    change()
    const changed = translator.settle()
    return { cost: translator.computed - before, changed }
  }

  it('to one route recomputes that route, and all others stay the same objects', () => {
    const before = translator.gateways.get('shop/web')?.routes ?? []
    const { cost, changed } = costOf(() => translator.put(route(7, '/other')))
    assert.ok(cost < 20, `${cost} computed`)
    assert.deepEqual(changed, { gateways: ['shop/web'], endpoints: [], statuses: [] })
    const after = translator.gateways.get('shop/web')?.routes ?? []
    assert.equal(after.filter((each) => before.includes(each)).length, COUNT - 1)
  })

  it('to endpoints leaves configs and statuses alone', () => {
    const { cost, changed } = costOf(() => translator.put(slice(7, '10.0.0.9')))
    assert.ok(cost < 10, `${cost} computed`)
    assert.deepEqual(changed, { gateways: [], endpoints: ['shop/web'], statuses: [] })
    assert.deepEqual(translator.endpoints.get('shop/web')?.['backend/service/shop/service-7/80'], ['10.0.0.9:3000'])
  })

  it('that keeps a resource equal costs almost nothing', () => {
    const { cost, changed } = costOf(() => translator.put(route(8)))
    assert.ok(cost < 10, `${cost} computed`)
    assert.deepEqual(changed, { gateways: [], endpoints: [], statuses: [] })
  })

  it('leaves nothing cached after the resources are deleted', () => {
    const { size } = translator
    for (let round = 0; round < 3; round++) {
      for (let index = COUNT; index < COUNT + 100; index++) translator.put(route(index))
      translator.settle()
      for (let index = COUNT; index < COUNT + 100; index++) translator.drop('HTTPRoute', `shop/route-${index}`)
      translator.settle()
    }
    assert.equal(translator.size, size)
  })
})
