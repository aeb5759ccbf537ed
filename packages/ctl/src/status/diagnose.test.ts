import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Condition, isFine, keyOf, kindOf, type Resource, type Status } from '@portico/translate'
import { readCases, translateAll } from '../../../translate/src/testing/golden.ts'
import { diagnose, diagnoseAll, type Finding } from './diagnose.ts'
import { type TargetKind, targetKinds } from './kinds.ts'
import { printFinding, printShort } from './print.ts'
import { ResourceView } from './resource-view.ts'

function worldOf(
  resources: readonly Resource[],
  change: (status: unknown) => unknown = (status) => status,
): ResourceView {
  const { statuses } = translateAll([...resources])
  const statusOf = (kind: string, resource: Resource): unknown => change(statuses.get(`${kind}/${keyOf(resource)}`))
  return new ResourceView({ resources, statusOf, isOffline: false })
}

const cases = new Map(readCases().map(({ name, resources }) => [name, resources]))

function resourcesOf(name: string): readonly Resource[] {
  return cases.get(name) ?? assert.fail(`there is no case ${name}: ${[...cases.keys()].join(', ')}`)
}

function findingOf(name: string, kind: TargetKind, key: string): Finding {
  const world = worldOf(resourcesOf(name))
  return diagnose(world, kind, world.get(kind, key) ?? assert.fail(`there is no ${kind} ${key}`))
}

function conditionsIn(status: Status): Condition[] {
  return [
    ...('conditions' in status ? (status.conditions ?? []) : []),
    ...('listeners' in status ? status.listeners.flatMap(({ conditions }) => conditions) : []),
    ...('parents' in status ? status.parents.flatMap(({ conditions }) => conditions) : []),
    ...('ancestors' in status ? status.ancestors.flatMap(({ conditions }) => conditions) : []),
  ]
}

const isBroken = (condition: Condition): boolean =>
  !isFine(condition) && condition.type !== 'InsecureFrontendValidationMode'

describe('diagnosis', () => {
  it('names the endpoint picker that a pool lacks, for the route and for the pool', () => {
    const ofRoute = findingOf('inference-pools/pickers', 'HTTPRoute', 'models/missing-open')
    assert.match(
      ofRoute.broken?.says ?? '',
      /^ResolvedRefs is False \(InvalidExtensionRef\): .*Service models\/nowhere/,
    )
    const ofXBackend = findingOf('backends/x-backend-problems', 'XBackend', 'shop/not-listed')
    assert.match(ofXBackend.broken?.says ?? '', /externalNames/)
    assert.equal(findingOf('backends/x-backend', 'XBackend', 'shop/orders').broken, null)
    const ofPool = findingOf('inference-pools/pickers', 'InferencePool', 'models/missing')
    assert.equal(ofPool.broken?.what, 'InferencePool models/missing')
    assert.equal(findingOf('inference-pools/pickers', 'InferencePool', 'models/plain').broken, null)
  })

  for (const [name, resources] of cases) {
    it(`finds a broken link for every resource with a problem: ${name}`, () => {
      const world = worldOf(resources)
      const findings = new Map(diagnoseAll(world, null).map((finding) => [finding.resource, finding]))
      const { statuses } = translateAll([...resources])
      for (const resource of resources) {
        const kind = kindOf(resource)
        const status = kind === null ? undefined : statuses.get(`${kind}/${keyOf(resource)}`)
        if (status === undefined || !targetKinds.some((each) => each === kind)) continue
        const finding = findings.get(`${kind} ${keyOf(resource)}`)
        assert.ok(finding !== undefined, `${kind} ${keyOf(resource)} is not in the list`)
        const bad = conditionsIn(status).find(isBroken)
        if (bad !== undefined) assert.ok(finding.broken !== null, `${bad.type} (${bad.reason}) of ${finding.resource}`)
      }
      for (const { links } of findings.values()) {
        for (const link of links) {
          if (link.state === 'broken') assert.ok(link.fix !== undefined, `${link.what}: ${link.says}`)
        }
      }
    })
  }

  it('follows the path of a request, and names the first broken link', () => {
    const finding = findingOf('routes/cross-namespace-backend', 'HTTPRoute', 'shop/orders')
    assert.deepEqual(
      finding.links.map(({ state, what }) => `${state} ${what}`),
      [
        'ok GatewayClass portico',
        'ok Gateway shop/web',
        'ok listener http of Gateway shop/web',
        'broken HTTPRoute shop/orders at Gateway shop/web',
        'ok Service stock/open:8080',
        'ok Service stock/closed:8080',
      ],
    )
    assert.equal(finding.broken?.condition?.reason, 'RefNotPermitted')
    assert.match(finding.broken.fix ?? '', /ReferenceGrant/)
    const printed = printFinding(finding)
    assert.equal(printed[0], 'HTTPRoute shop/orders: broken at HTTPRoute shop/orders at Gateway shop/web')
    assert.ok(printed.includes('  BROKEN  HTTPRoute shop/orders at Gateway shop/web'))
    assert.match(printShort(finding).join('\n'), /^BROKEN {2}HTTPRoute shop\/orders\n.*RefNotPermitted.*\n +fix: /)
  })

  const gateway = resourcesOf('routes/cross-namespace-backend')
  const withChange = (change: (resource: Resource) => Resource | null): ResourceView =>
    worldOf(structuredClone(gateway).flatMap((each) => change(each) ?? []))
  const route = (world: ResourceView): Finding =>
    diagnose(world, 'HTTPRoute', world.get('HTTPRoute', 'shop/orders') ?? assert.fail())

  it('reports a missing Gateway with similar names', () => {
    const finding = route(
      withChange((each) =>
        each.kind === 'Gateway' ? { ...each, metadata: { ...each.metadata, name: 'webs' } } : each,
      ),
    )
    assert.equal(finding.broken?.what, 'Gateway shop/web')
    assert.match(finding.broken.fix ?? '', /Did you mean webs\?/)
  })

  it('reports a missing class, and one of another controller', () => {
    const without = route(withChange((each) => (each.kind === 'GatewayClass' ? null : each)))
    assert.equal(without.broken?.what, 'GatewayClass portico')
    const other = withChange((each) =>
      each.kind === 'GatewayClass' ? { ...each, spec: { controllerName: 'x/y' } } : each,
    )
    assert.equal(route(other).broken?.says, 'none of its parents is a Gateway of class portico')
    assert.deepEqual(
      diagnoseAll(other, 'shop').map(({ resource }) => resource),
      ['HTTPRoute shop/orders'],
    )
  })

  it('reports Services without ready Pods after all earlier links', () => {
    const empty = withChange((each) => (each.kind === 'EndpointSlice' ? null : each))
    const links = route(empty).links.filter(({ what }) => what.startsWith('Service'))
    assert.deepEqual(
      links.map(({ state, says }) => [state, says]),
      [
        ['broken', 'there are no Pods behind it'],
        ['broken', 'there are no Pods behind it'],
      ],
    )
    const unready = withChange((each) =>
      each.kind === 'EndpointSlice'
        ? { ...each, endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }] }
        : each,
    )
    assert.ok(route(unready).links.some(({ says }) => says === 'none of its 1 Pods is ready'))
  })

  it('reports a stale or missing status', () => {
    const stale = withChange((each) => each)
    const later = structuredClone(gateway).map((each) =>
      each.kind === 'HTTPRoute' ? { ...each, metadata: { ...each.metadata, generation: 9 } } : each,
    )
    const world = new ResourceView({ resources: later, statusOf: stale.statusOf, isOffline: false })
    assert.match(route(world).broken?.says ?? '', /not processed its last change \(generation 9, seen 3\)/)
    const silent = worldOf(gateway, () => undefined)
    assert.match(route(silent).broken?.says ?? '', /no controller has written its status/)
  })

  it('does not count missing rights as problems', () => {
    const hidden = new Map([
      ['Service stock', 'get services in namespace stock'],
      ['GatewayClass ', 'get gatewayclasses.gateway.networking.k8s.io in all namespaces'],
    ])
    const left = gateway.filter(({ kind }) => kind !== 'Service' && kind !== 'GatewayClass')
    const { statusOf } = worldOf(gateway)
    const finding = route(new ResourceView({ resources: left, statusOf, isOffline: false, hidden }))
    assert.deepEqual(
      finding.links.filter(({ state }) => state === 'unknown').map(({ what }) => what),
      ['GatewayClass portico', 'Service stock/open', 'Service stock/closed'],
    )
    assert.match(finding.links[0]?.says ?? '', /no right to get gatewayclasses/)
  })

  it('ignores a broken listener when another one serves the route', () => {
    const added: Resource = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { namespace: 'shop', name: 'any', generation: 1 },
      spec: { parentRefs: [{ name: 'web' }], rules: [] },
    }
    const world = worldOf([...resourcesOf('gateways/conflicts'), added])
    const { broken, links } = diagnose(world, 'HTTPRoute', added)
    assert.equal(broken, null)
    assert.ok(links.some(({ state, what }) => state === 'note' && what === 'listener same-host of Gateway shop/web'))
    const finding = findingOf('gateways/conflicts', 'Gateway', 'shop/web')
    assert.match(finding.broken?.what ?? '', /^listener same-host/)
  })
})
