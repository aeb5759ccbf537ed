import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyStatus, Resource } from '@portico/translate'
import { gateway, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'

const API = 'gateway.networking.x-k8s.io/v1alpha1'
const PODS_PATH = '/api/v1/pods'
const BACKEND_PATH = `/apis/${API}/namespaces/shop/xbackends/orders`
const ROUTE_PATH = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/orders'
const KEY = 'backend/xbackend/shop/orders'

function backend(spec: object, generation: number): Resource {
  return {
    apiVersion: API,
    kind: 'XBackend',
    metadata: { namespace: 'shop', name: 'orders', generation },
    spec: { port: { number: 8080 }, ...spec },
  }
}

const selected = { type: 'EndpointSelector', endpointSelector: { matchLabels: { app: 'orders' } } }
const external = { type: 'ExternalHostname', externalHostname: { hostname: 'not-listed.example' } }

const route: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { namespace: 'shop', name: 'orders', generation: 1 },
  spec: {
    parentRefs: [{ name: 'web' }],
    rules: [{ backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name: 'orders' }] }],
  },
}

const pod: Resource = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'orders-1', labels: { app: 'orders' }, generation: 1 },
  status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
}

test('Pods are watched only while an XBackend selects some, and its status names the Gateway', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  for (const resource of [gateway(), route, pod, backend(external, 1)]) api.put(resource)
  scene.start()
  scene.controller.lead()
  const accepted = (): string =>
    ((api.get(BACKEND_PATH)?.status as PolicyStatus | undefined)?.ancestors ?? [])
      .map(({ ancestorRef, conditions }) => `${ancestorRef.name} ${conditions[0]?.status} ${conditions[0]?.reason}`)
      .join()
  await eventually('a host that is not listed is rejected', () => accepted() === 'web False UnsupportedValue')
  assert.equal(api.asked.filter(({ path }) => path === PODS_PATH).length, 0)
  api.put(backend(selected, 2))
  await eventually('its Pods are its endpoints', () => scene.reached.get('shop/web')?.[KEY]?.join() === '10.0.0.1:8080')
  await eventually('it is accepted', () => accepted() === 'web True Accepted')
  api.drop(ROUTE_PATH)
  await eventually('no Gateway uses it', () => accepted() === '')
})

test('a cluster without XBackends is served, and a route to one has an unresolved reference', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  api.setMissing(`/apis/${API}/xbackends`, true)
  for (const resource of [gateway(), route]) api.put(resource)
  scene.start()
  scene.controller.lead()
  const status = (): string => JSON.stringify(api.get(ROUTE_PATH)?.status ?? {})
  await eventually('the route has a status', () => status().includes('XBackend shop/orders not found'))
})
