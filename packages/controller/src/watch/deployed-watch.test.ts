import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { apiByKind } from '../deploy/objects.ts'
import { eventually } from '../testing/eventually.ts'
import { type ObjectApi, useObjectApi } from '../testing/object-api.ts'
import { DeployedWatch } from './deployed-watch.ts'

const PATH = '/apis/apps/v1/namespaces/shop/deployments/web'

describe('the watch on deployed objects', () => {
  it('reports changes by Gateway, and ignores counts of Pods', async (t) => {
    const { api, watch, changed, readiness } = await useScene(t)
    api.put(deployment({ replicas: 1 }))
    await eventually('it is seen', () => changed.length === 1)
    api.put(deployment({ replicas: 1 }, 1))
    await eventually('it is ready', () => readiness.length === 1)
    assert.equal(watch.readyOf('shop/web-of-shop'), 1)
    api.put(deployment({ replicas: 1 }, 2))
    api.put(deployment({ replicas: 5 }, 2))
    await eventually('it is another', () => changed.length === 2)
    assert.equal(watch.readyOf('shop/web-of-shop'), 2)
    api.drop(PATH)
    await eventually('it is gone', () => changed.length === 3 && readiness.length === 2)
    assert.equal(watch.readyOf('shop/web-of-shop'), 0)
    assert.deepEqual(new Set([...changed, ...readiness]), new Set(['shop/web-of-shop']))
  })

  it('reports the end of a rollout, and counts the Pods of both kinds of workload', async (t) => {
    const { api, watch, changed, readiness } = await useScene(t)
    api.put(deployment({ replicas: 1 }, 1))
    const daemonSet = (status: object): Resource => ({ ...deployment({}), kind: 'DaemonSet', ...{ status } })
    api.put(daemonSet({ desiredNumberScheduled: 2, numberReady: 1, numberAvailable: 1 }))
    await eventually('both are counted', () => changed.length === 2 && watch.readyOf('shop/web-of-shop') === 2)
    api.put(daemonSet({ desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2 }))
    await eventually('it is rolled out', () => changed.length === 3)
    api.drop(PATH)
    await eventually('the Deployment is gone', () => changed.length === 4)
    assert.equal(watch.readyOf('shop/web-of-shop'), 2)
    assert.equal(readiness.length, 1)
  })

  it('ignores objects of others', async (t) => {
    const { api, changed } = await useScene(t)
    const { metadata, ...rest } = deployment({})
    const { ownerReferences: _, ...unowned } = metadata as typeof metadata & { ownerReferences: unknown }
    api.put({ ...rest, metadata: { ...metadata, name: 'other', labels: {} } })
    api.put({ ...rest, metadata: { ...unowned, name: 'unowned' } })
    api.put(deployment({}))
    await eventually('only ours is told of', () => changed.length === 1)
    assert.ok(api.asked.every(({ query }) => query.get('labelSelector') === 'app.kubernetes.io/managed-by=portico'))
  })
})

async function useScene(t: TestContext) {
  const kinds = Object.values(apiByKind).map(({ kind, plural }) => [kind, plural] as const)
  const api: ObjectApi = await useObjectApi(t, Object.fromEntries(kinds))
  const [changed, readiness]: [string[], string[]] = [[], []]
  const watch = new DeployedWatch({
    client: api.client,
    changed: (gateway) => void changed.push(gateway),
    readinessChanged: (gateway) => void readiness.push(gateway),
    onError: () => undefined,
    reflector: { backoff: { firstMs: 5, mostMs: 20 } },
  })
  const stop = new AbortController()
  const running = watch.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  return { api, watch, changed, readiness }
}

function deployment(spec: object, readyReplicas = 0): Resource {
  const metadata = {
    namespace: 'shop',
    name: 'web',
    labels: { 'app.kubernetes.io/managed-by': 'portico' },
    ownerReferences: [{ kind: 'Gateway', name: 'web-of-shop' }],
  }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec, ...{ status: { readyReplicas } } }
}
