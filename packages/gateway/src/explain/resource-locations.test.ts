import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttachedPolicy, Ir, Route } from '../ir/resources.ts'
import { resourceLocations } from './resource-locations.ts'

const csrf = {}
const authorization = { rules: [{ mode: 'deny', expression: 'true' }] }
const route: Route = {
  key: 'bind/80/web/shop/orders/0',
  listener: 'bind/80/web',
  name: 'shop/orders',
  rule: '0',
  labels: {},
  hostnames: [],
  matches: [],
  backends: [],
}
const attached = { frontend: null, phase: 'PostRouting' } as const

test('parts of a config that came from resources are named by these', () => {
  const timeouts = { request: 5 }
  const rewrite = { path: '/x' }
  const tls = { hostname: 'a' }
  const auth = { key: 'k' }
  const headers = {}
  const entry = `${route.key}/backend/1`
  const grpc = { ...route, key: 'bind/80/web/shop/calls:grpc/2', name: 'shop/calls:grpc' }
  const inline = (target: AttachedPolicy['target'], parts: object): AttachedPolicy => {
    return { ...attached, key: 'inline/x', target, traffic: null, backend: null, ...parts }
  }
  const policies = [
    {
      ...attached,
      key: 'policy/shop/limits@route/bind/80/web/shop/orders',
      target: { kind: 'route', key: 'bind/80/web/shop/orders' },
      traffic: { csrf },
      backend: { mcp: { authorization } },
    } as AttachedPolicy,
    inline({ kind: 'rule', key: route.key }, { traffic: { timeouts, urlRewrite: rewrite } }),
    inline({ kind: 'backend', key: entry }, { backend: { headers } }),
    inline({ kind: 'backend', key: 'backend/shop/models/section/cheap' }, { backend: { tls } }),
    inline(
      { kind: 'backend', key: 'backend/GwModel/Gateway/shop/web/bind/80/llm/section/shop/smart' },
      { backend: { auth } },
    ),
    inline({ kind: 'backend', key: 'backend/service/shop/cart/80' }, { backend: { mcp: rewrite } }),
  ]
  const listener = { key: 'bind/80/web', bind: 'bind/80', name: 'web', hostname: '', protocol: 'HTTP', tls: null }
  const ofSet = { ...listener, key: 'bind/80/shop/more/extra', name: 'extra', set: 'listenerSet/shop/more' }
  const ofModels = { ...route, key: 'bind/80/llm/shop/web:models/0', name: 'shop/web:models' }
  const ir = { binds: [], listeners: [listener, ofSet], routes: [route, grpc, ofModels], backends: [], policies } as Ir
  const locate = resourceLocations(ir, 'edge/public')
  const own = { kind: 'GwPolicy', namespace: 'shop', name: 'limits' }
  assert.deepEqual(locate(csrf, ['additionalOrigins']), { ...own, path: 'spec.traffic.csrf.additionalOrigins' })
  assert.deepEqual(locate(authorization, ['rules', 0, 'deny']), {
    ...own,
    path: 'spec.backend.mcp.authorization.rules[0].deny',
  })
  const orders = { kind: 'HTTPRoute', namespace: 'shop', name: 'orders' }
  assert.deepEqual(locate(route, []), { ...orders, path: 'spec.rules[0]' })
  assert.deepEqual(locate(route, ['backends', 1]), { ...orders, path: 'spec.rules[0].backendRefs[1]' })
  assert.deepEqual(locate(timeouts, ['request']), { ...orders, path: 'spec.rules[0].timeouts.request' })
  assert.deepEqual(locate(rewrite, []), { ...orders, path: 'spec.rules[0].filters' })
  assert.deepEqual(locate(headers, []), { ...orders, path: 'spec.rules[0].backendRefs[1].filters' })
  assert.deepEqual(locate(grpc, []), { kind: 'GRPCRoute', namespace: 'shop', name: 'calls', path: 'spec.rules[2]' })
  assert.deepEqual(locate(ofModels, []), { kind: 'Gateway', namespace: 'shop', name: 'web', path: '' })
  const smart = { kind: 'GwModel', namespace: 'shop', name: 'smart' }
  assert.deepEqual(locate(auth, ['key']), { ...smart, path: 'spec.policies.auth.key' })
  assert.deepEqual(locate(tls, ['hostname']), {
    kind: 'GwBackend',
    namespace: 'shop',
    name: 'models',
    path: 'cheap.policies.tls.hostname',
  })
  assert.deepEqual(locate(listener, []), {
    kind: 'Gateway',
    namespace: 'edge',
    name: 'public',
    path: 'spec.listeners.web',
  })
  assert.deepEqual(locate(ofSet, []), {
    kind: 'ListenerSet',
    namespace: 'shop',
    name: 'more',
    path: 'spec.listeners.extra',
  })
  assert.equal(locate({}, []), null)
})
