import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { openRedisAnswers } from '../stores/redis/open-answers.ts'
import { connectRedis, type RedisSettings } from '../stores/redis/connect.ts'
import { noRedis, type RedisServer, useRedis } from '../stores/testing/redis-server.ts'
import { parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger } from '../telemetry/log/logger.ts'
import { createCacheMetrics } from '../telemetry/metrics/cache-metrics.ts'
import { createRegion, Registry } from '../telemetry/metrics/metrics.ts'
import { request } from '../testing/client.ts'
import { eventually } from '../testing/process.ts'
import { httpConfig, useGateway, useOrigin } from '../testing/scene.ts'
import { cacheOf, CHAT, respond, textOf } from './testing/scene.ts'

const KEY = '0123456789abcdef'.repeat(4)
const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer ann' }

/** Gateways that share a cache and a provider whose answers are numbered. */
async function useGateways(t: TestContext, settings: RedisSettings, more: object = { shared: {} }, keys = [KEY]) {
  const origin = await useOrigin(t, respond())
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const cache = { ttl: '1h', ...more }
  const policies = { auth: { key: 'k' }, ai: { cache } }
  const stores = { redis: { url: `redis://127.0.0.1:${settings.port}` } }
  const backends = [{ name: 'embedder', ai: { provider }, policies: { auth: { key: 'k' } } }]
  const routes = [{ backends: [{ ai: { provider }, policies }] }]
  const config = { config: { stores }, ...httpConfig(routes, { backends }) }
  const lines: string[] = []
  const filter = parseLogFilter('info')
  assert.ok(filter.ok)
  const log = createLogger({ filter: filter.value, format: 'text', write: (line) => void lines.push(line) })
  const add = async (sessionKeys = keys, now?: () => number) => {
    const outcomes: string[] = []
    let stored = 0
    const counts = createCacheMetrics(new Registry({ region: createRegion(), announce() {} }))()
    const answers = openRedisAnswers(settings, {
      sessionKeys: () => sessionKeys,
      record: (outcome) => void outcomes.push(outcome),
      counts: { ...counts, count: (place, event) => void (stored += place === 'redis' && event === 'stored' ? 1 : 0) },
      log: log.child('cache'),
    })
    t.after(() => answers.close())
    const gateway = await useGateway(t, config, { answers, ...(now !== undefined && { monotonic: now }) })
    t.after(() => assert.deepEqual(gateway.bugs, []))
    const chat = (body: object = {}, headers: Record<string, string> = {}) =>
      request(gateway.port(), {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { ...HEADERS, ...headers },
        body: JSON.stringify({ ...CHAT, ...body }),
      })
    const isStored = (count: number) => eventually('the answer is in Redis', () => stored >= count)
    return { gateway, chat, answers, outcomes, isStored }
  }
  return { origin, add, lines }
}

describe('a shared cache', { skip: noRedis }, () => {
  test('serves answers that another gateway has bought, streams included, and only to the same tenant', async (t) => {
    const server = await usePatientRedis(t)
    const { add, origin } = await useGateways(t, server.settings)
    const [one, other] = [await add(), await add()]
    for (const stream of [false, true]) {
      const first = await one.chat({ stream })
      assert.equal(cacheOf(first), 'miss')
      await one.isStored(stream ? 2 : 1)
      const second = await other.chat({ stream })
      assert.match(cacheOf(second) ?? '', /^hit; age=\d+$/)
      assert.equal(second.headers['content-type'], first.headers['content-type'])
      // The chunks of a stream may differ, the events do not.
      assert.deepEqual(textOf(second), textOf(first))
    }
    assert.equal(cacheOf(await other.chat({}, { authorization: 'Bearer bob' })), 'miss')
    assert.equal(origin.seen.length, 3)
    // Now the memory of the worker serves it.
    const asked = other.outcomes.length
    assert.match(cacheOf(await other.chat({ stream: false })) ?? '', /^hit/)
    assert.equal(other.outcomes.length, asked)
    await other.gateway.finished(4)
    assert.equal(other.gateway.recorded()[0]?.llm?.cache?.status, 'hit')
    const names = await namesAndValues(t, server.settings)
    assert.doesNotMatch(names.keys, /ann|bob|gpt/)
    assert.match(names.values, /answer 1/, 'without `encrypt`, answers are plain text')
  })

  test('asks the provider once for equal requests at one time, and asks Redis once', async (t) => {
    const server = await usePatientRedis(t)
    const { add, origin } = await useGateways(t, server.settings)
    const { chat, outcomes } = await add()
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat()))
    assert.deepEqual(new Set(answers.map(textOf)), new Set(['answer 1']))
    assert.deepEqual([origin.seen.length, outcomes.length], [1, 1])
  })

  test('goes on as a miss while Redis is away, paused or lies, and shares again after that', async (t) => {
    const server = await usePatientRedis(t)
    const { add, lines } = await useGateways(t, { ...server.settings, timeoutMs: 50 })
    const [one, other] = [await add(), await add()]
    let turn = 0
    const ask = async ({ chat }: typeof one) => cacheOf(await chat({ seed: (turn += 1) }))
    // A busy machine may need longer than the time limit.
    const works = () => eventually('Redis answers', async () => (await ask(one)) === 'miss')
    await works()
    await server.stop()
    assert.equal(await ask(one), 'miss; reason=store-unavailable')
    assert.equal(cacheOf(await one.chat({ seed: turn })), 'hit; age=0', 'the memory of the worker serves it')
    await one.gateway.finished(one.gateway.records.length)
    await server.start()
    await works()
    server.pause()
    assert.equal(await ask(other), 'miss; reason=store-unavailable')
    // Redis owes an answer: nobody waits for it again.
    const startedAt = performance.now()
    for (let i = 0; i < 5; i += 1) await ask(other)
    t.diagnostic(`5 calls beside a paused Redis: ${Math.round(performance.now() - startedAt)} ms`)
    server.resume()
    await eventually('it is shared again', async () => (await ask(other)) === 'miss')
    assert.match(lines.join('\n'), /warn.*cache store unavailable, calls go on without shared answers.*cause=/)
    assert.match(lines.join('\n'), /info.*cache store works again/)
    const reasons = [...one.gateway.recorded(), ...other.gateway.recorded()].map(({ llm }) => llm?.cache?.reason)
    assert.ok(reasons.includes('store-unavailable'))
    assert.deepEqual(new Set([...one.outcomes, ...other.outcomes]), new Set(['answered', 'failed', 'timeout']))
  })

  test('keeps answers encrypted, and takes none that is not', async (t) => {
    const server = await usePatientRedis(t)
    const { add, origin } = await useGateways(t, server.settings, { shared: { encrypt: true } })
    const [one, other, stranger] = [await add(), await add(), await add(['fedcba9876543210'.repeat(4)])]
    await one.chat()
    await one.isStored(1)
    assert.match(cacheOf(await other.chat()) ?? '', /^hit/)
    assert.equal(cacheOf(await stranger.chat()), 'miss')
    assert.equal(origin.seen.length, 2)
    assert.doesNotMatch((await namesAndValues(t, server.settings)).values, /answer 1|gpt|content/)
  })

  test('follows a purge by another gateway within a minute, and keeps what was not purged', async (t) => {
    const server = await usePatientRedis(t)
    const { add } = await useGateways(t, server.settings)
    const clock = { now: 1_000_000 }
    const [one, other] = [await add(), await add([KEY], () => clock.now)]
    for (const seed of [1, 2]) await one.chat({ seed, model: `gpt-${seed}` })
    await one.isStored(2)
    const ask = async (seed: number) => cacheOf(await other.chat({ seed, model: `gpt-${seed}` })) ?? ''
    for (const seed of [1, 2]) assert.match(await ask(seed), /^hit/)
    // Long enough for the purge to be later than the answers by the clock of Redis.
    await new Promise((resolve) => setTimeout(resolve, 2))
    assert.equal(await one.answers.purge({ model: 'gpt-1' }), true)
    assert.match(await ask(1), /^hit/, 'the memory of a worker is trusted for a minute')
    clock.now += 60_000
    assert.equal(await ask(1), 'miss')
    assert.match(await ask(2), /^hit/)
  })

  test('goes on as misses while Redis has no memory left, says so, and shares again after that', async (t) => {
    const server = await usePatientRedis(t)
    const { add, lines } = await useGateways(t, server.settings)
    const [one, other] = [await add(), await add()]
    const client = connectRedis(server.settings)
    t.after(() => client.close())
    await one.chat({ seed: 1 })
    await one.isStored(1)
    await client.call(['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
    await client.call(['CONFIG', 'SET', 'maxmemory', '1'])
    assert.match(cacheOf(await other.chat({ seed: 1 })) ?? '', /^hit/, 'what is stored can be read')
    const answer = await one.chat({ seed: 2 })
    assert.deepEqual([answer.status, cacheOf(answer)], [200, 'miss'])
    await eventually('the log says why', () =>
      /warn.*cache store refuses writes, answers are not stored.*OOM/.test(lines.join('\n')),
    )
    assert.match(cacheOf(await one.chat({ seed: 2 })) ?? '', /^hit/, 'the memory of the worker serves it')
    assert.equal(cacheOf(await other.chat({ seed: 2 })), 'miss')
    await client.call(['CONFIG', 'SET', 'maxmemory', '0'])
    await one.chat({ seed: 3 })
    await one.isStored(2)
    assert.match(cacheOf(await other.chat({ seed: 3 })) ?? '', /^hit/)
    await eventually('the log says that it works', () => /cache store stores answers again/.test(lines.join('\n')))
  })

  test('follows a purge by another gateway before it serves the answer to a similar request', async (t) => {
    const server = await usePatientRedis(t)
    // The embeddings of the provider are all near to each other.
    const semantic = { embeddings: { backendRef: { name: 'embedder' }, model: 'm' }, threshold: 0.9, timeout: '20s' }
    const { add } = await useGateways(t, server.settings, { shared: {}, semantic })
    const clock = { now: 1_000_000 }
    const [one, other] = [await add(), await add([KEY], () => clock.now)]
    const ask = async (content: string) => cacheOf(await other.chat({ messages: [{ role: 'user', content }] })) ?? ''
    assert.equal(await ask('a'), 'miss')
    await other.isStored(1)
    clock.now += 60_000
    assert.match(await ask('b'), /^hit; age=\d+; similarity=0\.9\d+$/)
    await new Promise((resolve) => setTimeout(resolve, 2))
    assert.equal(await one.answers.purge('all'), true)
    clock.now += 60_000
    assert.equal(await ask('c'), 'miss')
  })
})

/** A server with a time limit that a busy machine keeps. */
async function usePatientRedis(t: TestContext): Promise<RedisServer> {
  const server = await useRedis(t)
  return { ...server, settings: { ...server.settings, timeoutMs: 20_000 } }
}

async function namesAndValues(t: TestContext, settings: RedisSettings): Promise<{ keys: string; values: string }> {
  const client = connectRedis(settings)
  t.after(() => client.close())
  const keys = (await client.call(['KEYS', '*'])) as readonly string[]
  const answers = keys.filter((key) => key.includes(':a:'))
  assert.ok(answers.length > 0)
  return { keys: keys.join('\n'), values: JSON.stringify(await client.call(['MGET', ...answers])) }
}
