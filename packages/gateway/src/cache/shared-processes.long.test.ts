import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { noRedis, useRedis } from '../stores/testing/redis-server.ts'
import { request } from '../testing/client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../testing/process.ts'
import { httpConfig, useOrigin } from '../testing/scene.ts'
import { cacheOf, CHAT, respond, textOf } from './testing/scene.ts'

describe('two gateways with two workers each', { skip: noRedis }, () => {
  test('buy an answer once, keep serving without Redis, and end', async (t) => {
    const server = await useRedis(t)
    const origin = await useOrigin(t, respond())
    const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
    const policies = { auth: { key: 'k' }, ai: { cache: { ttl: '1h', shared: { encrypt: true } } } }
    const routes = httpConfig([{ backends: [{ ai: { provider }, policies }] }])
    const stores = { redis: { url: `redis://127.0.0.1:${server.port}`, timeout: '10s' } }
    const programs: Program[] = []
    const sessionKey = randomBytes(32).toString('hex')
    for (let count = 0; count < 2; count += 1) {
      const { file } = useConfigFile(t, { config: { stores }, ...routes })
      const env = { WORKER_THREADS: '2', SESSION_KEY: sessionKey }
      programs.push(await useProgram(t, { args: ['-f', file], env }))
    }
    const ask = (turn: number, seed: number) =>
      request(programs[turn % 2]?.port() ?? 0, {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: 'Bearer ann' },
        body: JSON.stringify({ ...CHAT, seed }),
      })
    assert.equal(cacheOf(await ask(0, 1)), 'miss')
    // The answer is stored while its client already has it.
    await eventually('the other gateway has it', async () => /^hit/.test(cacheOf(await ask(1, 1)) ?? ''))
    const asked = origin.seen.length
    const answers = await Promise.all(Array.from({ length: 40 }, (_, turn) => ask(turn, 1)))
    assert.deepEqual(new Set(answers.map((answer) => cacheOf(answer)?.slice(0, 3))), new Set(['hit']))
    assert.equal(new Set(answers.map(textOf)).size <= asked, true)
    assert.equal(origin.seen.length, asked)
    await server.stop()
    await eventually('a miss says why', async () => {
      return cacheOf(await ask(0, 1_000 + origin.seen.length)) === 'miss; reason=store-unavailable'
    })
    await server.start()
    await eventually('it is shared again', async () => cacheOf(await ask(1, 2_000 + origin.seen.length)) === 'miss')
  })
})
