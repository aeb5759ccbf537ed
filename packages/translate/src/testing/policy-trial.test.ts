import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { member } from '../resources/json.ts'
import type { Resource } from '../resources/resource.ts'
import type { Translator } from '../translator.ts'
import { createTranslator, readCase, toPlain } from './golden.ts'

const POLICY = 'shop/policy'

/** The case with an earlier spec in force, and a route of another namespace. */
function useTranslator(change: (policy: Resource) => Resource = (policy) => policy): Translator {
  const translator = createTranslator()
  for (const resource of readCase('traffic-policies/verify-keeps-earlier-spec')) {
    translator.put(resource.kind === 'GwPolicy' ? change(resource) : resource)
  }
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }]
  translator.put({
    apiVersion: 'gateway.networking.k8s.io/v1',
    ...{ kind: 'Gateway', metadata: { namespace: 'shop', name: 'web', generation: 1 } },
    spec: { gatewayClassName: 'portico', listeners },
  })
  translator.put({
    apiVersion: 'gateway.networking.k8s.io/v1',
    ...{ kind: 'HTTPRoute', metadata: { namespace: 'bank', name: 'accounts', generation: 1 } },
    spec: {
      parentRefs: [{ namespace: 'shop', name: 'web' }],
      rules: [{ matches: [{ path: { value: '/accounts' } }], backendRefs: [{ name: 'accounts', port: 80 }] }],
    },
  })
  translator.put({
    apiVersion: 'v1',
    ...{ kind: 'Service', metadata: { namespace: 'bank', name: 'accounts' } },
    spec: { ports: [{ port: 80 }] },
  })
  translator.settle()
  return translator
}

function backendsOf(translator: Translator, route: string): number | undefined {
  return translator.trialOf(POLICY)[0]?.ir.routes.find(({ name }) => name === route)?.backends.length
}

describe('the trial of a policy', () => {
  it('has the newest spec, and changes nothing', () => {
    const translator = useTranslator()
    const before = structuredClone(toPlain(translator))
    const isAllowed = (ir: unknown): boolean => JSON.stringify(ir).includes('request.method ==')
    const [trial] = translator.trialOf(POLICY)
    assert.deepEqual([trial?.gateway, isAllowed(trial?.ir)], ['shop/web', true])
    assert.equal(isAllowed(translator.gateways.get('shop/web')), false)
    assert.deepEqual(translator.settle(), { gateways: [], endpoints: [], statuses: [] })
    assert.deepEqual(toPlain(translator), before)
  })

  it('has the routes of other namespaces without their backends, unless the policy targets the Gateway', () => {
    const tenant = useTranslator()
    assert.deepEqual([backendsOf(tenant, 'shop/orders'), backendsOf(tenant, 'bank/accounts')], [1, 0])
    assert.ok(!JSON.stringify(tenant.trialOf(POLICY)[0]?.ir.backends).includes('bank'))
    const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }]
    const owner = useTranslator((policy) => ({ ...policy, spec: { ...(policy.spec as object), targetRefs } }))
    assert.equal(backendsOf(owner, 'bank/accounts'), 1)
  })

  it('reports new tests and specs once, and waits for content that is still to be read', () => {
    const translator = useTranslator()
    assert.deepEqual([translator.takeVerifications(), translator.takeVerifications()], [[POLICY], []])
    const [tests] = readCase('traffic-policies/verify-passed').filter(({ kind }) => kind === 'ConfigMap')
    assert.ok(tests !== undefined)
    assert.ok(translator.materials().includes('ConfigMap/shop/tests'))
    translator.put({ ...tests, data: undefined, isPartial: true })
    translator.settle()
    assert.deepEqual([translator.takeVerifications(), translator.waits(`Verification/${POLICY}`)], [[], true])
    translator.put({ ...tests, data: { 'tests.yaml': 'tests: []' } })
    translator.settle()
    assert.deepEqual(translator.takeVerifications(), [POLICY])
    assert.equal(member(translator.verificationOf(POLICY)?.tests, 'text'), 'tests: []')
  })
})
