import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Backend, Ir } from '../ir/resources.ts'
import { request } from '../testing/client.ts'
import { TestGateway } from '../testing/gateway.ts'
import { until } from '../testing/scene.ts'
import { explain } from './explain.ts'
import type { Explanation } from '../findings/explanation.ts'
import { resourceLocations } from './resource-locations.ts'

/** Configs that only cluster resources can express; no config file has them. */

async function explained(t: TestContext, target: Backend['target']): Promise<Explanation> {
  const backend = { key: 'backend/service/shop/web/80', name: 'service/shop/web/80', target }
  const route = {
    key: 'bind/0/web/shop/orders/0',
    listener: 'bind/0/web',
    name: 'shop/orders',
    rule: '0',
    labels: {},
    hostnames: [],
    matches: [{ path: { kind: 'pathPrefix' as const, value: '/' }, method: null, headers: [], query: [] }],
    backends: [{ key: 'bind/0/web/shop/orders/0/backend/0', backend: backend.key, weight: 1 }],
  }
  const ir: Ir = {
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: 'bind/0/web', bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [route],
    backends: [backend],
    policies: [],
  }
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use(ir)
  await request(gateway.port())
  await until(() => gateway.recorded().length === 1)
  return explain(gateway.recorded()[0]!, {
    ...{ isKnown: true, isEarlier: false, live: 1 },
    ...{ ir, locate: resourceLocations(ir, 'shop/web') },
  })
}

const place = { namespace: 'shop', name: 'orders' }

test('a Service without a ready endpoint', async (t) => {
  const host = 'web.shop.svc.cluster.local'
  const found = await explained(t, { kind: 'service', host, port: 80, version: null })
  assert.equal(found.code, 'no_endpoints')
  assert.equal(found.wouldPass[0]?.text, 'the backend has a healthy endpoint.')
  assert.partialDeepStrictEqual(found.decidedBy?.place, place)
})

test('a Service that does not exist', async (t) => {
  const found = await explained(t, { kind: 'invalid', reason: 'Service shop/web not found' })
  assert.equal(found.code, 'invalid_backend')
  assert.match(found.headline, /Service shop\/web not found/)
  assert.equal(found.wouldPass[0]?.text, 'the objects that the backend refers to exist.')
  assert.partialDeepStrictEqual(found.decidedBy?.place, place)
})

test('an MCP backend whose selector matches no Service', async (t) => {
  const found = await explained(t, {
    ...{ kind: 'mcp', targets: [], sessionRouting: 'Stateful', failureMode: 'FailClosed', prefixMode: 'Conditional' },
    ...{ sessionIdleTimeout: 60_000, maxMessageSize: 65_536, sessionLifetime: 60_000 },
  })
  assert.equal(found.code, 'no_targets')
  assert.match(found.headline, /has no MCP servers/)
  assert.match(found.wouldPass[0]?.text ?? '', /a Service with a port of `appProtocol: portico.dev\/mcp` matches/)
  assert.partialDeepStrictEqual(found.decidedBy?.place, place)
})
