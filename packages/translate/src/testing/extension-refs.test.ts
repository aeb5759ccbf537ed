import assert from 'node:assert/strict'
import { it } from 'node:test'
import { request } from '../../../gateway/src/testing/client.ts'
import { TestGateway } from '../../../gateway/src/testing/gateway.ts'
import { useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { Resource } from '../resources/resource.ts'
import { translateAll } from './golden.ts'

const GROUP = 'gateway.networking.k8s.io'

function own(kind: string, name: string, spec: unknown): Resource {
  return { apiVersion: 'portico.dev/v1alpha1', kind, metadata: { namespace: 'shop', name, generation: 1 }, spec }
}

it('a filter of type ExtensionRef holds for its rule alone, and is never skipped', async (t) => {
  const origin = await useOrigin(t)
  const rule = (path: string, ...filters: string[]) => ({
    matches: [{ path: { value: path } }],
    filters: filters.map((name) => ({
      type: 'ExtensionRef',
      extensionRef: { group: 'portico.dev', kind: 'GwFilter', name },
    })),
    backendRefs: [{ group: 'portico.dev', kind: 'GwBackend', name: 'origin' }],
  })
  const translator = translateAll([
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'Gateway',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
    own('GwBackend', 'origin', { static: { host: '127.0.0.1', port: origin.port } }),
    own('GwFilter', 'readonly', {
      traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['request.method != "GET"'] } } },
    }),
    own('GwFilter', 'broken', { traffic: { extAuth: { backendRef: { name: 'gone', port: 80 }, http: {} } } }),
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'HTTPRoute',
      metadata: { namespace: 'shop', name: 'orders' },
      spec: {
        parentRefs: [{ name: 'web' }],
        rules: [rule('/guarded', 'readonly'), rule('/open'), rule('/broken', 'broken'), rule('/missing', 'missing')],
      },
    },
  ])
  translator.findQuarantined(translator.gateways.keys())
  const ir = translator.gateways.get('shop/web') ?? assert.fail('there is no config')
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use({ ...ir, binds: ir.binds.map((bind) => ({ ...bind, port: 0 })) })
  const ask = async (method: string, path: string): Promise<number | undefined> =>
    (await request(gateway.port(), { method, path })).status
  assert.equal(await ask('GET', '/guarded'), 200)
  assert.equal(await ask('DELETE', '/guarded'), 403)
  assert.equal(await ask('DELETE', '/open'), 200)
  const before = origin.seen.length
  assert.equal(await ask('GET', '/broken'), 500)
  assert.equal(await ask('GET', '/missing'), 500)
  assert.equal(origin.seen.length, before)
  const said = JSON.stringify(translator.statuses.get('HTTPRoute/shop/orders'))
  assert.match(said, /rules\[2\]: answered with 500: GwFilter shop\/broken/)
  assert.match(said, /rules\[3\]: GwFilter shop\/missing not found/)
})
