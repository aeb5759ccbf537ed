import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { eventually } from '../../testing/process.ts'
import { useTcpServer } from '../../testing/scene.ts'
import { noRedis, type RedisServer, useRedis } from '../testing/redis-server.ts'
import { createAnswerScripts } from './answer-scripts.ts'
import { connectRedis } from './connect.ts'
import { RedisAnswers } from './redis-answers.ts'

const MAX = 1_048_576
const LIMITS = { ttlMs: 60_000, maxBytes: MAX, isEncrypted: false }
const HEADERS = [['content-type', 'application/json']] as const

function useAnswers(t: TestContext, settings: RedisServer['settings']) {
  const scripts = createAnswerScripts()
  const counts = { stored: 0, rejected: 0, evicted: 0, problems: [] as (string | null)[] }
  const client = connectRedis(settings, scripts)
  const answers = new RedisAnswers({
    ...{ client, scripts, prefix: settings.prefix, sessionKeys: () => ['ab'.repeat(32)], record() {} },
    report: (problem) => void counts.problems.push(problem),
    reportStoring() {},
    stored(isStored, evicted) {
      counts[isStored ? 'stored' : 'rejected'] += 1
      counts.evicted += evicted
    },
  })
  t.after(() => answers.close())
  const at = (key: string, scope = 'ann', labels = { model: 'm', apiKey: 'ann' }) => {
    return { cache: 'c', key, scope, labels }
  }
  const put = async (key: string, bytes: number, scope?: string, limits = LIMITS): Promise<void> => {
    const before = counts.stored + counts.rejected
    answers.put(at(key, scope), { headers: HEADERS, body: Buffer.alloc(bytes, 'x') }, limits)
    await eventually('the answer is stored', () => counts.stored + counts.rejected > before)
  }
  const kindOf = async (key: string): Promise<string> => (await answers.get(at(key), false)).kind
  return { answers, client, counts, at, put, kindOf }
}

describe('answers in Redis', { skip: noRedis }, () => {
  test('are bounded in bytes: the tenant with the most loses its oldest', async (t) => {
    const server = await useRedis(t)
    const { put, kindOf, counts, client, at, answers } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    for (const key of ['q1', 'q2']) await put(key, 50_000, 'quiet')
    for (let i = 0; i < 30; i += 1) await put(`f${i}`, 100_000, 'flood')
    assert.deepEqual([await kindOf('q1'), await kindOf('q2'), await kindOf('f29')], ['found', 'found', 'found'])
    assert.equal(await kindOf('f0'), 'absent')
    assert.deepEqual([counts.stored, counts.rejected, counts.evicted], [32, 0, 21])
    await put('large', MAX / 8, 'quiet')
    assert.equal(counts.rejected, 1)
    const keys = await client.call(['KEYS', '*'])
    assert.ok(Array.isArray(keys))
    const stored = keys.filter((key) => typeof key === 'string' && /:a:/.test(key))
    assert.equal(stored.length, 11)
    // A replaced answer counts once.
    for (let i = 0; i < 5; i += 1) await put('q1', 50_000, 'quiet')
    assert.equal(counts.evicted, 21)
    assert.deepEqual((await answers.get(at('q1'), false)).kind, 'found')
    for (const key of keys) assert.ok(Number(await client.call(['PTTL', String(key)])) > 0, `${String(key)} ends`)
  })

  test('end with their time, and free their room', async (t) => {
    const server = await useRedis(t)
    const { put, kindOf, client } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    for (let i = 0; i < 5; i += 1) await put(`k${i}`, 100_000, `tenant ${i}`, { ...LIMITS, ttlMs: 30 })
    await eventually(
      'they have ended',
      async () => (await kindOf('k0')) === 'absent' && (await kindOf('k4')) === 'absent',
    )
    await put('next', 10, 'ann')
    const keys = (await client.call(['KEYS', '*:cache:*:total'])) as string[]
    assert.equal(await client.call(['GET', keys[0] ?? '']), String(10 + lengthOfForm() + 512))
  })

  test('are purged by cache, by model, by key, or all', async (t) => {
    const server = await useRedis(t)
    const { answers, counts, at } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    const places = [
      at('1', 'ann', { model: 'm', apiKey: 'ann' }),
      at('2', 'ann', { model: 'n', apiKey: 'ann' }),
      at('3', 'bob', { model: 'm', apiKey: 'bob' }),
    ]
    const store = async (): Promise<void> => {
      const before = counts.stored
      for (const place of places) answers.put(place, { headers: HEADERS, body: Buffer.from('x') }, LIMITS)
      await eventually('they are stored', () => counts.stored === before + places.length)
    }
    const kinds = () => Promise.all(places.map(async (place) => (await answers.get(place, false)).kind === 'found'))
    for (const [selection, left] of [
      [{ cache: 'another' }, [true, true, true]],
      [{ cache: places[0]?.cache ?? '' }, [false, false, false]],
      [{ model: 'm' }, [false, true, false]],
      [{ apiKey: 'ann' }, [false, false, true]],
      ['all', [false, false, false]],
    ] as const) {
      // An answer of the same millisecond as a purge is purged, too.
      await new Promise((resolve) => setTimeout(resolve, 2))
      await store()
      assert.equal(await answers.purge(selection), true)
      assert.deepEqual(await kinds(), left)
    }
  })

  test('are counted, with their tenants and bytes, until they end', async (t) => {
    const server = await useRedis(t)
    const { put, answers, at } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    const { cache } = at('1')
    assert.deepEqual(await answers.figures(cache), { entries: 0, scopes: 0, bytes: 0 })
    await put('1', 10, 'ann')
    await put('2', 10, 'ann')
    await put('3', 10, 'bob')
    const bytes = 3 * (10 + lengthOfForm() + 512)
    assert.deepEqual(await answers.figures(cache), { entries: 3, scopes: 2, bytes })
    assert.deepEqual(await answers.figures('another'), { entries: 0, scopes: 0, bytes: 0 })
    await server.stop()
    assert.equal(await answers.figures(cache), null)
    await server.start()
  })

  test('are misses when they are of another kind, too large, cut or of another request, and the connection stays', async (t) => {
    const server = await useRedis(t)
    const { put, kindOf, client, answers, at } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    await put('k', 10)
    const [name = ''] = ((await client.call(['KEYS', '*:a:k'])) as string[]) ?? []
    const value = (await client.call(['GET', name])) as string
    for (const wrong of ['', 'x', ':', '1:', '99999999999999:portico-answer-2', value.slice(0, -1), `x${value}`]) {
      await client.call(['SET', name, wrong])
      assert.equal(await kindOf('k'), 'absent', wrong)
    }
    await client.call(['SET', name, 'x'.repeat(2_000_000)])
    assert.equal(await kindOf('k'), 'absent')
    await client.call(['SET', name.replace(/k$/, 'other'), value])
    assert.equal(await kindOf('other'), 'absent')
    await client.call(['DEL', name])
    await client.call(['LPUSH', name, 'x'])
    assert.equal(await kindOf('k'), 'unavailable')
    await client.call(['DEL', name])
    await put('k', 10)
    assert.equal((await answers.get(at('k'), false)).kind, 'found')
    assert.equal((await answers.get(at('k'), true)).kind, 'absent', 'an answer in plain text where they are encrypted')
  })

  test('survive a server that forgets its scripts', async (t) => {
    const server = await useRedis(t)
    const { put, kindOf, client } = useAnswers(t, { ...server.settings, timeoutMs: 20_000 })
    await put('k', 10)
    await client.call(['SCRIPT', 'FLUSH'])
    await eventually('the scripts are loaded again', async () => (await kindOf('k')) === 'found')
  })
})

test('a server that answers rubbish is unavailable', async (t) => {
  const rubbish = [
    '*1\r\n:1\r\n',
    '$-1\r\n',
    ':1\r\n',
    '*3\r\n:1\r\n:1\r\n:1\r\n',
    '-ERR no\r\n',
    'HTTP/1.1 400 Bad\r\n',
  ]
  for (const reply of rubbish) {
    // Every connection begins with three scripts.
    const server = await useTcpServer(t, (socket) => {
      let count = 0
      socket.on('data', (data: Buffer) => {
        for (const _ of data.toString().matchAll(/EVALSHA|LOAD/g)) socket.write(count++ < 3 ? '+OK\r\n' : reply)
      })
      socket.on('error', () => {})
    })
    const settings = {
      ...{ host: '127.0.0.1', port: server.port, database: 0, isTls: false, ca: null, username: '', password: '' },
      ...{ timeoutMs: 20_000, prefix: 'p', failureMode: 'Closed' as const },
    }
    const { answers, at, counts } = useAnswers(t, settings)
    assert.equal((await answers.get(at('k'), false)).kind, 'unavailable', reply)
    assert.equal(await answers.purge('all'), reply === ':1\r\n', reply)
    assert.equal(counts.stored, 0)
  }
})

/** The length of an encoded answer without its body. */
function lengthOfForm(): number {
  const meta = JSON.stringify({ headers: HEADERS, isText: true })
  return `portico-answer-1 ${'x'.repeat(43)}\n${meta}\n`.length
}
