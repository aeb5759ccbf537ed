import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttachedPolicy, Ir, Route } from '../ir/resources.ts'
import { resourcePlaces } from './resource-places.ts'

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
  const policy = {
    ...attached,
    key: 'policy/shop/limits@route/bind/80/web/shop/orders',
    target: { kind: 'route', key: 'bind/80/web/shop/orders' },
    traffic: { csrf },
    backend: { mcp: { authorization } },
  } as AttachedPolicy
  const ir: Ir = { binds: [], listeners: [], routes: [route], backends: [], policies: [policy] }
  const locate = resourcePlaces(ir)
  const own = { kind: 'GwPolicy', namespace: 'shop', name: 'limits' }
  assert.deepEqual(locate(csrf, ['additionalOrigins']), { ...own, path: 'spec.traffic.csrf.additionalOrigins' })
  assert.deepEqual(locate(authorization, ['rules', 0, 'deny']), {
    ...own,
    path: 'spec.backend.mcp.authorization.rules[0].deny',
  })
  assert.deepEqual(locate(route, []), { kind: 'Route', namespace: 'shop', name: 'orders', path: '' })
  assert.equal(locate({}, []), null)
})
