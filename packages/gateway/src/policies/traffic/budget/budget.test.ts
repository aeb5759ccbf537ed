import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const NOON = Date.parse('2026-11-18T12:00:00Z')
const PRICES = { models: [{ model: 'm', rates: { input: 0, output: 10 } }], table: 'None' }
const chat = { model: 'm', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]

/** A model that reports this number of output tokens, or no usage when it is null. */
function answering(output: number | null): OriginHandler {
  const usage = { prompt_tokens: 1, completion_tokens: output, total_tokens: 1 + (output ?? 0) }
  const body = {
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices,
    ...(output !== null && { usage }),
  }
  return (_seen, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  }
}

interface Scene {
  limits: object[]
  model?: OriginHandler
  budget?: object
  prices?: object
  more?: object
}

/** A thousand output tokens cost a cent. */
async function setUp(t: TestContext, { limits, model = answering(1000), budget, prices = PRICES, more }: Scene) {
  const time = { now: NOON }
  const origin = await useOrigin(t, model)
  const policies = { budget: { limits, ...budget }, backend: { prices }, ...more }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const config = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const gateway = await useGateway(t, config, { clock: () => time.now })
  let sent = 0
  const send = (body: object = {}, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { accept: 'application/json', ...headers },
      body: JSON.stringify({ ...chat, ...body }),
    })
  /** Costs count at the end of a request, which may be after its response. */
  const ask = async (...parts: Parameters<typeof send>) => {
    const answer = await send(...parts)
    await gateway.finished(++sent)
    return answer
  }
  const statuses = async (count: number) => {
    const found: number[] = []
    for (let turn = 0; turn < count; turn++) found.push((await ask()).status)
    return found
  }
  return { origin, gateway, ask, send, statuses, time }
}

const DOLLARS = { name: 'team', usd: 0.05, per: 'Day' }

describe('a budget', () => {
  test('lets pass exactly what it pays for, when all calls come at once', async (t) => {
    const waiting: (() => void)[] = []
    const model: OriginHandler = (...exchange) => {
      waiting.push(() => answering(1000)(...exchange))
      // No call ends before all that pass have arrived.
      if (waiting.length === 50) for (const answer of waiting) answer()
    }
    const { origin, gateway, send } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.5 }], model })
    const answers = await Promise.all(Array.from({ length: 200 }, () => send()))
    await gateway.finished(200)
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    assert.deepEqual([count(200), count(429), origin.seen.length], [50, 150, 50])
    assert.equal((await send()).status, 429)
  })

  test('names itself, what is left and when it begins anew, in the format of the client', async (t) => {
    const { ask } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.015 }] })
    await ask()
    const message = 'budget exceeded: team has $0.005 of $0.015 left and begins anew at 2026-11-19T00:00:00.000Z'
    const { status, headers, body } = await ask()
    assert.deepEqual([status, headers['retry-after']], [429, String(12 * 3600)])
    const { error } = JSON.parse(body) as { error: Record<string, unknown> }
    assert.deepEqual([error['message'], error['code']], [message, 'budget_exceeded'])
    const messages = await ask({}, {}, '/v1/messages')
    const { type, error: inner } = JSON.parse(messages.body) as { type: string; error: Record<string, unknown> }
    assert.deepEqual(
      [messages.status, type, inner['type'], inner['message']],
      [429, 'error', 'rate_limit_error', message],
    )
  })

  test('counts what was used, not what was reserved', async (t) => {
    const { statuses } = await setUp(t, { limits: [DOLLARS], model: answering(100) })
    // Each call reserves a cent and costs a tenth of one; the last cent cannot be reserved in full.
    const passed = (await statuses(60)).filter((status) => status === 200).length
    assert.equal(passed, 41)
  })

  test('goes on when a provider reports numbers that no call can have', async (t) => {
    for (const output of [1.5, 1e300, -5, Number.MAX_SAFE_INTEGER]) {
      const limits = [{ name: 'tokens', tokens: 5000, per: 'Day' }]
      const { ask, gateway } = await setUp(t, { limits, model: answering(output) })
      assert.equal((await ask()).status, 200, String(output))
      assert.deepEqual(gateway.bugs, [], String(output))
    }
  })

  test('begins anew with the next period, in its time zone', async (t) => {
    const { statuses, time } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.01, timeZone: 'Europe/Berlin' }] })
    assert.deepEqual(await statuses(2), [200, 429])
    time.now = Date.parse('2026-11-18T22:59:59Z')
    assert.deepEqual(await statuses(1), [429])
    time.now = Date.parse('2026-11-18T23:00:00Z')
    assert.deepEqual(await statuses(2), [200, 429])
    time.now = NOON
    assert.deepEqual(await statuses(1), [429], 'a clock that is set back begins no day twice')
  })

  test('counts the last 24 hours when its period is rolling', async (t) => {
    const { ask, statuses, time } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.02, rolling: true }] })
    assert.deepEqual(await statuses(1), [200])
    time.now = NOON + 13.5 * 3_600_000
    assert.deepEqual(await statuses(1), [200])
    const refused = await ask()
    assert.match(
      refused.body,
      /budget exceeded: team has \$0.00 of \$0.02 left and has more at 2026-11-19T13:00:00.000Z/,
    )
    assert.equal(refused.headers['retry-after'], String(11.5 * 3_600))
    time.now = Date.parse('2026-11-19T13:00:00Z')
    assert.deepEqual(await statuses(2), [200, 429])
  })

  test('never begins anew when it is for a lifetime', async (t) => {
    const { ask, statuses, time } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.01, per: 'Lifetime' }] })
    assert.deepEqual(await statuses(1), [200])
    time.now = NOON + 3_000 * 86_400_000
    const { status, headers, body } = await ask()
    assert.deepEqual([status, headers['retry-after']], [429, undefined])
    assert.match(body, /budget exceeded: team has \$0.00 of \$0.01 left and does not begin anew/)
  })

  test('has a time zone only with a period of the calendar', () => {
    for (const fields of [
      { per: 'Day', rolling: true, timeZone: 'Europe/Berlin' },
      { per: 'Lifetime', timeZone: 'Europe/Berlin' },
      { per: 'Lifetime', rolling: true },
    ]) {
      const limits = [{ name: 'team', usd: 1, ...fields }]
      const text = JSON.stringify(httpConfig([{ policies: { budget: { limits } } }]))
      const loaded = loadConfig(text, { file: 'test.yaml', dir: '.', env: {} })
      const found = loaded.ok ? [] : loaded.problems.map((problem) => problem.found)
      assert.deepEqual(found, ['`rolling` goes without `timeZone`, and `per: Lifetime` without both'])
    }
  })

  test('is separate for each key', async (t) => {
    const limits = [{ ...DOLLARS, usd: 0.01, key: 'request.headers["x-team"]' }]
    const { ask } = await setUp(t, { limits })
    const statusOf = async (team: string) => (await ask({}, { 'x-team': team })).status
    assert.deepEqual([await statusOf('a'), await statusOf('a'), await statusOf('b')], [200, 429, 200])
  })

  test('needs no price when it counts tokens', async (t) => {
    const { statuses } = await setUp(t, {
      limits: [{ name: 'n', tokens: 2500, per: 'Month' }],
      prices: { table: 'None' },
    })
    assert.deepEqual(await statuses(3), [200, 200, 429])
  })

  test('that lacks room takes nothing from the others', async (t) => {
    const limits = [DOLLARS, { name: 'small', tokens: 1500, per: 'Day', key: 'request.headers["x-team"]' }]
    const { ask } = await setUp(t, { limits })
    const answers = []
    for (const team of ['a', 'a', 'a', 'b', 'c', 'd', 'e', 'f']) {
      const { status, body } = await ask({}, { 'x-team': team })
      answers.push(status === 200 ? 'passed' : /exceeded: (\w+)/.exec(body)?.[1])
    }
    assert.deepEqual(answers, ['passed', 'small', 'small', 'passed', 'passed', 'passed', 'passed', 'team'])
  })
})

describe('a call', () => {
  test('that fails costs nothing', async (t) => {
    const model: OriginHandler = (_seen, response) => response.writeHead(400).end('{"error":{"message":"no"}}')
    const { statuses } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.01 }], model })
    assert.deepEqual(await statuses(3), [400, 400, 400])
  })

  test('without usage costs the estimate for its texts', async (t) => {
    const { ask } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.01 }], model: answering(null) })
    assert.equal((await ask()).status, 200)
    assert.match((await ask()).body, /team has \$0\.00998 of \$0\.01 left/)
  })

  test('that fails over keeps one reservation', async (t) => {
    const failing = await useOrigin(t, (_seen, response) => response.writeHead(503).end())
    const origin = await useOrigin(t, answering(1000))
    const providers = [failing, origin].map(({ port }, index) => ({
      ...{ name: `p${index}`, openai: {}, host: '127.0.0.1', port },
      policies: { prices: { ...PRICES, models: [{ model: 'm', rates: { input: 0, output: 10 * (index + 1) } }] } },
    }))
    const groups = providers.map((provider) => ({ providers: [provider] }))
    const policies = { budget: { limits: [{ ...DOLLARS, usd: 0.02 }] } }
    const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
    const send = () =>
      request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(chat) })
    assert.equal((await send()).status, 200)
    await gateway.finished(1)
    assert.equal((await send()).status, 429)
    assert.deepEqual([failing.seen.length, origin.seen.length], [1, 1])
  })

  test('that the client leaves gives its reservation back', async (t) => {
    const { gateway, origin } = await setUp(t, {
      limits: [{ ...DOLLARS, usd: 0.01 }],
      model: (...exchange) => (origin.seen.length === 1 ? undefined : answering(1000)(...exchange)),
    })
    const left = new AbortController()
    const call = fetch(`http://127.0.0.1:${gateway.port()}/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(chat), signal: left.signal },
    })
    while (origin.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    left.abort()
    await assert.rejects(call)
    await gateway.finished(1)
    // Prompts cost nothing here, so all of the budget is there again.
    const answer = await request(gateway.port(), {
      ...{ method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(chat) },
    })
    assert.equal(answer.status, 200)
  })

  test('that sets no maximum reserves `outputTokens`', async (t) => {
    const limits = [{ ...DOLLARS, usd: 0.02 }]
    const { ask } = await setUp(t, { limits, budget: { outputTokens: 2001 } })
    assert.equal((await ask({ max_tokens: undefined })).status, 429)
    assert.equal((await ask({ max_tokens: undefined, max_completion_tokens: 2000 })).status, 200)
  })

  test('reserves the largest maximum that it sets, for each choice', async (t) => {
    const { origin, ask } = await setUp(t, { limits: [DOLLARS], budget: { outputTokens: 2000 } })
    const tooMuch = [
      { max_tokens: 6000, max_completion_tokens: 1 },
      { max_tokens: 1, max_completion_tokens: 6000 },
      { max_tokens: 2000, n: 3 },
      { max_tokens: undefined, n: 3 },
    ]
    for (const body of tooMuch) assert.equal((await ask(body)).status, 429, JSON.stringify(body))
    assert.equal(origin.seen.length, 0)
    assert.equal((await ask({ max_tokens: 2000, n: 2 })).status, 200)
  })

  test('without a price is refused, or passes uncounted', async (t) => {
    const scene = { limits: [{ ...DOLLARS, usd: 0.01 }], prices: { table: 'None' } }
    const { ask } = await setUp(t, scene)
    const { status, body } = await ask()
    assert.equal(status, 403)
    assert.match(body, /no price is known for the model m.*"code":"model_unpriced"/)
    const allowed = await setUp(t, { ...scene, budget: { unpriced: 'Allow' } })
    assert.deepEqual(await allowed.statuses(3), [200, 200, 200])
  })

  test('that lists models is refused, too, when nothing is left', async (t) => {
    const { ask } = await setUp(t, { limits: [{ ...DOLLARS, usd: 0.01 }] })
    await ask()
    assert.equal((await ask({}, {}, '/v1/models')).status, 429)
  })
})

test('a time zone or an amount that does not exist is refused with its place', () => {
  for (const [limit, problem] of [
    [{ ...DOLLARS, timeZone: 'Europe/Atlantis' }, /timeZone/],
    [{ ...DOLLARS, usd: 0 }, /usd/],
    [{ ...DOLLARS, tokens: 5 }, /exactly one/],
    [{ ...DOLLARS, per: 'Decade' }, /per/],
  ] as const) {
    const config = httpConfig([{ policies: { budget: { limits: [limit] } }, backends: [] }])
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
    assert.ok(!loaded.ok)
    assert.match(JSON.stringify(loaded.problems), problem)
  }
})
