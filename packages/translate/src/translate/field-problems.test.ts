import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../resources/kinds.ts'
import { createTranslator } from '../testing/golden.ts'

const GATEWAY_API = 'gateway.networking.k8s.io/v1'
/**
 * A valid spec of each kind, and a field with a problem: an unknown field by default, but Services have many fields
 * that translation does not read, so theirs has a wrong type.
 */
const specs: [kind: Kind, apiVersion: string, spec: object, odd?: object][] = [
  ['Gateway', GATEWAY_API, { gatewayClassName: 'portico', listeners: [] }],
  ['ListenerSet', GATEWAY_API, { parentRef: { name: 'web' }, listeners: [] }],
  ['XListenerSet', 'gateway.networking.x-k8s.io/v1alpha1', { parentRef: { name: 'web' }, listeners: [] }],
  ['Service', 'v1', { ports: [{ port: 80 }] }, { type: 7 }],
  ['BackendTLSPolicy', GATEWAY_API, { targetRefs: [], validation: { hostname: 'a.test' } }],
  [
    'XBackend',
    'gateway.networking.x-k8s.io/v1alpha1',
    { type: 'EndpointSelector', endpointSelector: { matchLabels: { app: 'a' } }, port: { number: 80 } },
  ],
  ['XTelemetryPolicy', 'gateway.networking.x-k8s.io/v1alpha1', { targetRefs: [] }],
  ['XBackendTrafficPolicy', 'gateway.networking.x-k8s.io/v1alpha1', { targetRefs: [] }],
  ['HTTPRoute', GATEWAY_API, { parentRefs: [], rules: [] }],
  ['GRPCRoute', GATEWAY_API, { parentRefs: [], rules: [] }],
  ['TLSRoute', GATEWAY_API, { parentRefs: [], rules: [] }],
  ['TCPRoute', GATEWAY_API, { parentRefs: [], rules: [] }],
  ['UDPRoute', GATEWAY_API, { parentRefs: [], rules: [] }],
]

for (const [kind, apiVersion, spec, odd = { noSuchField: true }] of specs) {
  test(`a ${kind} is told of a field that is wrong, and of metadata of a wrong type`, () => {
    const translator = createTranslator()
    translator.put({ apiVersion, kind, metadata: { namespace: 'shop', name: 'good' }, spec })
    const labels = { team: 7 } as unknown as Record<string, string>
    const metadata = { namespace: 'shop', name: 'odd', labels }
    translator.put({ apiVersion, kind, metadata, spec: { ...spec, ...odd } })
    const pathsOf = (key: string): string[] => translator.problemsOf(kind, key).map(({ path }) => path.join('.'))
    assert.deepEqual(pathsOf('shop/good'), [])
    assert.deepEqual(pathsOf('shop/odd'), ['metadata.labels.team', `spec.${Object.keys(odd).join()}`])
    assert.deepEqual(pathsOf('shop/gone'), [])
  })
}

test('a route is told of fields of its rules', () => {
  const translator = createTranslator()
  const metadata = { namespace: 'shop', name: 'orders' }
  const spec = { parentRefs: [], rules: [{}, { noSuchField: true }] }
  translator.put({ apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata, spec })
  const problems = translator.problemsOf('HTTPRoute', 'shop/orders')
  assert.deepEqual(
    problems.map(({ path }) => path.join('.')),
    ['spec.rules.1.noSuchField'],
  )
})

test('a resource of a kind without fields of its own is told of its metadata only', () => {
  const translator = createTranslator()
  const metadata = { name: 'shop', generation: 'first' as unknown as number }
  translator.put({ apiVersion: 'v1', kind: 'Namespace', metadata, spec: { noSuchField: true } })
  const problems = translator.problemsOf('Namespace', 'shop')
  assert.deepEqual(
    problems.map(({ path }) => path.join('.')),
    ['metadata.generation'],
  )
})
