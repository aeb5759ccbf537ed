import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Kind, Resource, RouteStatus } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import type { ApiKind } from '../kube/kinds.ts'
import { eventually } from '../testing/eventually.ts'
import { type ObjectApi, useObjectApi } from '../testing/object-api.ts'
import { failCall } from '../testing/scripted-api.ts'
import { StatusWriter } from './status-writer.ts'

const controllerName = 'portico.dev/gateway'
const PATH = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/cart'
const API: ApiKind = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
}

describe('the writer of statuses', () => {
  it('writes nothing before it leads, and then once', async (t) => {
    const scene = await useScene(t)
    scene.writer.check('HTTPRoute', 'shop/cart')
    assert.equal(patches(scene.api), 0)
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is written', () => reasonIn(scene.api) === 'Accepted')
    for (let times = 0; times < 5; times++) scene.writer.check('HTTPRoute', 'shop/cart')
    await scene.writer.stop()
    assert.equal(patches(scene.api), 1)
  })

  it('knows its own writes before the watch reports them', async (t) => {
    const scene = await useScene(t)
    // The watch stays behind.
    const stale = structuredClone(scene.api.get(PATH))
    scene.find = () => stale
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is written', () => patches(scene.api) === 1)
    await eventually('it is idle', () => {
      scene.writer.check('HTTPRoute', 'shop/cart')
      return scene.results.length === 1
    })
    scene.say('Other')
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is another', () => reasonIn(scene.api) === 'Other')
    await eventually('it knows', () => scene.results.join() === 'success,success')
  })

  it('keeps nothing for deleted objects, nor for those without a change', async (t) => {
    const scene = await useScene(t)
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is written', () => scene.results.join() === 'success')
    assert.equal(scene.writer.size, 1)
    scene.writer.forget('HTTPRoute', 'shop/cart')
    scene.writer.check('HTTPRoute', 'shop/cart')
    assert.equal(scene.writer.size, 0, 'it is as it is wanted')
    scene.api.drop(PATH)
    scene.writer.forget('HTTPRoute', 'shop/cart')
    // Translation reports the deletion after the watch.
    scene.writer.check('HTTPRoute', 'shop/cart')
    assert.equal(scene.writer.size, 0, 'it is gone')
  })

  it('retries on the newest version after a conflict, and keeps the changes of the other writer', async (t) => {
    const scene = await useScene(t)
    const theirs = { parentRef: { name: 'x' }, controllerName: 'other.example/gateway', conditions: [] }
    let times = 0
    scene.api.intercept = (asked) => {
      if (asked.method !== 'PATCH' || ++times > 2) return false
      const known = scene.api.get(PATH)
      if (known !== undefined) scene.api.put({ ...known, ...{ status: { parents: [theirs] } } })
      return false
    }
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is written', () => reasonIn(scene.api) === 'Accepted')
    await eventually('it knows', () => scene.results.join() === 'conflict,conflict,success')
    assert.deepEqual(parentsIn(scene.api)[0], theirs)
  })

  it('retries after a failure, and stops for deleted objects', async (t) => {
    const scene = await useScene(t)
    let failures = 2
    scene.api.intercept = (asked, response) => {
      if (asked.method !== 'PATCH' || failures-- <= 0) return false
      failCall(response, 500, 'not now')
      return true
    }
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it is written', () => reasonIn(scene.api) === 'Accepted')
    await eventually('it knows', () => scene.results.join() === 'error,error,success')
    scene.say('Other')
    const last = scene.api.get(PATH)
    scene.find = () => last
    scene.api.drop(PATH)
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it was tried', () => patches(scene.api) === 4)
    await scene.writer.stop()
    assert.equal(scene.troubles, 2)
  })

  it('backs off when another writer undoes every write', async (t) => {
    const waits: number[] = []
    class NotedBackoff extends Backoff {
      override next(): number {
        waits.push(super.next())
        return waits.at(-1) ?? 0
      }
    }
    const scene = await useScene(t, () => new NotedBackoff({ firstMs: 4, mostMs: 10_000, random: () => 1 }))
    scene.api.intercept = (asked) => {
      if (asked.method === 'PATCH')
        setImmediate(() => {
          const { status: _, ...known } = scene.api.get(PATH) ?? assert.fail('it is gone')
          scene.api.put(known)
          scene.writer.check('HTTPRoute', 'shop/cart')
        })
      return false
    }
    scene.writer.start()
    scene.writer.check('HTTPRoute', 'shop/cart')
    await eventually('it was undone several times', () => patches(scene.api) >= 5)
    await scene.writer.stop()
    // Each write after the first waits twice as long as the previous one.
    assert.deepEqual(waits.slice(0, 4), [4, 8, 16, 32])
    assert.ok(patches(scene.api) <= waits.length + 1, `${patches(scene.api)} writes after ${waits.length} waits`)
  })
})

interface Scene {
  api: ObjectApi
  writer: StatusWriter
  results: string[]
  troubles: number
  find: () => Resource | undefined
  say(reason: string): void
}

async function useScene(t: TestContext, createBackoff = () => new Backoff({ firstMs: 5, mostMs: 20 })): Promise<Scene> {
  const api = await useObjectApi(t, { HTTPRoute: 'httproutes' })
  api.put({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { namespace: 'shop', name: 'cart', generation: 1 },
  })
  let wanted = statusOf('Accepted')
  const writer = new StatusWriter({
    client: api.client,
    controllerName,
    apiOf: () => API,
    find: () => scene.find(),
    wanted: () => wanted,
    onError: () => (scene.troubles += 1),
    wrote: (_kind: Kind, result) => void scene.results.push(result),
    createBackoff,
    gapMs: 1,
  })
  const scene: Scene = {
    api,
    writer,
    results: [],
    troubles: 0,
    find: () => api.get(PATH),
    say: (reason) => void (wanted = statusOf(reason)),
  }
  t.after(() => writer.stop())
  return scene
}

function statusOf(reason: string): RouteStatus {
  const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }
  const conditions = [{ type: 'Accepted', status: 'True' as const, reason, message: '', observedGeneration: 1 }]
  return { parents: [{ parentRef, controllerName, conditions }] }
}

function patches({ asked }: ObjectApi): number {
  return asked.filter(({ method }) => method === 'PATCH').length
}

function parentsIn(api: ObjectApi): { controllerName: string; conditions: { reason: string }[] }[] {
  return (api.get(PATH)?.status as { parents?: [] } | undefined)?.parents ?? []
}

function reasonIn(api: ObjectApi): string | undefined {
  return parentsIn(api).find((entry) => entry.controllerName === controllerName)?.conditions[0]?.reason
}
