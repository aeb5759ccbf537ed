import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Resource } from '@portico/translate'
import { eventually } from '../testing/eventually.ts'
import { useObjectApi } from '../testing/object-api.ts'
import { KindWatch, type KindWatchOptions } from './kind-watch.ts'
import { watchedKinds } from './watched-kinds.ts'

const GROUP = 'gateway.networking.k8s.io'

describe('the watch on a kind', () => {
  it('keeps objects when the served version changes, and reports differences', async (t) => {
    const { api, serve, put, told, watch } = await useScene(t, ['v1'], { graceMs: 60_000 })
    for (const name of ['kept', 'changed', 'removed']) put('v1', name)
    await eventually('all are read', () => told.length === 4)
    told.length = 0
    put('v1beta1', 'kept')
    put('v1beta1', 'changed', { team: 'other' })
    serve('v1beta1')
    api.cut(`/apis/${GROUP}/v1/referencegrants`)
    await eventually('it is read anew', () => watch.api?.version === 'v1beta1')
    assert.deepEqual(told.toSorted(), ['+shop/changed', '+shop/kept', '-shop/removed', 'synced'])
    assert.deepEqual([...watch.items.keys()].toSorted(), ['shop/changed', 'shop/kept'])
    assert.deepEqual(watch.items.get('shop/changed')?.metadata.labels, { team: 'other' })
  })

  it('keeps objects while the server serves no version', async (t) => {
    const { api, serve, put, told, watch } = await useScene(t, ['v1'], { graceMs: 60_000 })
    put('v1', 'kept')
    await eventually('it is read', () => told.includes('+shop/kept'))
    told.length = 0
    serve()
    const looks = (): number => api.asked.filter(({ path }) => path === `/apis/${GROUP}/v1beta1`).length
    const before = looks()
    api.cut(`/apis/${GROUP}/v1/referencegrants`)
    await eventually('it was looked for several times', () => looks() > before + 3)
    assert.deepEqual(told, [])
    assert.deepEqual([[...watch.items.keys()], watch.api?.version], [['shop/kept'], 'v1'])
    put('v1beta1', 'kept')
    serve('v1beta1')
    await eventually('it is read anew', () => watch.api?.version === 'v1beta1')
    assert.deepEqual(told, ['+shop/kept', 'synced'])
  })

  it('drops a kind that stays missing, and finds it again later', async (t) => {
    const { api, serve, put, told, watch } = await useScene(t, ['v1'], { graceMs: 30 })
    put('v1', 'kept')
    await eventually('it is read', () => told.includes('+shop/kept'))
    told.length = 0
    serve()
    api.cut(`/apis/${GROUP}/v1/referencegrants`)
    await eventually('it is missing', () => told.includes('missing'))
    assert.deepEqual(told.slice(0, 2), ['-shop/kept', 'missing'])
    assert.deepEqual([watch.items.size, watch.api], [0, null])
    serve('v1')
    await eventually('it is back', () => told.includes('+shop/kept'))
    assert.equal(watch.api?.version, 'v1')
  })

  it('goes on after the server failed to say what it serves', async (t) => {
    const { api, put, told, watch, troubles } = await useScene(t, ['v1'], { graceMs: 60_000 })
    const served = api.intercept
    let failures = 3
    api.intercept = (asked, response) => {
      if (!/^\/apis\/[^/]+\/[^/]+$/.test(asked.path) || failures === 0) return served?.(asked, response) ?? false
      failures--
      response.writeHead(500).end('{}')
      return true
    }
    put('v1', 'late')
    await eventually('it is read', () => told.includes('+shop/late'))
    assert.deepEqual([failures, troubles.length, watch.api?.version], [0, 3, 'v1'])
  })

  it('reports at once that a kind does not exist', async (t) => {
    const { told } = await useScene(t, [], { graceMs: 60_000 })
    await eventually('it is missing', () => told.includes('missing'))
    assert.ok(told.every((each) => each === 'missing'))
  })
})

async function useScene(t: TestContext, versions: readonly string[], options: KindWatchOptions) {
  const api = await useObjectApi(t, { ReferenceGrant: 'referencegrants' })
  let served = versions
  api.intercept = ({ path }, response) => {
    const [, version, list] = /^\/apis\/gateway\.networking\.k8s\.io\/([^/]+)(\/referencegrants)?$/.exec(path) ?? []
    if (version === undefined) return false
    if (list !== undefined) return served.includes(version) ? false : (response.writeHead(404).end('{}'), true)
    response
      .writeHead(200)
      .end(JSON.stringify({ resources: served.includes(version) ? [{ name: 'referencegrants' }] : [] }))
    return true
  }
  const told: string[] = []
  const troubles: string[] = []
  const watcher = {
    changed: (key: string, resource: Resource | undefined) =>
      void told.push(`${resource === undefined ? '-' : '+'}${key}`),
    synced: (isMissing: boolean) => void told.push(isMissing ? 'missing' : 'synced'),
    onError: (error: Error) => void troubles.push(error.message),
  }
  const watched = watchedKinds.find(({ kind }) => kind === 'ReferenceGrant') ?? assert.fail()
  const quick = { missingMs: 5, backoff: { firstMs: 5, mostMs: 20 } }
  const watch = new KindWatch(api.client, watched, watcher, { ...quick, ...options })
  const stop = new AbortController()
  const running = watch.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  return {
    api,
    watch,
    told,
    troubles,
    serve: (...those: string[]) => void (served = those),
    put: (version: string, name: string, labels?: Record<string, string>) =>
      api.put({
        apiVersion: `${GROUP}/${version}`,
        kind: 'ReferenceGrant',
        metadata: { namespace: 'shop', name, generation: 1, ...(labels && { labels }) },
      }),
  }
}
