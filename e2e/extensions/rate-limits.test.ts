import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { request } from '../../packages/gateway/src/testing/client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { httpConfig, routeTo, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { useRateLimitServer, useRedis, withoutRateLimit as skip } from './servers.ts'

const byUser = { name: 'user', expression: 'request.headers["x-user"]' }
const rule = (key: string, requests_per_unit: number, more: object = {}) => ({
  key,
  rate_limit: { unit: 'year', requests_per_unit, ...more },
})
const limits = {
  domain: 'shop',
  descriptors: [rule('user', 37), rule('tokens', 100), rule('exact', 42), { ...rule('shadow', 1), shadow_mode: true }],
}

async function useLimits(t: TestContext, settings: Record<string, string> = {}) {
  const redis = await useRedis(t)
  return { redis, server: await useRateLimitServer(t, redis, limits, settings) }
}

const policy = (host: string, descriptors: object[], more: object = {}) => ({
  rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors, timeout: '10s', ...more } },
})

describe('envoyproxy/ratelimit', { skip }, () => {
  it('counts exactly what two gateways of two workers let pass', async (t) => {
    const { server } = await useLimits(t)
    const origin = await useOrigin(t)
    const { file } = useConfigFile(t, {
      config: { workers: 2, logging: { level: 'error,request=off' } },
      ...httpConfig([routeTo(origin, policy(server.host, [{ entries: [byUser] }]))]),
    })
    const start = (): Promise<Program> => useProgram(t, { args: ['-f', file] })
    const gateways = await Promise.all([start(), start()])
    const users = ['ann', 'bob', 'cleo']
    const answers = await Promise.all(
      gateways.flatMap((gateway) =>
        users.flatMap((user) =>
          Array.from({ length: 40 }, () =>
            request(gateway.port(), { headers: { 'x-user': user } }).then(({ status }) => ({ user, status })),
          ),
        ),
      ),
    )
    for (const user of users) {
      const statuses = answers.filter((answer) => answer.user === user).map(({ status }) => status)
      assert.equal(statuses.filter((status) => status === 200).length, 37, user)
      assert.equal(statuses.filter((status) => status === 429).length, 43, user)
    }
    assert.equal(origin.seen.length, 37 * users.length)
  })

  it('headers of the server reach the client, and those of the gateway where it sends none', async (t) => {
    const origin = await useOrigin(t)
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']
    for (const settings of [{}, HEADERS]) {
      const { server } = await useLimits(t, settings)
      const cost = { entries: [byUser], cost: '20' }
      const gateway = await useShippedGateway(t, httpConfig([routeTo(origin, policy(server.host, [cost]))]))
      const send = () => request(gateway.port(), { headers: { 'x-user': 'ann' } })
      const [first, second] = [await send(), await send()]
      assert.deepEqual([first.status, second.status, second.body], [200, 429, 'rate limit exceeded'])
      const told = (answer: typeof first) => names.map((name) => answer.headers[name])
      const [limit, remaining, reset, later] = told(first)
      assert.deepEqual([limit, remaining, later], ['37', '17', undefined])
      assert.ok(Number(reset) > 0 && Number(reset) <= 366 * 86_400, String(reset))
      const [, none, , retryAfter] = told(second)
      assert.equal(none, '0')
      assert.ok(Number(retryAfter) > 0 && Number(retryAfter) <= 366 * 86_400, String(retryAfter))
    }
  })

  it('tokens are asked about with no hit, and counted when the call is over', async (t) => {
    const { server } = await useLimits(t)
    const tokens = await useModel(t, server.host, [
      { entries: [{ name: 'tokens', expression: '"gpt"' }], unit: 'Tokens' },
    ])
    // 42 tokens each: the third call begins below the limit of 100 and crosses it.
    for (const remaining of ['100', '58', '16']) {
      await eventually('the tokens of the call before are counted', async () => (await tokens.left()) === remaining)
      const answer = await tokens.send()
      assert.deepEqual([answer.status, answer.headers['x-ratelimit-remaining']], [200, remaining])
    }
    await eventually('the limit is crossed', async () => (await tokens.left()) === '0')
    assert.equal((await tokens.send()).status, 429)
    assert.equal(tokens.model.seen.length, 3)
  })

  it('a budget that is used to its last token and no further lets one more call pass', async (t) => {
    const { server } = await useLimits(t)
    const tokens = await useModel(t, server.host, [
      { entries: [{ name: 'exact', expression: '"gpt"' }], unit: 'Tokens' },
    ])
    assert.equal((await tokens.send()).status, 200)
    await eventually('42 of 42 are counted', async () => (await tokens.left()) === '0')
    assert.equal((await tokens.send()).status, 200)
    await eventually('84 of 42 are counted', async () => (await tokens.ask()).status === 429)
    assert.equal((await tokens.send()).status, 429)
    assert.equal(tokens.model.seen.length, 2)
  })

  it('a limit in shadow mode refuses nobody', async (t) => {
    const { server } = await useLimits(t)
    const shadow = { entries: [{ name: 'shadow', expression: '"x"' }] }
    const origin = await useOrigin(t)
    const gateway = await useShippedGateway(t, httpConfig([routeTo(origin, policy(server.host, [shadow]))]))
    for (let i = 0; i < 4; i++) assert.equal((await request(gateway.port())).status, 200)
  })

  for (const part of ['server', 'redis'] as const) {
    for (const [failureMode, expected] of [
      ['FailClosed', 500],
      ['FailOpen', 200],
    ] as const) {
      it(`${part} killed in the middle: ${failureMode}`, async (t) => {
        const parts = await useLimits(t)
        const origin = await useOrigin(t)
        const limited = policy(parts.server.host, [{ entries: [byUser] }], { failureMode, timeout: '2s' })
        const routes = [
          routeTo(origin, limited, { matches: [{ path: { pathPrefix: '/limited' } }] }),
          routeTo(origin, {}, { matches: [{ path: { pathPrefix: '/free' } }] }),
        ]
        const gateway = await useShippedGateway(t, httpConfig(routes))
        const send = (path: string) => request(gateway.port(), { path, headers: { 'x-user': 'ann' } })
        const before = await Promise.all(Array.from({ length: 5 }, () => send('/limited')))
        assert.ok(before.every(({ status }) => status === 200))
        const [during] = await Promise.all([
          Promise.all(Array.from({ length: 10 }, () => send('/limited'))),
          parts[part].kill(),
        ])
        assert.ok(during.every(({ status }) => status === 200 || status === expected))
        const after = await Promise.all(Array.from({ length: 4 }, () => send('/limited')))
        assert.deepEqual(
          after.map(({ status }) => status),
          Array.from({ length: 4 }, () => expected),
        )
        if (expected === 500) assert.equal(after[0]?.body, 'rate limit failed')
        assert.equal((await send('/free')).status, 200)
        assert.deepEqual(gateway.bugs, [])
      })
    }
  }
})

/** A model that says it has used 42 tokens, behind such a limit; and another route that only asks what is left of it. */
async function useModel(t: TestContext, host: string, descriptors: object[]) {
  const model = await useOrigin(t, (_message, response) => {
    const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
  const direct = { directResponse: { status: 200, body: 'left' } }
  const provider = { openai: {}, host: '127.0.0.1', port: Number(model.host.split(':')[1]) }
  const gateway = await useShippedGateway(
    t,
    httpConfig([
      {
        policies: policy(host, descriptors),
        backends: [{ ai: { provider } }],
        matches: [{ path: { pathPrefix: '/v1' } }],
      },
      { policies: { ...policy(host, descriptors), ...direct }, matches: [{ path: { pathPrefix: '/left' } }] },
    ]),
  )
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { 'content-type': 'application/json' }
  const send = () => request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
  const ask = () => request(gateway.port(), { path: '/left' })
  const left = async () => (await ask()).headers['x-ratelimit-remaining']
  return { model, send, ask, left }
}

const HEADERS = {
  LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
  LIMIT_LIMIT_HEADER: 'x-ratelimit-limit',
  LIMIT_REMAINING_HEADER: 'x-ratelimit-remaining',
  LIMIT_RESET_HEADER: 'x-ratelimit-reset',
}
