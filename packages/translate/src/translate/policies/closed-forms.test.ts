import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../../gateway/src/testing/client.ts'
import { TestGateway } from '../../../../gateway/src/testing/gateway.ts'
import { useOrigin } from '../../../../gateway/src/testing/scene.ts'
import type { Resource } from '../../resources/resource.ts'
import { translateAll } from '../../testing/golden.ts'
import { withoutBadRules } from './closed-forms.ts'

const GROUP = 'gateway.networking.k8s.io'
const at = (name: string) => ({ name, namespace: 'shop', generation: 1 })

/** A Gateway with one route to an origin, and a policy for the route or its Service. */
function resources(origin: string, kind: 'HTTPRoute' | 'Service', sections: object): Resource[] {
  const [host = '', port = ''] = origin.split(':')
  return [
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'Gateway',
      metadata: at('web'),
      spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'HTTPRoute',
      metadata: at('orders'),
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'orders', port: 80 }] }] },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: at('orders'), spec: { ports: [{ name: 'http', port: 80 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...at('orders-1'), labels: { 'kubernetes.io/service-name': 'orders' } },
      ports: [{ name: 'http', port: Number(port) }],
      endpoints: [{ addresses: [host] }],
    } as Resource,
    {
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwPolicy',
      metadata: at('policy'),
      spec: { targetRefs: [{ group: kind === 'Service' ? '' : GROUP, kind, name: 'orders' }], ...sections },
    },
  ]
}

async function answerTo(t: TestContext, kind: 'HTTPRoute' | 'Service', sections: object): Promise<[number, number]> {
  const origin = await useOrigin(t)
  const translated = translateAll(resources(origin.host, kind, sections))
  const ir = translated.gateways.get('shop/web')
  const endpoints = translated.endpoints.get('shop/web')
  assert.ok(ir !== undefined && endpoints !== undefined)
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use({ ...ir, binds: ir.binds.map((bind) => ({ ...bind, port: 0 })) })
  gateway.setEndpoints({ put: Object.entries(endpoints).map(([key, all]) => [key, [...all]]), drop: [] })
  const { status } = await request(gateway.port(), { path: '/' })
  return [status, origin.seen.length]
}

test('a valid policy lets requests pass', async (t) => {
  assert.deepEqual(await answerTo(t, 'HTTPRoute', { traffic: { timeouts: { request: '60s' } } }), [200, 1])
})

const broken: [string, 'HTTPRoute' | 'Service', object, number][] = [
  ['API keys without a Secret', 'HTTPRoute', { traffic: { apiKeyAuthentication: { secretRef: { name: 'x' } } } }, 401],
  ['users without a Secret', 'HTTPRoute', { traffic: { basicAuthentication: { secretRef: { name: 'x' } } } }, 401],
  [
    'a key set that cannot be read',
    'HTTPRoute',
    { traffic: { jwtAuthentication: { providers: [{ issuer: 'a', jwks: { inline: '{}' } }] } } },
    401,
  ],
  [
    'a rule that denies, in no language',
    'HTTPRoute',
    { traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['request.'] } } } },
    403,
  ],
  [
    'an authorizer that is not there',
    'HTTPRoute',
    { traffic: { extAuth: { backendRef: { name: 'x', port: 80 } } } },
    403,
  ],
  [
    'an authorizer with an expression in no language, though failures may pass',
    'HTTPRoute',
    {
      traffic: { extAuth: { backendRef: { name: 'orders', port: 80 }, failureMode: 'FailOpen', http: { path: '+' } } },
    },
    403,
  ],
  [
    'a processor that is not there',
    'HTTPRoute',
    { traffic: { extProc: { backendRef: { name: 'x', port: 80 } } } },
    500,
  ],
  [
    'a limit by an expression in no language',
    'HTTPRoute',
    { traffic: { rateLimit: { local: [{ requests: 5, unit: 'Hours', key: 'jwt.' }] } } },
    500,
  ],
  ['a credential without a Secret', 'Service', { backend: { auth: { secretRef: { name: 'x' } } } }, 403],
  ['authorities that are not there', 'Service', { backend: { tls: { caCertificateRefs: [{ name: 'x' }] } } }, 403],
]
for (const [name, kind, sections, expected] of broken) {
  test(`nothing passes: ${name}`, async (t) => {
    assert.deepEqual(await answerTo(t, kind, sections), [expected, 0])
  })
}

type Problems = Parameters<typeof withoutBadRules>[2]
const badAt = (...path: (string | number)[]) => [{ code: 'bad_expression', path }] as unknown as Problems

test('a rule that cannot be read stays as one that lets nobody pass', () => {
  const rules = (action?: string) => ({
    ...(action !== undefined && { action }),
    policy: { matchExpressions: ['a', '?'] },
  })
  const mended = (action?: string) =>
    withoutBadRules('authorization', rules(action), badAt('policy', 'matchExpressions', 1))
  const expected = (action: object, expression: string) => ({
    ...action,
    policy: { matchExpressions: ['a', expression] },
  })
  assert.deepEqual(mended(), expected({}, 'false'))
  assert.deepEqual(mended('Allow'), expected({ action: 'Allow' }, 'false'))
  assert.deepEqual(mended('Require'), expected({ action: 'Require' }, 'false'))
  assert.deepEqual(mended('Deny'), expected({ action: 'Deny' }, 'true'))
  const inMcp = withoutBadRules(
    'mcp',
    { authorization: rules('Deny') },
    badAt('authorization', 'policy', 'matchExpressions', 1),
  )
  assert.deepEqual(inMcp, { authorization: expected({ action: 'Deny' }, 'true') })
})

test('rules are not mended where something else is wrong', () => {
  const raw = { policy: { matchExpressions: ['?'] } }
  const bad = badAt('policy', 'matchExpressions', 0)
  const others: [what: string, name: string, raw: unknown, problems: Problems][] = [
    ['another policy', 'rateLimit', raw, bad],
    ['another code', 'authorization', raw, [{ ...bad[0]!, code: 'unknown_key' }] as unknown as Problems],
    ['an expression that is no rule', 'authorization', raw, badAt('policy', 'condition', 0)],
    ['one more problem', 'authorization', raw, [...bad, ...badAt('policy', 'when')]],
    ['a list that is none', 'authorization', { policy: { matchExpressions: 'true' } }, bad],
    ['no list', 'authorization', { policy: null }, bad],
    ['no policy', 'authorization', 'true', bad],
    ['nothing at all', 'authorization', null, bad],
    ['an index that is none', 'authorization', raw, badAt('policy', 'matchExpressions', 'first')],
    ['rules at another place', 'mcp', raw, bad],
  ]
  for (const [what, name, config, problems] of others) assert.equal(withoutBadRules(name, config, problems), null, what)
})
