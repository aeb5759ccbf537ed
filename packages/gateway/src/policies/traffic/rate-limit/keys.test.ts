import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { KeptTables } from '../../../state/keyed-tables.ts'
import { request } from '../../../testing/client.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../../testing/services/issuer.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

const byUser = { key: 'request.headers["x-user"]' }
/** As many as a table of the smallest size has slots. */
const SLOTS = 64

/** One route with these limits, at a time that the test sets. */
async function setUp(t: TestContext, local: object[], policies: object = {}) {
  const origin = await useOrigin(t)
  const time = { now: 1_000_000 }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { ...policies, rateLimit: { local } })]), {
    monotonic: () => time.now,
  })
  const send = (headers: Record<string, string> = {}, body = '') =>
    request(gateway.port(), { headers, ...(body !== '' && { method: 'POST', body }) })
  const statuses = async (...users: (string | null)[]) => {
    const seen: number[] = []
    for (const user of users) seen.push((await send(user === null ? {} : { 'x-user': user })).status)
    return seen
  }
  return { origin, gateway, time, send, statuses }
}

test('each value of the key has a budget of its own', async (t) => {
  const { time, send, statuses } = await setUp(t, [{ requests: 2, unit: 'Minutes', ...byUser }])
  assert.deepEqual(await statuses('ann', 'ann', 'ann', 'bob', 'ann'), [200, 200, 429, 200, 429])
  time.now += 20_000
  const last = await send({ 'x-user': 'bob' })
  assert.equal(last.headers['x-ratelimit-limit'], '2')
  assert.equal(last.headers['x-ratelimit-remaining'], '0')
  assert.equal(last.headers['x-ratelimit-reset'], '40')
  assert.equal((await send({ 'x-user': 'bob' })).headers['retry-after'], '40')
  time.now += 40_000
  assert.deepEqual(await statuses('ann', 'bob'), [200, 200])
})

test('requests without a key share one budget, which no key has', async (t) => {
  const { send, statuses } = await setUp(t, [{ requests: 1, unit: 'Hours', ...byUser }])
  assert.deepEqual(await statuses(null, null, '', 'none', 'none'), [200, 429, 200, 200, 429])
  assert.equal((await send()).status, 429)
})

test('only a scalar is a key', async (t) => {
  const { send } = await setUp(t, [{ requests: 1, unit: 'Hours', key: 'json(request.body).id' }])
  const status = async (id: unknown) => (await send({}, JSON.stringify({ id }))).status
  for (const id of ['a', 1, true, 2.5]) assert.deepEqual([await status(id), await status(id)], [200, 429])
  assert.deepEqual([await status([1]), await status({ a: 1 }), await status(null)], [200, 429, 429])
})

test('unsigned integers and doubles are keys, each with a budget of its own', async (t) => {
  for (const type of ['uint', 'double']) {
    const { statuses } = await setUp(t, [{ requests: 1, unit: 'Hours', key: `${type}(request.headers["x-user"])` }])
    assert.deepEqual(await statuses('7', '7', '8', '8'), [200, 429, 200, 429], type)
  }
})

test('keys are names of API keys, claims of tokens and addresses', async (t) => {
  const limit = (key: string) => ({ rateLimit: { local: [{ requests: 1, unit: 'Hours', key }] } })
  const origin = await useOrigin(t)
  const signing = createSigningKey('main')
  const data = { alice: 'alice-key-1', bob: { key: 'bob-key-12', metadata: { name: 'robert' } } }
  const providers = [{ issuer: ISSUER, jwks: { inline: keySetOf(signing) } }]
  const gateway = await useGateway(
    t,
    httpConfig([
      routeTo(origin, { apiKeyAuthentication: { secretRef: { data } }, ...limit('apiKey.name') }, pathPrefix('/key')),
      routeTo(origin, { jwtAuthentication: { providers }, ...limit('jwt.sub') }, pathPrefix('/jwt')),
      routeTo(origin, limit('source.address'), pathPrefix('/address')),
    ]),
  )
  const status = async (path: string, token = 'none') =>
    (await request(gateway.port(), { path, headers: { authorization: `Bearer ${token}` } })).status
  for (const key of ['alice-key-1', 'bob-key-12']) {
    assert.deepEqual([await status('/key', key), await status('/key', key)], [200, 429])
  }
  for (const sub of ['ann', 'bob']) {
    const [first, second] = [await sign(signing, { sub }), await sign(signing, { sub, more: 1 })]
    assert.deepEqual([await status('/jwt', first), await status('/jwt', second)], [200, 429])
  }
  // A denied request spends nothing.
  assert.deepEqual([await status('/key'), await status('/jwt')], [401, 401])
  assert.deepEqual([await status('/address'), await status('/address')], [200, 429])
})

test('addresses of IPv6 are counted by network', async (t) => {
  const address = 'request.headers["x-address"]'
  const key = `${address}.contains(":") ? string(cidr(${address} + "/64").masked()) : ${address}`
  const { send } = await setUp(t, [{ requests: 1, unit: 'Hours', key }])
  const seen: number[] = []
  for (const from of ['2001:db8::1', '2001:db8::2:3', '2001:db8:0:1::1', '192.0.2.1', '192.0.2.2']) {
    seen.push((await send({ 'x-address': from })).status)
  }
  assert.deepEqual(seen, [200, 429, 200, 200, 200])
})

test('limits with and without keys hold together: a refused request spends none', async (t) => {
  const { statuses, send } = await setUp(t, [
    { requests: 4, unit: 'Hours' },
    { requests: 2, unit: 'Hours', ...byUser },
    { requests: 1, unit: 'Hours', key: 'request.headers["x-user"] + request.path' },
  ])
  assert.deepEqual(await statuses('ann', 'ann', 'ann', 'bob'), [200, 429, 429, 200])
  assert.equal((await send({ 'x-user': 'carl' })).headers['x-ratelimit-remaining'], '0')
  assert.deepEqual(await statuses('dora', 'emil'), [200, 429])
})

test('forms by condition have tables of their own', async (t) => {
  const origin = await useOrigin(t)
  const policy = { local: [{ requests: 1, unit: 'Hours', ...byUser }] }
  const rateLimit = { conditional: [{ condition: 'request.method == "PUT"', policy }, { policy }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]))
  const headers = { 'x-user': 'ann' }
  for (const method of ['PUT', 'GET']) {
    assert.equal((await request(gateway.port(), { method, headers })).status, 200)
    assert.equal((await request(gateway.port(), { method, headers })).status, 429)
  }
})

for (const [failureMode, status] of [
  ['FailClosed', 429],
  ['FailOpen', 200],
] as const) {
  test(`a key for which there is no room: ${failureMode}`, async (t) => {
    const limit = { requests: 1, unit: 'Minutes', ...byUser, keys: { size: 1, failureMode } }
    const { gateway, time, send, statuses } = await setUp(t, [limit])
    for (let i = 0; i < SLOTS; i++) assert.deepEqual(await statuses(`busy ${i}`), [200])
    const events = gateway.trace()
    const answer = await send({ 'x-user': 'secret-user' })
    assert.equal(answer.status, status)
    assert.equal(answer.headers['x-ratelimit-remaining'], failureMode === 'FailOpen' ? undefined : '0')
    assert.equal(answer.headers['retry-after'], failureMode === 'FailOpen' ? undefined : '60')
    const text = JSON.stringify((await events).filter(({ message }) => message['kind'] === 'rateLimit'))
    assert.match(text, /"code":"no_room","limit":"1\/Minutes","budget":"[0-9a-f]{8}"/)
    await gateway.finished(SLOTS + 1)
    if (failureMode === 'FailClosed') {
      const error = gateway.records.at(-1)?.error ?? ''
      assert.match(error, /^rate limit exceeded: 1\/Minutes of key [0-9a-f]{8}, which has no free budget slot$/)
    }
    assert.equal(withoutRoom(gateway.metrics(), failureMode), 1)
    // Nobody's budget was given away, and all make room once they are full again.
    assert.deepEqual(await statuses('busy 0', `busy ${SLOTS - 1}`), [429, 429])
    time.now += 60_000
    assert.deepEqual(await statuses('secret-user', 'secret-user'), [200, 429])
  })

  test(`each request without room is counted once, beside other limits too: ${failureMode}`, async (t) => {
    const full = { unit: 'Minutes', ...byUser, keys: { size: 1, failureMode } }
    const local = [
      { requests: 1, ...full },
      { requests: 1_000, unit: 'Hours' },
    ]
    const { gateway, statuses } = await setUp(t, local)
    for (let i = 0; i < SLOTS; i++) await statuses(`busy ${i}`)
    assert.equal(withoutRoom(gateway.metrics(), failureMode), 0)
    assert.deepEqual(await statuses('one', 'two', 'one'), [status, status, status])
    assert.equal(withoutRoom(gateway.metrics(), failureMode), 3)
  })
}

function withoutRoom(metrics: string, failureMode: string): number {
  const outcome = failureMode === 'FailOpen' ? 'passed' : 'refused'
  const line =
    /^portico_rate_limit_keys_without_room_total\{policy="[^"]+",limit="1\/Minutes",outcome="(\w+)"\} (\d+)$/m
  const [, found, count] = line.exec(metrics) ?? []
  assert.equal(found, outcome)
  return Number(count)
}

test('traces and logs name a key by a hash, and the same key by the same', async (t) => {
  const { gateway, send, statuses } = await setUp(t, [{ requests: 1, unit: 'Hours', ...byUser }])
  await statuses('secret-user', 'secret-user', 'other')
  const events = gateway.trace()
  await send({ 'x-user': 'other' })
  const [note] = (await events).filter(({ message }) => message['kind'] === 'rateLimit' && message.type === 'policy')
  assert.match(JSON.stringify(note), /"code":"rate_limited","limit":"1\/Hours","budget":"[0-9a-f]{8}"/)
  await gateway.finished(4)
  const errors = gateway.records.map(({ error }) => error ?? '')
  assert.match(errors[1]!, /^rate limit exceeded: 1\/Hours of key [0-9a-f]{8}$/)
  assert.notEqual(errors[1], errors[3])
  assert.ok(!gateway.lines.join('').includes('secret-user'))
})

test('a reload keeps what each key has spent, also with other numbers', async (t) => {
  const origin = await useOrigin(t)
  const config = (limit: object) => httpConfig([routeTo(origin, { rateLimit: { local: [limit] } })])
  const limit = { requests: 3, unit: 'Hours', ...byUser }
  const gateway = await useGateway(t, config(limit))
  const remaining = async (user: string) =>
    (await request(gateway.port(), { headers: { 'x-user': user } })).headers['x-ratelimit-remaining']
  assert.equal(await remaining('ann'), '2')
  await gateway.reload(JSON.stringify(config({ ...limit, burst: 4 })))
  assert.deepEqual([await remaining('ann'), await remaining('bob')], ['5', '6'])
  await gateway.reload(JSON.stringify(config({ ...limit, keys: { failureMode: 'FailOpen' } })))
  assert.deepEqual([await remaining('ann'), await remaining('bob')], ['0', '1'])
  // Another table.
  await gateway.reload(JSON.stringify(config({ ...limit, keys: { size: 5 } })))
  assert.equal(await remaining('ann'), '2')
})

test('tokens are charged to the key that the request was let in by', async (t) => {
  const answer = (tokens: number) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens },
  })
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(600)))
  })
  const policies = {
    rateLimit: { local: [{ tokens: 1000, unit: 'Minutes', ...byUser }] },
    // Whatever becomes of the header afterwards.
    transformation: { request: { set: [{ name: 'x-user', value: '"all"' }] } },
  }
  const backends = [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }]
  const gateway = await useGateway(t, httpConfig([{ policies, backends }]), { monotonic: () => 5_000 })
  let asked = 0
  const ask = async (user: string) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    const headers = { 'x-user': user, 'content-type': 'application/json' }
    const seen = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
    await gateway.finished(++asked)
    return [seen.status, seen.headers['x-ratelimit-remaining']]
  }
  assert.deepEqual(await ask('ann'), [200, '1000'])
  assert.deepEqual(await ask('ann'), [200, '400'])
  assert.deepEqual(await ask('ann'), [429, '0'])
  assert.deepEqual(await ask('bob'), [200, '1000'])
  assert.deepEqual(await ask('bob'), [200, '400'])
})

test('gateways with the same tables spend from the same budgets', async (t) => {
  const origin = await useOrigin(t)
  const tables = new KeptTables()
  const config = httpConfig([routeTo(origin, { rateLimit: { local: [{ requests: 3, unit: 'Hours', ...byUser }] } })])
  const gateways = [await useGateway(t, config, { tables }), await useGateway(t, config, { tables })]
  const left: (string | undefined)[] = []
  for (let i = 0; i < 3; i++) {
    const answer = await request(gateways[i % 2]!.port(), { headers: { 'x-user': 'ann' } })
    left.push(answer.headers['x-ratelimit-remaining'])
  }
  assert.deepEqual(left, ['2', '1', '0'])
})

test('an invalid limit by key is rejected when the config is loaded', () => {
  const load = (...local: object[]) =>
    loadConfig(JSON.stringify(httpConfig([{ name: 'many', policies: { rateLimit: { local } } }])), {
      file: 'test.yaml',
      dir: '.',
      env: {},
    })
  const codes = (limit: object) => {
    const loaded = load({ requests: 1, unit: 'Hours', ...limit })
    return loaded.ok ? [] : loaded.problems.map(({ code }) => code)
  }
  assert.deepEqual(codes({ key: 'source.address', keys: { size: 1_000_000, failureMode: 'failopen' } }), [])
  assert.equal(codes({ keys: { size: 5 } }).length, 1)
  assert.deepEqual(codes({ key: '[1]' }), ['bad_expression'])
  assert.deepEqual(codes({ key: 'response.code' }), ['bad_expression'])
  assert.deepEqual(codes({ key: 'source.address', keys: { size: 0 } }), ['out_of_range'])
  assert.deepEqual(codes({ key: 'source.address', keys: { size: 1_000_001 } }), ['out_of_range'])
  assert.deepEqual(codes({ key: 'source.address', keys: { failureMode: 'Maybe' } }), ['not_allowed'])
  const large = { requests: 1, unit: 'Hours', key: 'source.address', keys: { size: 1_000_000 } }
  const four = load(large, large, large, large)
  assert.ok(four.ok)
  assert.deepEqual(checkCompile(four.ir), [])
  const five = load(large, large, large, large, large)
  assert.ok(five.ok)
  const [problem] = checkCompile(five.ir)
  assert.match(five.explain(problem!), /local\[4\]: found no room for 1000000 keys .*many.*, expected fewer keys/)
})
