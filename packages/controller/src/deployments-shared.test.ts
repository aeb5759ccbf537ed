import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { nameOf } from './deploy/plan.ts'
import type { Cluster } from './deploy/reconcile.ts'
import { Deployments } from './deployments.ts'

const PLANE = 'infra/merged:edge'
const OBJECTS = 5

describe('a data plane that Gateways share', () => {
  it('is deployed once, owned by the GwParameters, in their namespace', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    await scene.refresh()
    const names = [...scene.objects.keys()]
    assert.equal(names.length, OBJECTS)
    assert.ok(
      names.every((name) => /^\w+ infra\/merged-edge-[0-9a-f]{12}/.test(name)),
      names.join(),
    )
    const owners = [...scene.objects.values()].map(
      ({ metadata }) => Reflect.get(metadata, 'ownerReferences') as unknown,
    )
    assert.deepEqual(owners[0], [
      {
        apiVersion: 'portico.dev/v1alpha1',
        kind: 'GwParameters',
        name: 'edge',
        uid: 'p',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    assert.deepEqual(scene.deployments.factsOf('a/web').deployedGeneration, 1)
  })

  it('replaces the data planes of its Gateways when it serves them, and not before', async (t) => {
    const scene = useScene(t)
    await scene.refresh()
    assert.equal(scene.objects.size, 2 * OBJECTS)
    scene.serving.clear()
    scene.merge(true)
    await scene.refresh()
    assert.equal(scene.objects.size, 3 * OBJECTS)
    scene.serving.add(PLANE)
    scene.deployments.servingChanged()
    await scene.settled()
    assert.equal(scene.objects.size, OBJECTS)
    assert.ok([...scene.objects.keys()].every((name) => name.includes('infra/merged-edge')))
  })

  it('stays until each Gateway has its own again, and goes then', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    scene.serving.add(PLANE)
    await scene.refresh()
    scene.merge(false)
    scene.serving.clear()
    scene.serving.add('a/web')
    await scene.refresh()
    assert.equal(scene.objects.size, 3 * OBJECTS)
    scene.serving.add('b/web')
    scene.deployments.servingChanged()
    await scene.settled()
    assert.equal(scene.objects.size, 2 * OBJECTS)
    assert.ok([...scene.objects.keys()].every((name) => !name.includes('infra/')))
  })

  it('stays while one Gateway is left, and goes with the last one', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    await scene.refresh()
    scene.gateways.delete('a/web')
    await scene.refresh()
    assert.equal(scene.objects.size, OBJECTS)
    scene.gateways.delete('b/web')
    await scene.refresh()
    assert.equal(scene.objects.size, 0)
  })

  it('stays when the class is deleted, because the class may return', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    await scene.refresh()
    scene.hasClass = false
    await scene.refresh()
    scene.deployments.touch(PLANE)
    await scene.settled()
    assert.equal(scene.objects.size, OBJECTS)
  })

  it('is removed after a restart of the controller when nobody uses it any more', async (t) => {
    const earlier = useScene(t)
    earlier.merge(true)
    await earlier.refresh()
    const scene = useScene(t, earlier.objects)
    await scene.refresh()
    assert.equal(scene.objects.size, 3 * OBJECTS)
    // The watch on deployed objects reports them.
    scene.deployments.touch(PLANE)
    await scene.settled()
    assert.equal(scene.objects.size, 2 * OBJECTS)
  })

  it('keeps its objects while the parameters are invalid, and says so for each Gateway', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    await scene.refresh()
    scene.spec = { mergeGateways: true, image: 7 }
    await scene.refresh()
    assert.equal(scene.objects.size, OBJECTS)
    for (const gateway of ['a/web', 'b/web']) {
      assert.match(scene.deployments.factsOf(gateway).parameterProblems.join(), /infra\/edge.*image/)
    }
  })

  it('ignores the infrastructure of a Gateway, and says what to do', async (t) => {
    const scene = useScene(t)
    scene.merge(true)
    scene.infrastructure = { labels: { team: 'a' } }
    await scene.refresh()
    const { ignoredParameters = [], parameterProblems } = scene.deployments.factsOf('a/web')
    assert.match(
      ignoredParameters.join(),
      /^spec\.infrastructure\.labels: has no effect.*infra\/edge.*without mergeGateways$/,
    )
    assert.deepEqual(parameterProblems, [])
    assert.doesNotMatch(JSON.stringify([...scene.objects.values()]), /team/)
  })
})

function useScene(t: TestContext, objects = new Map<string, Resource>()) {
  const gateways = new Set(['a/web', 'b/web'])
  const serving = new Set<string>(['a/web', 'b/web'])
  const scene = {
    objects,
    gateways,
    serving,
    spec: {} as object,
    infrastructure: {} as object,
    hasClass: true,
    merge: (isMerged: boolean) => void (scene.spec = { mergeGateways: isMerged }),
    async refresh(): Promise<void> {
      for (const key of ['a/web', 'b/web', PLANE]) scene.deployments.refresh(key)
      await scene.settled()
    },
    async settled(): Promise<void> {
      for (const _ of [1, 2]) {
        await deployments.stop()
        deployments.start()
      }
    },
    get deployments(): Deployments {
      return deployments
    },
  }
  const isMerged = (): boolean => scene.hasClass && Reflect.get(scene.spec, 'mergeGateways') === true
  const planeOf = (key: string): string => (isMerged() && gateways.has(key) ? PLANE : key)
  const gateway = (key: string): Resource | undefined => {
    const [namespace = '', name = ''] = key.split('/')
    const metadata = { name, namespace, uid: key, generation: 1 }
    const spec = {
      gatewayClassName: 'shared',
      listeners: [{ name: 'http', port: 80 }],
      infrastructure: scene.infrastructure,
    }
    return gateways.has(key)
      ? { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata, spec }
      : undefined
  }
  const parametersRef = { group: 'portico.dev', kind: 'GwParameters', name: 'edge', namespace: 'infra' }
  const gatewayClass = (): Resource | undefined =>
    scene.hasClass
      ? {
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'GatewayClass',
          metadata: { name: 'shared' },
          spec: { controllerName: 'portico.dev/gateway', parametersRef },
        }
      : undefined
  const parameters = (): Resource => ({
    apiVersion: 'portico.dev/v1alpha1',
    kind: 'GwParameters',
    metadata: { name: 'edge', namespace: 'infra', uid: 'p', generation: 1 },
    spec: scene.spec,
  })
  const cluster: Cluster = {
    list: async (kind, namespace, labels) =>
      [...objects.values()].filter(
        ({ kind: own, metadata }) =>
          own === kind &&
          metadata.namespace === namespace &&
          Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value),
      ),
    get: async (kind, namespace, name) => objects.get(`${kind} ${namespace}/${name}`),
    async apply(object) {
      objects.set(nameOf(object), object)
      return object
    },
    async remove(object) {
      objects.delete(nameOf(object))
    },
  }
  const deployments = new Deployments({
    cluster,
    settings: { image: {}, version: '1.0.0' },
    controllerName: 'portico.dev/gateway',
    find: (kind, key) => (kind === 'Gateway' ? gateway(key) : kind === 'GatewayClass' ? gatewayClass() : parameters()),
    isOurs: (key) => scene.hasClass && (key === PLANE ? isMerged() && gateways.size > 0 : planeOf(key) === key),
    planeOf,
    gatewaysBy: () => [...gateways],
    isServing: (key) => scene.hasClass && serving.has(planeOf(key)),
    portsOf: () => [{ port: 80 }],
    changed: () => undefined,
    tried: () => undefined,
  })
  deployments.start()
  t.after(() => deployments.stop())
  return scene
}
