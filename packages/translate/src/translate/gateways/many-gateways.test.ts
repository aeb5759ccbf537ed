import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../resources/resource.ts'
import type { PolicyStatus } from '../../resources/status.ts'
import { createTranslator, translateAll } from '../../testing/golden.ts'

const GROUP = 'gateway.networking.k8s.io'
const CLASS: Resource = {
  apiVersion: `${GROUP}/v1`,
  kind: 'GatewayClass',
  metadata: { name: 'portico' },
  spec: { controllerName: 'portico.dev/gateway' },
}
const SERVICE: Resource = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'orders' },
  spec: { ports: [{ port: 80 }] },
}

/** Returns `count` Gateways with one route attached to all of them, and a policy of each kind. */
function resources(count: number): Resource[] {
  const names = Array.from({ length: count }, (_, index) => `web-${String(index).padStart(2, '0')}`)
  const at = (name: string) => ({ namespace: 'shop', name })
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  return [
    CLASS,
    SERVICE,
    ...names.map((name): Resource => {
      const spec = { gatewayClassName: 'portico', listeners }
      return { apiVersion: `${GROUP}/v1`, kind: 'Gateway', metadata: at(name), spec }
    }),
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'HTTPRoute',
      metadata: at('orders'),
      spec: {
        parentRefs: names.map((name) => ({ name })),
        rules: [{ backendRefs: [{ name: 'orders', port: 80 }] }],
      },
    },
    {
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: at('limits'),
      spec: {
        targetRefs: [{ group: GROUP, kind: 'HTTPRoute', name: 'orders' }],
        traffic: { timeouts: { request: '1s' } },
      },
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'BackendTLSPolicy',
      metadata: at('tls'),
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'orders' }],
        validation: { wellKnownCACertificates: 'System', hostname: 'orders.internal' },
      },
    },
  ]
}

function ancestorsOf(count: number, id: string): string[] {
  const status = translateAll(resources(count)).statuses.get(id) as PolicyStatus
  return status.ancestors.map(({ ancestorRef }) => ancestorRef.name)
}

test('a status has room for sixteen ancestors, and says how many are left out', () => {
  assert.equal(ancestorsOf(16, 'GwPolicy/shop/limits').at(-1), 'web-15')
  const names = ancestorsOf(17, 'GwPolicy/shop/limits')
  assert.deepEqual([names.length, names.at(-2), names.at(-1)], [16, 'web-14', 'StatusSummary'])
  const status = translateAll(resources(17)).statuses.get('GwPolicy/shop/limits') as PolicyStatus
  assert.equal(status.ancestors.at(-1)?.conditions[0]?.message, '2 more ancestors are left out')
})

test('a status of a BackendTLSPolicy names sixteen Gateways at most', () => {
  assert.equal(ancestorsOf(16, 'BackendTLSPolicy/shop/tls').length, 16)
  assert.equal(ancestorsOf(17, 'BackendTLSPolicy/shop/tls').length, 16)
})

test('a Service is reached by its name only where slices are not read, and while it has none', () => {
  const kindOf = (withoutSlices: 'dns' | 'unavailable', ...more: Resource[]): string | undefined => {
    const translator = createTranslator(withoutSlices)
    for (const resource of [...resources(1), ...more]) translator.put(resource)
    translator.settle()
    const backends = translator.gateways.get('shop/web-00')?.backends ?? []
    return backends.find(({ key }) => key === 'backend/service/shop/orders/80')?.target.kind
  }
  const slice: Resource = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name: 'orders-1', labels: { 'kubernetes.io/service-name': 'orders' } },
  }
  assert.deepEqual(
    [kindOf('dns'), kindOf('dns', slice), kindOf('unavailable'), kindOf('unavailable', slice)],
    ['static', 'service', 'service', 'service'],
  )
})
