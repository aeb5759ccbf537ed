import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { Reservations } from '../../../state/reservations.ts'
import { createTable, SharedTable } from '../../../state/shared-table.ts'
import { request, type RawResponse } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

/** One route with these limits, at a time that the test sets. */
async function setUp(t: TestContext, local: object[], policies: object = {}) {
  const origin = await useOrigin(t)
  const time = { now: 1_000_000 }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { ...policies, rateLimit: { local } })]), {
    monotonic: () => time.now,
  })
  return { origin, gateway, time, send: () => request(gateway.port()) }
}

function told({ status, headers }: RawResponse) {
  const number = (name: string) => (headers[name] === undefined ? null : Number(headers[name]))
  return {
    status,
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset: number('x-ratelimit-reset'),
  }
}

test('requests within the budget pass and are told what is left', async (t) => {
  const { send, time, origin } = await setUp(t, [{ requests: 2, unit: 'Seconds', burst: 1 }])
  assert.deepEqual(told(await send()), { status: 200, limit: 3, remaining: 2, reset: 1 })
  time.now += 300
  const second = await send()
  assert.deepEqual(told(second), { status: 200, limit: 3, remaining: 1, reset: 1 })
  assert.equal(second.headers['retry-after'], undefined)
  assert.equal(origin.seen.length, 2)
})

test('the request after the last is refused and does not reach the backend', async (t) => {
  const { send, time, origin, gateway } = await setUp(t, [{ requests: 1, unit: 'Minutes' }])
  await send()
  time.now += 20_500
  const refused = await send()
  assert.deepEqual(told(refused), { status: 429, limit: 1, remaining: 0, reset: 40 })
  assert.equal(refused.headers['retry-after'], '40')
  assert.equal(refused.headers['content-type'], 'text/plain')
  assert.equal(refused.headers['x-ext-ratelimited'], undefined)
  assert.equal(refused.body, 'rate limit exceeded')
  assert.equal(origin.seen.length, 1)
  await gateway.finished(2)
  assert.equal(gateway.records[1]!.reason, 'RateLimit')
  assert.equal(gateway.records[1]!.error, 'rate limit exceeded: 1/Minutes')
})

test('whoever waits as long as the headers say is served', async (t) => {
  const { send, time } = await setUp(t, [
    { requests: 1, unit: 'Seconds' },
    { requests: 3, unit: 'Minutes' },
  ])
  for (let served = 0; served < 20; served++) {
    time.now += 123.4
    let answer = await send()
    if (answer.status === 429) {
      time.now += Number(answer.headers['retry-after']) * 1000
      answer = await send()
    }
    assert.equal(answer.status, 200)
  }
})

test('units are seconds, minutes and hours', async (t) => {
  for (const [unit, seconds] of [
    ['Seconds', 1],
    ['minutes', 60],
    ['HOURS', 3600],
  ] as const) {
    const { send, time } = await setUp(t, [{ requests: 1, unit }])
    assert.equal(told(await send()).reset, seconds)
    time.now += seconds * 1000 - 1
    assert.deepEqual(told(await send()), { status: 429, limit: 1, remaining: 0, reset: 1 })
    time.now += 1
    assert.equal((await send()).status, 200)
  }
})

test('with several limits a refused request spends none, and the refusing one is told', async (t) => {
  const { send, time } = await setUp(t, [
    { requests: 5, unit: 'Hours' },
    { requests: 2, unit: 'Seconds' },
  ])
  assert.deepEqual(told(await send()), { status: 200, limit: 2, remaining: 1, reset: 1 })
  await send()
  for (let i = 0; i < 5; i++) assert.deepEqual(told(await send()), { status: 429, limit: 2, remaining: 0, reset: 1 })
  time.now += 1000
  assert.equal((await send()).status, 200)
  assert.deepEqual(told(await send()), { status: 200, limit: 2, remaining: 0, reset: 1 })
  time.now += 1000
  assert.deepEqual(told(await send()), { status: 200, limit: 5, remaining: 0, reset: 3598 })
  time.now += 1000
  assert.deepEqual(told(await send()), { status: 429, limit: 5, remaining: 0, reset: 3597 })
})

test('a trace says which limit decided, and what it is under its key', async (t) => {
  const local = [{ requests: 1, unit: 'Minutes', burst: 1 }]
  const { send, time, gateway } = await setUp(t, local)
  const traced = async () => {
    const events = gateway.trace()
    await send()
    return (await events).map((event) => event.message)
  }
  const details = (messages: Awaited<ReturnType<typeof traced>>) =>
    messages.find(({ type, kind, phase }) => type === 'policy' && kind === 'rateLimit' && phase === 'route')?.['result']
  await send()
  const passed = await traced()
  const seen = { limit: '1/Minutes+1', remaining: 0, resetSeconds: 60 }
  assert.deepEqual(details(passed), { type: 'apply', details: { code: 'within_limit', ...seen } })
  const selection = passed.find(({ type }) => type === 'policySelection')?.['effectivePolicy']
  assert.deepEqual((selection as Record<string, unknown>)['localRateLimit'], local)
  time.now += 1000
  assert.deepEqual(details(await traced()), {
    type: 'stop',
    reason: 'RateLimit',
    status: 429,
    details: { code: 'rate_limited', ...seen, resetSeconds: 59 },
  })
})

test('a gRPC client is refused in its own way', async (t) => {
  const { send, gateway } = await setUp(t, [{ requests: 1, unit: 'Hours' }])
  await send()
  const refused = await request(gateway.port(), { method: 'POST', headers: { 'content-type': 'application/grpc' } })
  assert.equal(refused.status, 200)
  assert.equal(refused.headers['grpc-status'], '14')
  assert.equal(refused.headers['grpc-message'], 'rate%20limit%20exceeded')
  assert.equal(refused.headers['retry-after'], '3600')
  assert.equal(refused.headers['x-ratelimit-remaining'], '0')
})

test('answers of the gateway itself are limited and told too', async (t) => {
  const { send, origin } = await setUp(t, [{ requests: 1, unit: 'Hours' }], {
    directResponse: { status: 200, body: 'hello' },
  })
  assert.deepEqual(told(await send()), { status: 200, limit: 1, remaining: 0, reset: 3600 })
  assert.equal((await send()).status, 429)
  assert.equal(origin.seen.length, 0)
})

test('the limit headers of a backend pass unchanged', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(429, { 'x-ratelimit-remaining': '7', 'retry-after': '9' }).end()
  })
  const rateLimit = { local: [{ requests: 5, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]))
  const answer = await request(gateway.port())
  assert.deepEqual(told(answer), { status: 429, limit: null, remaining: 7, reset: null })
  assert.equal(answer.headers['retry-after'], '9')
})

test('the headers can be removed', async (t) => {
  const remove = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  const { send } = await setUp(t, [{ requests: 5, unit: 'Hours' }], { headerModifiers: { response: { remove } } })
  assert.deepEqual(told(await send()), { status: 200, limit: null, remaining: null, reset: null })
})

test('a limit of the listener is one budget for its routes, and a route with its own is outside', async (t) => {
  const origin = await useOrigin(t)
  const one = { local: [{ requests: 2, unit: 'Hours' }] }
  const gateway = await useGateway(
    t,
    httpConfig(
      [
        routeTo(origin, {}, pathPrefix('/a')),
        routeTo(origin, {}, pathPrefix('/b')),
        routeTo(origin, { rateLimit: one }, pathPrefix('/own')),
      ],
      { listener: { policies: { rateLimit: one } } },
    ),
  )
  const status = async (path: string) => (await request(gateway.port(), { path })).status
  assert.equal(await status('/own'), 200)
  assert.equal(await status('/a'), 200)
  assert.equal(await status('/b'), 200)
  assert.equal(await status('/a'), 429)
  assert.equal(await status('/b'), 429)
  assert.equal(await status('/own'), 200)
  assert.equal(await status('/own'), 429)
})

test('routes with equal limits have budgets of their own', async (t) => {
  const origin = await useOrigin(t)
  const rateLimit = { local: [{ requests: 1, unit: 'Hours' }] }
  const routes = ['/a', '/b'].map((prefix) => routeTo(origin, { rateLimit }, pathPrefix(prefix)))
  const gateway = await useGateway(t, httpConfig(routes))
  for (const path of ['/a', '/b']) assert.equal((await request(gateway.port(), { path })).status, 200)
  for (const path of ['/a', '/b']) assert.equal((await request(gateway.port(), { path })).status, 429)
})

test('forms by condition have budgets of their own', async (t) => {
  const origin = await useOrigin(t)
  const policy = { local: [{ requests: 1, unit: 'Hours' }] }
  const rateLimit = { conditional: [{ condition: 'request.method == "PUT"', policy }, { policy }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]), { monotonic: () => 0 })
  const send = async (method: string) => told(await request(gateway.port(), { method }))
  for (const method of ['PUT', 'GET']) {
    assert.deepEqual(await send(method), { status: 200, limit: 1, remaining: 0, reset: 3600 })
    assert.deepEqual(await send(method), { status: 429, limit: 1, remaining: 0, reset: 3600 })
  }
})

test('requests for which no condition is true are neither limited nor told', async (t) => {
  const origin = await useOrigin(t)
  const policy = { local: [{ requests: 1, unit: 'Hours' }] }
  const rateLimit = { conditional: [{ condition: 'request.method == "PUT"', policy }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]))
  for (let i = 0; i < 3; i++) {
    const answer = told(await request(gateway.port()))
    assert.deepEqual(answer, { status: 200, limit: null, remaining: null, reset: null })
  }
})

test('a reload keeps what was spent, also with other numbers', async (t) => {
  const origin = await useOrigin(t)
  const config = (limit: object) => httpConfig([routeTo(origin, { rateLimit: { local: [limit] } })])
  const gateway = await useGateway(t, config({ requests: 3, unit: 'Hours' }))
  const remaining = async () => told(await request(gateway.port())).remaining
  const reload = (limit: object) => gateway.reload(JSON.stringify(config(limit)))
  assert.equal(await remaining(), 2)
  await reload({ requests: 3, unit: 'Hours', burst: 4 })
  assert.equal(await remaining(), 5)
  await reload({ requests: 2, unit: 'Hours' })
  assert.equal((await request(gateway.port())).status, 429)
  await reload({ requests: 3, unit: 'Hours' })
  assert.equal(await remaining(), 0)
  // Windows of another length are another budget.
  await reload({ requests: 3, unit: 'Minutes' })
  assert.equal(await remaining(), 2)
})

test('gateways with the same counters spend from one budget', async (t) => {
  const origin = await useOrigin(t)
  const counters = createTable()
  const config = httpConfig([routeTo(origin, { rateLimit: { local: [{ requests: 5, unit: 'Hours' }] } })])
  const gateways = [await useGateway(t, config, { counters }), await useGateway(t, config, { counters })]
  const remaining: (number | null)[] = []
  for (let i = 0; i < 5; i++) remaining.push(told(await request(gateways[i % 2]!.port())).remaining)
  assert.deepEqual(remaining, [4, 3, 2, 1, 0])
  for (const gateway of gateways) assert.equal((await request(gateway.port())).status, 429)
})

test('a config with more limits than there is room for is refused, and names one', () => {
  const local = Array.from({ length: 16 }, () => ({ requests: 1, unit: 'Hours' }))
  const routes = [{ name: 'many', policies: { rateLimit: { local } } }]
  const loaded = loadConfig(JSON.stringify(httpConfig(routes)), { file: 'test.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  assert.deepEqual(checkCompile(loaded.ir, new Reservations(new SharedTable(createTable(16)))), [])
  const problems = checkCompile(loaded.ir, new Reservations(new SharedTable(createTable(8))))
  assert.ok(problems.length > 0)
  assert.match(
    loaded.explain(problems[0]!),
    /local\[\d+\]: found no room for the limit 1\/Hours of .*many.*, expected fewer limits/,
  )
})

test('an invalid limit is rejected when the config is loaded', () => {
  const problemsOf = (rateLimit: object) => {
    const text = JSON.stringify(httpConfig([{ policies: { rateLimit } }]))
    const loaded = loadConfig(text, { file: 'test.yaml', dir: '.', env: {} })
    return loaded.ok ? [] : loaded.problems.map((problem) => problem.code)
  }
  const limit = { requests: 1, unit: 'Hours' }
  assert.deepEqual(problemsOf({ local: [limit] }), [])
  assert.deepEqual(problemsOf({ local: Array(16).fill({ ...limit, burst: 0 }) }), [])
  assert.deepEqual(problemsOf({}), ['missing_key'])
  assert.deepEqual(problemsOf({ local: [limit], conditional: [{ policy: { local: [limit] } }] }).length > 0, true)
  assert.deepEqual(problemsOf({ local: [] }), ['out_of_range'])
  assert.deepEqual(problemsOf({ local: Array(17).fill(limit) }), ['out_of_range'])
  assert.deepEqual(problemsOf({ local: [{ ...limit, requests: 0 }] }), ['out_of_range'])
  assert.deepEqual(problemsOf({ local: [{ ...limit, requests: 1.5 }] }), ['wrong_type'])
  assert.deepEqual(problemsOf({ local: [{ ...limit, burst: -1 }] }), ['out_of_range'])
  assert.deepEqual(problemsOf({ local: [{ requests: 1 }] }), ['missing_key'])
  assert.deepEqual(problemsOf({ local: [{ unit: 'Hours' }] }), ['missing_key'])
  assert.deepEqual(problemsOf({ local: [{ ...limit, unit: 'Days' }] }), ['not_allowed'])
})
