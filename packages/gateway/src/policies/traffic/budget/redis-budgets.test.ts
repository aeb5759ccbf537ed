import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { openRedisBudgets } from '../../../stores/redis/open-budgets.ts'
import { noRedis, type RedisServer, useRedis } from '../../../stores/testing/redis-server.ts'
import type { RedisSettings } from '../../../stores/redis/connect.ts'
import { createLogger } from '../../../telemetry/log/logger.ts'
import { parseLogFilter } from '../../../telemetry/log/log-filter.ts'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { eventually } from '../../../testing/process.ts'
import { closedPort, httpConfig, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
const ANSWER = JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage })
const answer: OriginHandler = (_seen, response) => response.setHeader('content-type', 'application/json').end(ANSWER)
const CALL = {
  method: 'POST',
  path: '/v1/chat/completions',
  body: JSON.stringify({ model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }),
}

interface Scene {
  usd?: number
  handler?: OriginHandler
  settings?: Partial<RedisSettings>
}

/** Gateways that share a budget; each call costs a cent. */
async function setUp(
  t: TestContext,
  at: Pick<RedisSettings, 'host' | 'port'>,
  { usd = 1, handler = answer, settings }: Scene,
) {
  const origin = await useOrigin(t, handler)
  const policies = {
    budget: { limits: [{ name: 'team', usd, per: 'Month' }] },
    backend: { prices: { models: [{ model: 'm', rates: { input: 0, output: 10 } }], table: 'None' } },
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const config = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const lines: string[] = []
  const filter = parseLogFilter('info')
  assert.ok(filter.ok)
  const log = createLogger({ filter: filter.value, format: 'text', write: (line) => void lines.push(line) })
  const counts = { lost: 0, outcomes: new Map<string, number>() }
  const open = async () => {
    const budgets = openRedisBudgets(
      {
        ...{ ...at, database: 0, isTls: false, ca: null, username: '', password: '', timeoutMs: 1_000 },
        ...{ prefix: 'portico', failureMode: 'Closed', ...settings },
      },
      {
        clock: Date.now,
        record: (outcome) => void counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1),
        countLost: () => void (counts.lost += 1),
        log: log.child('budget'),
      },
    )
    t.after(() => budgets.close(500))
    const gateway = await useGateway(t, config, { budgets })
    const send = (headers: Record<string, string> = {}) =>
      request(gateway.port(), { ...CALL, headers: { accept: 'application/json', ...headers } })
    return { gateway, budgets, send }
  }
  return { origin, open, lines, counts }
}

const LOOPBACK = { host: '127.0.0.1' }
const at = ({ port }: RedisServer) => ({ ...LOOPBACK, port })

describe('a budget in Redis', { skip: noRedis }, () => {
  test('lets two gateways pass exactly what it pays for, when all calls come at once', async (t) => {
    const waiting: (() => void)[] = []
    const handler: OriginHandler = (...exchange) => {
      waiting.push(() => answer(...exchange))
      // No call ends before all that pass have arrived.
      if (waiting.length === 50) for (const send of waiting) send()
    }
    const { origin, open } = await setUp(t, at(await useRedis(t)), { usd: 0.5, handler })
    const gateways = [await open(), await open()]
    const answers = await Promise.all(Array.from({ length: 200 }, async (_, i) => gateways[i % 2]?.send()))
    const count = (status: number) => answers.filter((found) => found?.status === status).length
    assert.deepEqual([count(200), count(429), origin.seen.length], [50, 150, 50])
    await Promise.all(gateways.map(({ budgets }) => budgets.settled()))
    assert.equal((await gateways[0]?.send())?.status, 429)
    assert.deepEqual(
      gateways.flatMap(({ gateway }) => gateway.bugs),
      [],
    )
  })

  test('refuses calls while the server is away, counts what ended meanwhile, and goes on when it is back', async (t) => {
    const server = await useRedis(t)
    let finish: () => void = () => {}
    const handler: OriginHandler = (...exchange) => {
      if (origin.seen.length > 1) return answer(...exchange)
      finish = () => answer(...exchange)
    }
    const { origin, open, lines, counts } = await setUp(t, at(server), { usd: 0.02, handler })
    const { gateway, send, budgets } = await open()
    const underWay = send()
    await eventually('the call is under way', () => origin.seen.length === 1)
    await server.stop()
    await eventually('calls are refused', async () => (await send()).status === 503)
    const refused = await send()
    const { error } = JSON.parse(refused.body) as { error: Record<string, unknown> }
    assert.deepEqual([error['code'], error['message']], ['budget_unavailable', 'budget store unavailable'])
    assert.equal(origin.seen.length, 1)
    finish()
    assert.equal((await underWay).status, 200)
    await server.start()
    await budgets.settled()
    await eventually('calls pass again', async () => (await send()).status === 200)
    await budgets.settled()
    assert.equal((await send()).status, 429, 'the call that ended meanwhile is counted')
    assert.deepEqual([counts.lost, gateway.bugs], [0, []])
    assert.match(lines.join('\n'), /warn.*budget store unavailable.*cause=.*failureMode=Closed/)
    assert.match(lines.join('\n'), /info.*budget store works again/)
    assert.ok((counts.outcomes.get('failed') ?? 0) > 0)
  })

  test('counts later what passed while the server was away, with `failureMode: Open`', async (t) => {
    const server = await useRedis(t)
    await server.stop()
    const { open } = await setUp(t, at(server), { usd: 0.02, settings: { failureMode: 'Open' } })
    const { send, budgets } = await open()
    for (let turn = 0; turn < 3; turn++) assert.equal((await send()).status, 200)
    await server.start()
    await budgets.settled()
    assert.equal((await send()).status, 429)
  })

  test('waits for a silent server no longer than `timeout`', async (t) => {
    const server = await useRedis(t)
    const { origin, open, counts, lines } = await setUp(t, at(server), { usd: 0.01, settings: { timeoutMs: 100 } })
    const { send, budgets, gateway } = await open()
    await eventually('Redis answers', async () => (await send({ 'x-warm': '1' })).status !== 503)
    await budgets.settled()
    const seen = origin.seen.length
    server.pause()
    assert.equal((await send()).status, 503)
    // Redis owes an answer, so nobody waits for another one.
    const refused = await Promise.all(Array.from({ length: 20 }, () => send()))
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([503]))
    server.resume()
    await budgets.settled()
    assert.deepEqual([origin.seen.length, gateway.bugs], [seen, []])
    assert.ok((counts.outcomes.get('timeout') ?? 0) > 0)
    assert.match(lines.join('\n'), /cause="no answer within 100 ms"/)
  })

  test('is opened with a password, which no line of the log has', async (t) => {
    const server = await useRedis(t, ['--requirepass', 'hunter2'])
    const wrong = await setUp(t, at(server), { settings: { password: 'hunter3' } })
    const refusing = await wrong.open()
    await eventually('the refusal is logged', async () => {
      assert.equal((await refusing.send()).status, 503)
      return wrong.lines.some((line) => line.includes('the connection was refused with WRONGPASS'))
    })
    assert.doesNotMatch(wrong.lines.join('\n'), /hunter/)
    const right = await setUp(t, at(server), { settings: { password: 'hunter2', database: 3 } })
    const { send } = await right.open()
    await eventually('calls pass', async () => (await send()).status === 200)
  })
})

describe('a server of budgets', () => {
  const garbage = 'HTTP/1.1 400 Bad Request\r\n\r\n'
  for (const [how, onConnection] of [
    ['resets connections', (socket) => socket.resetAndDestroy()],
    ['answers with garbage', (socket) => void socket.write(garbage)],
    ['answers with half a reply', (socket) => void socket.write('$100\r\nabc')],
    ['stays silent', () => {}],
    ['ends connections', (socket) => void socket.end()],
    ['announces endless replies', (socket) => void socket.write('*1000000\r\n')],
  ] satisfies [string, Parameters<typeof useTcpServer>[1]][]) {
    test(`that ${how} costs each call its time limit, and nothing else`, async (t) => {
      const server = await useTcpServer(t, onConnection)
      const { origin, open, lines, counts } = await setUp(
        t,
        { ...LOOPBACK, port: server.port },
        { settings: { timeoutMs: 30 } },
      )
      const { send, gateway } = await open()
      for (let turn = 0; turn < 3; turn++) assert.equal((await send()).status, 503)
      assert.deepEqual([origin.seen.length, gateway.bugs], [0, []])
      assert.match(lines.join('\n'), /budget store unavailable/)
      assert.ok((counts.outcomes.get('failed') ?? 0) + (counts.outcomes.get('timeout') ?? 0) >= 3)
      const [record] = gateway.records
      assert.deepEqual([record?.status, record?.reason], [503, 'RateLimit'])
    })
  }

  test('that refuses connections is told in the trace, the record and the explanation', async (t) => {
    const { open } = await setUp(t, { ...LOOPBACK, port: await closedPort() }, {})
    const { send, gateway } = await open()
    const traced = gateway.trace()
    assert.equal((await send()).status, 503)
    assert.match(JSON.stringify(await traced), /budget store unavailable/)
    assert.match(JSON.stringify(gateway.recorded()[0]), /budget_unavailable/)
  })
})
