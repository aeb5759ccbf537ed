import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource, RouteStatus } from '@portico/translate'
import { gateway, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'

const GROUP = 'inference.networking.k8s.io'
const PODS_PATH = '/api/v1/pods'
const POOLS_PATH = `/apis/${GROUP}/v1/inferencepools`
const POOL_PATH = `/apis/${GROUP}/v1/namespaces/shop/inferencepools/llama`
const KEY = 'backend/pool/shop/llama'

function pool(): Resource {
  const spec = { selector: { matchLabels: { app: 'llama' } }, targetPorts: [{ number: 8000 }] }
  return {
    apiVersion: `${GROUP}/v1`,
    kind: 'InferencePool',
    metadata: { namespace: 'shop', name: 'llama', generation: 1 },
    spec,
  }
}

function route(): Resource {
  const backendRefs = [{ group: GROUP, kind: 'InferencePool', name: 'llama' }]
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name: 'chat', generation: 1 },
    spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs }] },
  }
}

/** A Pod of the pool; `metadata` may mark it as being deleted. */
function pod(name: string, podIP: string, isReady = true, metadata: object = {}): Resource {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
  const own = { namespace: 'shop', name, labels: { app: 'llama' }, generation: 1, ...metadata }
  return { apiVersion: 'v1', kind: 'Pod', metadata: own, status: { podIP, conditions } }
}

test('the ready Pods of a pool are its members, and a change of Pods publishes no config', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  const isAt =
    (...addresses: string[]) =>
    (): boolean =>
      scene.reached.get('shop/web')?.[KEY]?.join() === addresses.join()
  for (const resource of [gateway(), route(), pool(), pod('one', '10.0.0.1'), pod('two', '10.0.0.2', false)])
    api.put(resource)
  scene.start()
  await eventually('the ready Pod is a member', isAt('10.0.0.1:8000'))
  const configs = scene.published.length
  api.put(pod('two', '10.0.0.2'))
  await eventually('the other Pod is ready', isAt('10.0.0.1:8000', '10.0.0.2:8000'))
  api.put(pod('one', '10.0.0.1', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  await eventually('the first Pod is being deleted', isAt('10.0.0.2:8000'))
  api.put(pod('two', '10.0.0.2', true, { labels: { app: 'other' } }))
  await eventually('the other Pod has left the pool', isAt())
  assert.equal(scene.published.length, configs)
})

test('Pods are watched only while there is a pool, and the status of the pool names its Gateway', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  const podCalls = (): number => api.asked.filter(({ path }) => path === PODS_PATH).length
  for (const resource of [gateway(), route(), pod('one', '10.0.0.1')]) api.put(resource)
  scene.start()
  scene.controller.lead()
  await eventually('the Gateway has a config', () => scene.published.length > 0)
  assert.equal(podCalls(), 0)
  api.put(pool())
  const parents = (): RouteStatus['parents'] => (api.get(POOL_PATH)?.status as RouteStatus | undefined)?.parents ?? []
  await eventually('the pool has a status', () => parents().length > 0)
  assert.deepEqual(
    parents().map(({ parentRef, conditions }) => [
      parentRef.name,
      conditions.map(({ type, status }) => [type, status]),
    ]),
    [
      [
        'web',
        [
          ['Accepted', 'True'],
          ['ResolvedRefs', 'True'],
        ],
      ],
    ],
  )
  await eventually('its Pods are read', () => scene.reached.get('shop/web')?.[KEY]?.join() === '10.0.0.1:8000')
  api.drop('/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/chat')
  await eventually('no Gateway uses the pool', () => parents().length === 0)
})

test('a cluster without InferencePools is served, and a route to a pool has an unresolved reference', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  api.setMissing(POOLS_PATH, true)
  for (const resource of [gateway(), route()]) api.put(resource)
  scene.start()
  scene.controller.lead()
  const path = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/chat'
  const conditions = () => (api.get(path)?.status as RouteStatus | undefined)?.parents[0]?.conditions ?? []
  await eventually('the route has a status', () => conditions().length > 0)
  assert.deepEqual(
    conditions().map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Accepted', 'True', 'Accepted'],
      ['ResolvedRefs', 'False', 'BackendNotFound'],
    ],
  )
})
