import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '@portico/translate'
import { answer, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import { isObject } from '@portico/http/json'
import { kubeCluster } from './kube-cluster.ts'
import { reconcile } from './reconcile.ts'

const gateway: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: 'shop', uid: 'u1' },
  spec: {},
}
const desired = { gateway, className: 'portico', ports: [80], levels: [] }

test('missing objects are applied, existing ones are left alone', async (t) => {
  const objects = new Map<string, object>()
  const api = await useScriptedApi(t, ({ method, path, body }, response) => {
    const known = objects.get(path)
    if (method === 'PATCH' && isObject(body)) {
      objects.set(path, body)
      return answer(response, 200, body)
    }
    if (method === 'DELETE') return answer(response, 200, {})
    if (known !== undefined) return answer(response, 200, known)
    const items = [...objects].filter(([name]) => name.startsWith(`${path}/`)).map(([, object]) => untyped(object))
    // Lists are empty or have the items; single objects do not exist.
    if (/\/[a-z]+s$/.test(path)) answer(response, 200, { items })
    else failCall(response, 404, 'not found')
  })
  const first = await reconcile(kubeCluster(api.client), desired, { image: {}, version: '1.0.0' })
  assert.deepEqual([first.problems, first.failures, first.applied.length], [[], [], 5])
  const [list] = api.asked
  assert.equal(list?.path, '/api/v1/namespaces/shop/serviceaccounts')
  assert.equal(
    list.query.get('labelSelector'),
    'gateway.networking.k8s.io/gateway-name=edge,app.kubernetes.io/managed-by=portico',
  )
  assert.deepEqual(
    api.asked.filter(({ method }) => method === 'PATCH').map(({ path, query }) => `${path}?${String(query)}`),
    [
      '/api/v1/namespaces/shop/serviceaccounts/edge',
      '/api/v1/namespaces/shop/configmaps/edge',
      '/api/v1/namespaces/shop/secrets/edge-session-key',
      '/api/v1/namespaces/shop/services/edge',
      '/apis/apps/v1/namespaces/shop/deployments/edge',
    ].map((path) => `${path}?fieldManager=portico.dev%2Fgateway&force=true`),
  )
  const again = await reconcile(kubeCluster(api.client), desired, { image: {}, version: '1.0.0' })
  assert.deepEqual([again.applied, again.removed], [[], []])
})

test('an object is removed by its uid', async (t) => {
  const api = await useScriptedApi(t, (_, response) => answer(response, 200, {}))
  await kubeCluster(api.client).remove({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'edge', namespace: 'shop', uid: 'u9' },
  })
  const [asked] = api.asked
  assert.deepEqual(
    [asked?.method, asked?.path],
    ['DELETE', '/apis/policy/v1/namespaces/shop/poddisruptionbudgets/edge'],
  )
  assert.match(JSON.stringify(asked?.body), /"preconditions":\{"uid":"u9"\}/)
})

/** The object without kind and version, as in lists. */
function untyped(object: object): object {
  return { ...object, apiVersion: undefined, kind: undefined }
}
