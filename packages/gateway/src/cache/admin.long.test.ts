import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { CacheListView, CachePurgeView } from '../admin/caches/cache-view.ts'
import type { AuditView } from '../admin/keys/keys-view.ts'
import { noRedis, useRedis } from '../stores/testing/redis-server.ts'
import { request } from '../testing/client.ts'
import { eventually, useConfigFile, useProgram } from '../testing/process.ts'
import { httpConfig, useOrigin } from '../testing/scene.ts'
import { cacheOf, CHAT, respond } from './testing/scene.ts'

const FROM_HERE = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }

interface Options {
  readonly cache?: object
  readonly config?: object
}

/** A program with two workers before a provider whose answers are numbered. */
async function useCache(t: TestContext, { cache = {}, config = {} }: Options = {}) {
  const origin = await useOrigin(t, respond())
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const prices = { models: [{ model: 'gpt-test', rates: { input: 50, output: 50 } }], table: 'None' }
  const policies = { auth: { key: 'k' }, prices, ai: { cache: { ttl: '1h', ...cache } } }
  const { file, folder } = useConfigFile(t, {
    ...httpConfig([{ backends: [{ ai: { provider }, policies }] }]),
    config: { stateDir: 'state', keys: {}, ...config },
  })
  mkdirSync(join(folder, 'state'))
  const program = await useProgram(t, { args: ['-f', file], env: { WORKER_THREADS: '2' } })
  const chat = async (seed = 1) =>
    cacheOf(
      await request(program.port(), {
        ...{ method: 'POST', path: '/v1/chat/completions', body: JSON.stringify({ ...CHAT, seed }) },
        headers: { 'content-type': 'application/json', authorization: 'Bearer ann' },
      }),
    )
  const list = async () => (await (await fetch(`${program.admin}/api/cache`)).json()) as CacheListView
  const purge = async (body: unknown) => {
    const call = { method: 'POST', headers: FROM_HERE, body: JSON.stringify(body) }
    const answer = await fetch(`${program.admin}/api/cache/purge`, call)
    const text = await answer.text()
    return { status: answer.status, text, json: () => JSON.parse(text) as CachePurgeView }
  }
  return { program, chat, list, purge }
}

test('the admin API sums up the caches of all workers, and purges them', async (t) => {
  const { program, chat, list, purge } = await useCache(t)
  assert.deepEqual(await list(), { caches: [], silentWorkers: 0 })
  const outcomes: (string | undefined)[] = []
  // Each connection may go to either worker; both of them have bought the answer in the end.
  await eventually('both workers have the answer', async () => {
    outcomes.push(await chat())
    return (await list()).caches[0]?.entries === 2
  })
  const misses = outcomes.filter((outcome) => outcome === 'miss').length
  await eventually('all calls are counted', async () => {
    const [cache] = (await list()).caches
    return cache !== undefined && cache.hits + cache.misses === outcomes.length
  })
  const [{ name, bytes, ...figures } = assert.fail(), ...others] = (await list()).caches
  assert.deepEqual([others, misses], [[], 2])
  const hits = outcomes.length - 2
  assert.deepEqual(figures, {
    ...{ entries: 2, maxBytes: 2 * 64 * 1024 * 1024, hits, misses, bypasses: 0, isShared: false, shared: null },
    savedUsd: (hits * 0.1).toFixed(hits === 0 ? 2 : 1).replace(/\.\d$/, (digits) => `${digits}0`),
  })
  assert.ok(bytes > 1000)
  assert.deepEqual((await purge({ model: 'another' })).json(), { purged: 0, isSharedPurged: false })
  assert.deepEqual((await purge({ cache: name })).json(), { purged: 2, isSharedPurged: false })
  assert.equal(await chat(), 'miss')
  await program.logged(/response caches purged .*answers=2/)
  const audit = (await (await fetch(`${program.admin}/api/audit?kind=cache`)).json()) as AuditView
  assert.deepEqual(
    audit.entries.map(({ action, name: what, by, after }) => ({ action, what, by, after })),
    [
      { action: 'purge', what: name, by: 'no token, from 127.0.0.1', after: { cache: name, purged: 2 } },
      { action: 'purge', what: 'another', by: 'no token, from 127.0.0.1', after: { model: 'another', purged: 0 } },
    ],
  )
})

test('the admin API says what is wrong with a purge, and purges nothing then', async (t) => {
  const { chat, purge } = await useCache(t)
  await eventually('a worker has the answer', async () => /^hit/.test((await chat()) ?? ''))
  for (const [body, message] of [
    [{}, /expected/],
    [{ all: true, model: 'm' }, /expected/],
    [{ all: false }, /all: found false/],
    [{ model: '' }, /model/],
    [{ tenant: 'x' }, /unknown key `tenant`/],
    ['all', /expected/],
  ] as const) {
    const { status, text } = await purge(body)
    assert.deepEqual([status, message.test(text)], [400, true], text)
  }
})

describe('a cache in Redis', { skip: noRedis }, () => {
  test('is counted and purged for all gateways; a purge that Redis does not confirm is an error', async (t) => {
    const server = await useRedis(t)
    const stores = { redis: { url: `redis://127.0.0.1:${server.port}`, timeout: '10s' } }
    const options = { cache: { shared: {} }, config: { stores } }
    const [one, other] = [await useCache(t, options), await useCache(t, options)]
    assert.equal(await one.chat(), 'miss')
    await eventually('Redis has the answer', async () => (await one.list()).caches[0]?.shared?.entries === 1)
    const [cache] = (await one.list()).caches
    assert.deepEqual([cache?.isShared, cache?.shared?.tenants], [true, 1])
    assert.ok((cache?.shared?.bytes ?? 0) > 100)
    const purged = (await one.purge({ cache: cache?.name })).json()
    assert.deepEqual([purged.isSharedPurged, purged.purged >= 1], [true, true])
    // The other gateway has another provider, so its key differs; its own purge is for both.
    assert.equal(await one.chat(), 'miss')
    assert.equal((await other.purge({ all: true })).json().isSharedPurged, true)
    await server.stop()
    const refused = await one.purge({ all: true })
    assert.deepEqual([refused.status, /Redis did not confirm the purge/.test(refused.text)], [503, true], refused.text)
    await server.start()
  })
})
