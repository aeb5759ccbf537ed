import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import { counting, type Judge, useLimitServer } from '../../../testing/services/limit-server.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

const byUser = { entries: [{ name: 'user', expression: 'request.headers["x-user"]' }] }

async function setUp(t: TestContext, judge: Judge, global: object = {}, rateLimit: object = {}, policies: object = {}) {
  const origin = await useOrigin(t)
  const limits = await useLimitServer(t, judge)
  const full = { backendRef: { host: limits.host }, domain: 'shop', descriptors: [byUser], timeout: '10s', ...global }
  const config = httpConfig([routeTo(origin, { rateLimit: { ...rateLimit, global: full }, ...policies })])
  const gateway = await useGateway(t, config)
  const send = (user?: string, more: Record<string, string> = {}) =>
    request(gateway.port(), { headers: { ...(user !== undefined && { 'x-user': user }), ...more } })
  return { origin, limits, gateway, send }
}

test('the server counts by what the descriptors say, and the client is told what is left', async (t) => {
  const { origin, limits, gateway, send } = await setUp(t, counting(2))
  const first = await send('ann')
  assert.deepEqual(
    [
      first.status,
      first.headers['x-ratelimit-limit'],
      first.headers['x-ratelimit-remaining'],
      first.headers['x-ratelimit-reset'],
    ],
    [200, '2', '1', '31'],
  )
  assert.equal((await send('ann')).status, 200)
  const refused = await send('ann')
  assert.deepEqual(
    [refused.status, refused.body, refused.headers['x-ratelimit-remaining'], refused.headers['retry-after']],
    [429, 'rate limit exceeded', '0', '31'],
  )
  assert.equal((await send('bob')).status, 200)
  assert.equal(origin.seen.length, 3)
  assert.deepEqual(limits.seen[0], { domain: 'shop', descriptors: [{ entries: 'user=ann', hits: null }] })
  await gateway.finished(4)
  assert.deepEqual([gateway.records[2]?.reason, gateway.records[2]?.error], ['RateLimit', 'rate limit exceeded: shop'])
})

test('the rate limit service is not called for a request that a local budget denies', async (t) => {
  const local = [{ requests: 1, unit: 'Hours', key: 'request.headers["x-user"]' }]
  const { limits, send } = await setUp(t, counting(2), {}, { local })
  const statuses: number[] = []
  for (const user of ['ann', 'ann', 'bob', 'bob']) statuses.push((await send(user)).status)
  assert.deepEqual(statuses, [200, 429, 200, 429])
  assert.deepEqual(
    limits.seen.map(({ descriptors }) => descriptors[0]?.entries),
    ['user=ann', 'user=bob'],
  )
})

test('a descriptor without a value is left out; without any nobody is asked', async (t) => {
  const both = { entries: [...byUser.entries, { name: 'method', expression: 'request.method' }] }
  const size = {
    entries: [
      { name: 'size', expression: 'size(request.path)' },
      { name: 'list', expression: 'dyn([1])' },
    ],
  }
  const { limits, send } = await setUp(t, counting(9), { descriptors: [both, size] })
  assert.equal((await send()).status, 200)
  assert.equal(limits.seen.length, 0)
  assert.equal((await send('ann')).status, 200)
  assert.deepEqual(limits.seen[0]?.descriptors, [{ entries: 'user=ann,method=GET', hits: null }])
})

test('descriptors may read the body of the request', async (t) => {
  const byModel = { entries: [{ name: 'model', expression: 'json(request.body).model' }] }
  const { limits, gateway } = await setUp(t, counting(99), { descriptors: [byModel] })
  const sent = { method: 'POST', body: '{"model":"large"}' }
  assert.equal((await request(gateway.port(), sent)).status, 200)
  assert.deepEqual(limits.seen[0]?.descriptors, [{ entries: 'model=large', hits: null }])
})

test('several descriptors are one call, each with its own cost', async (t) => {
  const costly = { ...byUser, cost: 'request.method == "GET" ? 5 : 1' }
  const none = { ...byUser, cost: '-1' }
  const { limits, send } = await setUp(t, counting(9), { descriptors: [costly, none, byUser] })
  assert.equal((await send('ann')).status, 200)
  assert.equal(limits.seen.length, 1)
  assert.deepEqual(
    limits.seen[0]?.descriptors.map(({ hits }) => hits),
    [5, null],
  )
})

test('headers and a body of the server are passed on', async (t) => {
  const header = (key: string, value: string) => ({ key, value, rawValue: new Uint8Array() })
  const judge: Judge = ({ descriptors }) => ({
    overallCode: descriptors[0]?.entries === 'user=bob' ? 2 : 1,
    responseHeadersToAdd: [
      header('x-ext-ratelimited', '1'),
      header('x-ratelimit-limit', '9, 9;w=60'),
      header('connection', 'close'),
    ],
    requestHeadersToAdd: [header('x-plan', 'gold'), header('host', 'evil')],
    rawBody: Buffer.from('come back later'),
  })
  const { origin, send } = await setUp(t, judge)
  const passed = await send('ann', { 'x-plan': 'mine' })
  assert.deepEqual([passed.headers['x-ratelimit-limit'], origin.seen[0]?.headers['x-plan']], ['9, 9;w=60', 'gold'])
  assert.equal(origin.seen[0]?.headers['host'], 'test.example')
  const refused = await send('bob')
  assert.deepEqual([refused.status, refused.body, refused.headers['x-ext-ratelimited']], [429, 'come back later', '1'])
  assert.equal(refused.headers['content-type'], 'text/plain')
})

test('a limit of the gateway itself comes first, and the tighter of both is told', async (t) => {
  const { limits, send } = await setUp(t, counting(9), {}, { local: [{ requests: 2, unit: 'Hours' }] })
  assert.equal((await send('ann')).headers['x-ratelimit-limit'], '2')
  assert.equal((await send('ann')).status, 200)
  assert.equal((await send('ann')).status, 429)
  assert.equal(limits.seen.length, 2)
})

test('an unavailable rate limit service denies every request, or none', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, () => {})
  const broken = await useLimitServer(t, () => Promise.reject(new Error('broken')))
  const unsure = await useLimitServer(t, () => ({ overallCode: 0 }))
  for (const host of [`127.0.0.1:${await closedPort()}`, silent.host, broken.host, unsure.host]) {
    for (const [failureMode, expected] of [
      [undefined, 500],
      ['FailClosed', 500],
      ['FailOpen', 200],
    ] as const) {
      const global = {
        backendRef: { host },
        domain: 'd',
        descriptors: [{ entries: [{ name: 'a', expression: '"b"' }] }],
        timeout: '100ms',
      }
      const rateLimit = { global: { ...global, ...(failureMode && { failureMode }) } }
      const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]))
      const answer = await request(gateway.port())
      assert.equal(answer.status, expected, `${host} ${failureMode}`)
      if (expected === 500) assert.equal(answer.body, 'rate limit failed')
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.reason, expected === 500 ? 'RateLimit' : 'Upstream')
    }
  }
})

const chat: OriginHandler = (message, response) => {
  const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }
  if (!message.url?.includes('stream')) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  }
}

async function setUpModel(t: TestContext, judge: Judge, descriptors: object[], handler = chat) {
  const model = await useOrigin(t, handler)
  const limits = await useLimitServer(t, judge)
  const [host, port] = model.host.split(':')
  const global = { backendRef: { host: limits.host }, domain: 'llm', descriptors, timeout: '10s' }
  const transformation = { request: { set: [{ name: 'x-user', value: '"changed"' }] } }
  const route = {
    policies: { rateLimit: { global }, transformation },
    backends: [{ ai: { provider: { openai: {}, host, port: Number(port) } } }],
  }
  const gateway = await useGateway(t, httpConfig([route]))
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { 'content-type': 'application/json', 'x-user': 'ann' }
  const send = () => request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
  return { model, limits, gateway, send }
}

test('tokens are asked about before a call, and counted after it by what the request was then', async (t) => {
  const descriptors = [
    { ...byUser, unit: 'Tokens' },
    byUser,
    { ...byUser, unit: 'Tokens', cost: 'llm.outputTokens * 2' },
  ]
  const { limits, send } = await setUpModel(t, () => ({}), descriptors)
  assert.equal((await send()).status, 200)
  await until(() => limits.seen.length === 2)
  assert.deepEqual(
    limits.seen[0]?.descriptors.map(({ hits }) => hits),
    [0, null, 0],
  )
  assert.deepEqual(limits.seen[1]?.descriptors, [
    { entries: 'user=ann', hits: 42 },
    { entries: 'user=ann', hits: 24 },
  ])
})

test('tokens that the rate limit service did not count are a warning, and only those', async (t) => {
  for (const fails of [false, true]) {
    const { limits, gateway, send } = await setUpModel(
      t,
      ({ descriptors }) => {
        const isReport = descriptors.some(({ hits }) => hits !== 0)
        return isReport && fails ? Promise.reject(new Error('broken')) : {}
      },
      [{ ...byUser, unit: 'Tokens' }],
    )
    assert.equal((await send()).status, 200)
    await until(() => limits.seen.length === 2)
    if (fails) await until(() => gateway.warnings.length > 0)
    assert.equal((await send()).status, 200)
    await until(() => limits.seen.length === 4)
    assert.equal(
      gateway.warnings.some((line) => line.includes('rate limit service unavailable: tokens not counted')),
      fails,
    )
  }
})

test('the call that crosses the limit of tokens passes, the next one does not', async (t) => {
  const { model, limits, send } = await setUpModel(t, counting(40), [{ ...byUser, unit: 'Tokens' }])
  assert.equal((await send()).status, 200)
  await until(() => limits.seen.length === 2)
  const refused = await send()
  assert.equal(refused.status, 429)
  assert.match(refused.body, /rate limit exceeded/)
  assert.equal(model.seen.length, 1)
  // A denied request costs nothing.
  assert.equal(limits.seen.length, 3)
})

test('two gateways share what the server counts, exactly', async (t) => {
  const origin = await useOrigin(t)
  const limits = await useLimitServer(t, counting(25))
  const global = { backendRef: { host: limits.host }, domain: 'd', descriptors: [byUser], timeout: '10s' }
  const config = httpConfig([routeTo(origin, { rateLimit: { global } })])
  const gateways = [await useGateway(t, config), await useGateway(t, config)]
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      request((gateways[i % 2] ?? gateways[0]!).port(), { headers: { 'x-user': 'ann' } }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 25)
  assert.equal(origin.seen.length, 25)
})

test('a config that cannot work is refused', () => {
  const load = (rateLimit: object) =>
    loadConfig(JSON.stringify(httpConfig([routeTo({ host: '127.0.0.1:1' }, { rateLimit })])), {
      file: 'g.yaml',
      dir: '.',
      env: {},
    })
  const nothing = load({})
  assert.equal(nothing.ok ? '' : nothing.problems[0]?.expected, 'at least one of `local`, `global` or `conditional`')
  const empty = load({ conditional: [{ policy: {} }] })
  assert.equal(empty.ok ? '' : empty.problems[0]?.expected, 'at least one of `local` or `global`')
  const late = load({
    global: { backendRef: { host: '127.0.0.1:1' }, domain: 'd', descriptors: [{ ...byUser, cost: 'response.code' }] },
  })
  assert.ok(late.ok)
  assert.match(checkCompile(late.ir)[0]?.message ?? '', /an expression over the request/)
})
