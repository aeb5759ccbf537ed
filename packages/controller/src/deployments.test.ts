import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { nameOf } from './deploy/plan.ts'
import type { Cluster } from './deploy/reconcile.ts'
import { Deployments } from './deployments.ts'

const OURS = 'portico.dev/gateway'

describe('the objects of a Gateway', () => {
  it('are removed when another controller owns its class', async (t) => {
    const scene = useScene(t)
    await scene.refresh()
    assert.equal(scene.objects.size, 5)
    scene.setClass('example.com/other')
    await scene.refresh()
    assert.equal(scene.objects.size, 0)
    scene.setClass(OURS)
    await scene.refresh()
    assert.equal(scene.objects.size, 5)
  })

  it('stay when its class is deleted, because the class may return', async (t) => {
    const scene = useScene(t)
    await scene.refresh()
    scene.setClass(null)
    await scene.refresh()
    scene.deployments.touch('shop/edge')
    await scene.settled()
    assert.equal(scene.objects.size, 5)
  })

  it('are removed after a restart when another controller owns its class', async (t) => {
    const earlier = useScene(t)
    await earlier.refresh()
    const scene = useScene(t, earlier.objects)
    scene.setClass('example.com/other')
    await scene.refresh()
    assert.equal(scene.objects.size, 5)
    // The watch on deployed objects reports it.
    scene.deployments.touch('shop/edge')
    await scene.settled()
    assert.equal(scene.objects.size, 0)
  })
})

function useScene(t: TestContext, objects = new Map<string, Resource>()) {
  const gateway: Resource = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'edge', namespace: 'shop', uid: 'u', generation: 1 },
    spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 80 }] },
  }
  let controllerName: string | null = OURS
  const cluster: Cluster = {
    list: async (kind) => [...objects.values()].filter((object) => object.kind === kind),
    get: async (kind, namespace, name) => objects.get(`${kind} ${namespace}/${name}`),
    async apply(object) {
      objects.set(nameOf(object), object)
      return object
    },
    async remove(object) {
      objects.delete(nameOf(object))
    },
  }
  const classNow = (): Resource | undefined =>
    controllerName === null
      ? undefined
      : {
          apiVersion: gateway.apiVersion,
          kind: 'GatewayClass',
          metadata: { name: 'portico' },
          spec: { controllerName },
        }
  const deployments = new Deployments({
    cluster,
    settings: { image: {}, version: '1.0.0' },
    controllerName: OURS,
    find: (kind) => (kind === 'Gateway' ? gateway : kind === 'GatewayClass' ? classNow() : undefined),
    isOurs: () => controllerName === OURS,
    planeOf: (key) => key,
    gatewaysBy: () => [],
    isServing: () => true,
    portsOf: () => [{ port: 80 }],
    changed: () => undefined,
    tried: () => undefined,
  })
  deployments.start()
  t.after(() => deployments.stop())
  const settled = async (): Promise<void> => {
    await deployments.stop()
    deployments.start()
    await deployments.stop()
    deployments.start()
  }
  return {
    objects,
    deployments,
    settled,
    setClass: (name: string | null) => void (controllerName = name),
    async refresh() {
      deployments.refresh('shop/edge')
      await settled()
    },
  }
}
