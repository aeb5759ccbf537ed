import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@portico/translate'
import { gateway, slice, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'
import { failCall } from './testing/scripted-api.ts'

const PODS_PATH = '/api/v1/pods'
const HBONE = '10.0.0.7:3000;hbone=spiffe://cluster.local/ns/shop/sa/cart'

function parameters(spec: object): Resource {
  const metadata = { namespace: 'shop', name: 'web', generation: Math.random() }
  return { apiVersion: 'portico.dev/v1alpha1', kind: 'GwParameters', metadata, spec }
}

function pod(redirection: string): Resource {
  const metadata = { namespace: 'shop', name: 'cart-1', annotations: { 'ambient.istio.io/redirection': redirection } }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { serviceAccountName: 'cart' } }
}

function podSlice(): Resource {
  const targetRef = { kind: 'Pod', name: 'cart-1', namespace: 'shop' }
  return { ...slice('10.0.0.7'), ...{ endpoints: [{ addresses: ['10.0.0.7'], targetRef }] } }
}

const infrastructure = { parametersRef: { group: 'portico.dev', kind: 'GwParameters', name: 'web' } }

test('Pods are watched only while a Gateway is in a mesh, and are plain again when they leave the mesh', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  const isAt = (address: string) => (): boolean =>
    Object.values(scene.reached.get('shop/web') ?? {})
      .flat()
      .join() === address
  const podCalls = (): number => api.asked.filter(({ path }) => path === PODS_PATH).length
  for (const resource of [gateway({ infrastructure }), parameters({}), podSlice(), pod('enabled')]) api.put(resource)
  scene.start()
  await eventually('the address is plain', isAt('10.0.0.7:3000'))
  assert.equal(podCalls(), 0)
  api.put(parameters({ mesh: {} }))
  await eventually('the Pod is called through HBONE', isAt(HBONE))
  api.put(pod('disabled'))
  await eventually('the Pod has left the mesh', isAt('10.0.0.7:3000'))
  api.put(pod('enabled'))
  await eventually('the Pod is back', isAt(HBONE))
  api.drop('/api/v1/namespaces/shop/pods/cart-1')
  await eventually('an unknown Pod is not called', isAt(''))
  api.put(parameters({}))
  await eventually('the Gateway has left the mesh', isAt('10.0.0.7:3000'))
})

test('the first addresses of a Gateway in a mesh have the marks of its Pods', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  for (const resource of [gateway({ infrastructure }), parameters({ mesh: {} }), podSlice(), pod('enabled')])
    api.put(resource)
  scene.start()
  await eventually('there are addresses', () => scene.reached.has('shop/web'))
  assert.deepEqual(Object.values(scene.reached.get('shop/web') ?? {}), [[HBONE]])
})

test('without rights for Pods, a Gateway in a mesh has no endpoints, and the controller still starts', async (t) => {
  const scene = await useController(t)
  const { api } = scene
  api.intercept = ({ path }, response) => {
    if (path !== PODS_PATH) return false
    failCall(response, 403, 'pods is forbidden')
    return true
  }
  for (const resource of [gateway({ infrastructure }), parameters({ mesh: {} }), podSlice()]) api.put(resource)
  scene.start()
  await eventually('there are addresses', () => scene.reached.has('shop/web'))
  assert.deepEqual(Object.values(scene.reached.get('shop/web') ?? {}), [[]])
})
