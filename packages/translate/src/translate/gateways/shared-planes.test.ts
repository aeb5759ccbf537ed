import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from '../../resources/resource.ts'
import { createTranslator } from '../../testing/golden.ts'
import { gatewayPolicy, mergedClass, mergedTenant, MERGED_PLANE, tenantWith } from '../../testing/tenants.ts'
import type { Translator } from '../../translator.ts'
import { mergeConfigs } from './shared-config.ts'

const of = (namespace: string, hostname: string, port = 80): Resource[] =>
  mergedTenant(namespace, { year: 2025, port: 1, listeners: [{ port, hostname }], fault: null, harmless: 'nothing' })

function started(...resources: Resource[]): Translator {
  const translator = createTranslator()
  for (const resource of resources) translator.put(resource)
  translator.settle()
  return translator
}

const hostnames = (translator: Translator, key: string): string[] | undefined =>
  translator.gateways.get(key)?.listeners.map(({ hostname }) => hostname)

describe('Gateways that share a data plane', () => {
  it('have one config, by which data planes know them', () => {
    const translator = started(...mergedClass(), ...of('a', 'a.test'), ...of('b', 'b.test'))
    assert.deepEqual([...translator.gateways.keys()], [MERGED_PLANE])
    assert.deepEqual(hostnames(translator, MERGED_PLANE), ['a.test', 'b.test'])
    assert.deepEqual(
      translator.membersOf(MERGED_PLANE).map(({ gateway }) => gateway),
      ['a/web', 'b/web'],
    )
    assert.deepEqual([translator.planeOf('a/web'), translator.planeOf(MERGED_PLANE)], [MERGED_PLANE, MERGED_PLANE])
  })

  it('get their own data planes and lose them again when the parameters change, in one step', () => {
    const [gatewayClass, parameters] = mergedClass() as [Resource, Resource]
    const apart = { ...parameters, spec: {} }
    const translator = started(gatewayClass, apart, ...of('a', 'a.test'), ...of('b', 'b.test'))
    assert.deepEqual([...translator.gateways.keys()].toSorted(), ['a/web', 'b/web'])
    translator.put(parameters)
    assert.deepEqual(translator.settle().gateways, ['a/web', 'b/web', MERGED_PLANE])
    assert.deepEqual([...translator.gateways.keys()], [MERGED_PLANE])
    translator.put(apart)
    assert.deepEqual(translator.settle().gateways, ['a/web', 'b/web', MERGED_PLANE])
    assert.deepEqual([...translator.gateways.keys()].toSorted(), ['a/web', 'b/web'])
    assert.deepEqual([...translator.endpoints.keys()].toSorted(), ['a/web', 'b/web'])
  })

  it('leave the hostname to the next one when they are deleted, and the data plane with the last one', () => {
    const translator = started(...mergedClass(), ...of('a', 'same.test'), ...of('b', 'same.test'))
    assert.deepEqual(
      translator.gateways.get(MERGED_PLANE)?.listeners.map(({ name }) => name),
      ['a/web/l0'],
    )
    translator.drop('Gateway', 'a/web')
    assert.deepEqual(translator.settle().gateways, [MERGED_PLANE])
    assert.deepEqual(
      translator.gateways.get(MERGED_PLANE)?.listeners.map(({ name }) => name),
      ['b/web/l0'],
    )
    translator.drop('Gateway', 'b/web')
    assert.deepEqual(translator.settle().gateways, [MERGED_PLANE])
    assert.deepEqual([...translator.gateways.keys(), ...translator.endpoints.keys()], [])
  })

  it('do not wait for Secrets of one another', () => {
    const fault = 'keys of AWS without a region, in the backend'
    const listeners = [{ port: 80, hostname: 'a.test' }]
    const secured = mergedTenant('a', { year: 2024, port: 1, listeners, fault, harmless: 'nothing' })
    const unread = secured.map((resource) =>
      resource.kind === 'Secret' ? { ...resource, isPartial: true as const } : resource,
    )
    const translator = started(...mergedClass(), ...unread, ...of('b', 'b.test'))
    assert.deepEqual(hostnames(translator, MERGED_PLANE), ['b.test'])
    assert.ok(translator.waits('Gateway/a/web'))
    for (const resource of of('b', 'changed.test')) translator.put(resource)
    assert.ok(translator.settle().gateways.includes(MERGED_PLANE))
    assert.deepEqual(hostnames(translator, MERGED_PLANE), ['changed.test'])
    for (const resource of secured) translator.put(resource)
    translator.settle()
    assert.deepEqual(hostnames(translator, MERGED_PLANE), ['a.test', 'changed.test'])
  })

  it('count limits of a Gateway over its listeners, and apart from other Gateways', () => {
    const limit = { traffic: { rateLimit: { local: [{ requests: 1, unit: 'Seconds' }] } } }
    const listeners = [80, 81].map((port) => ({ port, hostname: 'a.test' }))
    const [a] = mergedTenant('a', { year: 2025, port: 1, listeners, fault: null, harmless: 'nothing' })
    const translator = started(
      ...mergedClass(),
      a as Resource,
      ...of('b', 'b.test'),
      ...['a', 'b'].map((name) => gatewayPolicy(name, limit)),
    )
    const origins = translator.gateways.get(MERGED_PLANE)?.policies.map(({ origin }) => origin)
    assert.deepEqual(origins, [
      'policy/a/of-gateway@gateway/a/web',
      'policy/a/of-gateway@gateway/a/web',
      'policy/b/of-gateway@gateway/b/web',
    ])
  })

  it('name what is closed in the status of the Gateway that it belongs to', () => {
    const broken = tenantWith('a', 1, 'a basic user twice', 'nothing').filter(({ kind }) => kind === 'GwPolicy')
    const translator = started(...mergedClass(), ...of('a', 'a.test'), ...broken, ...of('b', 'b.test'))
    translator.findQuarantined(translator.gateways.keys())
    assert.match(JSON.stringify(translator.statuses.get('GwPolicy/a/basic')), /found user/)
    assert.doesNotMatch(
      JSON.stringify([...translator.statuses].filter(([id]) => id.includes('/b/'))),
      /Quarantined|Partially/,
    )
  })
})

it('a listener that an older config has already is left out, with its routes', () => {
  const translator = started(...mergedClass(), ...of('a', 'same.test'))
  const a = translator.gateways.get(MERGED_PLANE) ?? assert.fail('there is no config')
  const plain = { ...a, listeners: a.listeners.map((listener) => ({ ...listener, name: 'l0' })) }
  const later = JSON.parse(JSON.stringify(plain).replaceAll('@a/', '@b/')) as typeof a
  const merged = mergeConfigs([
    { gateway: 'a/web', ir: plain },
    { gateway: 'b/web', ir: later },
  ])
  assert.deepEqual(
    merged.listeners.map(({ key }) => key),
    ['bind/80/@a/web/l0'],
  )
  assert.deepEqual(
    merged.routes.map(({ listener }) => listener),
    ['bind/80/@a/web/l0'],
  )
})
