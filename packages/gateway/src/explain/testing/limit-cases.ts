import type { TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { counting, useLimitServer } from '../../testing/services/limit-server.ts'
import { closedPort, httpConfig, routeTo, useOrigin } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

/** Sends several requests; the last one is refused. */
function several(count: number, headers: Record<string, string> = {}): RefusalCase['send'] {
  return async ({ port }) => {
    for (let i = 0; i < count; i++) await request(port, { headers })
  }
}

/** Sends three requests, the first with another method; the last one is refused. */
function afterOne(method: string): RefusalCase['send'] {
  return async ({ port }) => {
    for (const each of [method, 'GET', 'GET']) await request(port, { method: each })
  }
}

const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]

function withLimits(rateLimit: object): RefusalCase['config'] {
  return ({ origin }) => httpConfig([routeTo(origin, { rateLimit })])
}

/** A model whose calls use 912 tokens each. */
async function model(t: TestContext): Promise<object> {
  const { port } = await useOrigin(t, (_asked, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(ANSWER))
  })
  return { ai: { provider: { openai: {}, host: '127.0.0.1', port } } }
}

const ANSWER = {
  id: '1',
  object: 'chat.completion',
  created: 1,
  model: 'small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 900, completion_tokens: 12, total_tokens: 912 },
}

function chats(count: number): RefusalCase['send'] {
  const body = JSON.stringify({ model: 'small', messages: [{ role: 'user', content: 'hello' }] })
  return async ({ port, gateway }) => {
    for (let i = 0; i < count; i++) {
      await request(port, { method: 'POST', path: '/v1/chat/completions', body })
      // Tokens are counted when a call has ended.
      await gateway.finished(i + 1)
    }
  }
}

/** Sends more keys than there is room for. */
const manyKeys: RefusalCase['send'] = async ({ port }) => {
  for (let i = 0; i < 300; i++) await request(port, { headers: { 'x-user': `user-${i}` } })
}

export const limitCases: RefusalCase[] = [
  {
    name: 'a number of tokens',
    config: async ({ t }) =>
      httpConfig([
        { policies: { rateLimit: { local: [{ tokens: 1000, unit: 'Hours' }] } }, backends: [await model(t)] },
      ]),
    send: chats(3),
    code: 'token_limit',
    at: 'tokens: 1000',
    passes: /s later\.$/,
    alsoPass: ['`tokens` is more than 1824.'],
    values: { limit: '1000 tokens/Hours', remaining: 0 },
    spending: { counts: 'tokens', total: 1824, requests: 2, isWhole: true },
    says: /, since request [0-9a-z]{15} took 912 tokens at \d\d:\d\d:\d\d: requests pass again in \d+ s$/,
  },
  {
    name: 'more keys than there is room for',
    config: withLimits({
      local: [{ requests: 5, unit: 'Hours', key: 'request.headers["x-user"]', keys: { size: 1 } }],
    }),
    send: manyKeys,
    code: 'limit_without_room',
    at: 'requests: 5',
    passes: 'another budget of the limit has refilled.',
    alsoPass: ['`keys.size` is larger.'],
    values: { limit: '5/Hours' },
  },
  {
    name: 'a number of requests',
    config: withLimits({
      local: [
        { requests: 100, unit: 'Hours' },
        { requests: 1, unit: 'Minutes' },
      ],
    }),
    send: several(2),
    code: 'request_limit',
    at: 'requests: 1\n'.trim(),
    passes: /^the request is sent after \d{4}-.*Z, \d+ s later\.$/,
    alsoPass: ['`requests` is more than 1.'],
    values: { limit: '1/Minutes', remaining: 0 },
    spending: { counts: 'requests', total: 1, requests: 1, isWhole: true },
    says: /, since request [0-9a-z]{15} took the last of it at/,
  },
  {
    name: 'a number of requests with a burst',
    config: withLimits({ local: [{ requests: 1, unit: 'Hours', burst: 1 }] }),
    send: several(3),
    code: 'request_limit',
    at: 'requests',
    passes: /s later\.$/,
    alsoPass: ['`requests` is more than 1.'],
    values: { limit: '1/Hours+1' },
  },
  {
    name: 'a number of requests for each key',
    config: withLimits({ local: [{ requests: 1, unit: 'Hours', key: 'request.headers["x-user"]' }] }),
    send: several(2, { 'x-user': 'ann' }),
    code: 'request_limit',
    at: 'requests',
    passes: /s later\.$/,
    alsoPass: ['`requests` is more than 1.'],
    values: { limit: '1/Hours', 'limit.key': 'request.headers["x-user"]', key: 'ann' },
    // Records of passed requests have no headers.
    spending: { counts: 'requests', total: 0, requests: 0, isWhole: false, usedUpBy: null },
  },
  {
    name: 'a limit of a condition',
    config: withLimits({
      conditional: [
        { condition: 'request.method == "POST"', policy: { local: [{ requests: 9, unit: 'Hours' }] } },
        { policy: { local: [{ requests: 1, unit: 'Hours' }] } },
      ],
    }),
    send: afterOne('POST'),
    code: 'request_limit',
    at: 'requests: 1',
    passes: /s later\.$/,
    alsoPass: ['`requests` is more than 1.'],
    // The request under the other condition did not count.
    spending: { counts: 'requests', total: 1, requests: 1, isWhole: true },
    says: /, since request [0-9a-z]{15} took the last of it at/,
  },
  {
    name: 'a limit of a condition that records cannot tell',
    config: withLimits({
      conditional: [
        { condition: 'request.headers["x-plan"] == "free"', policy: { local: [{ requests: 1, unit: 'Hours' }] } },
        { policy: { local: [{ requests: 9, unit: 'Hours' }] } },
      ],
    }),
    send: several(2, { 'x-plan': 'free' }),
    code: 'request_limit',
    at: 'requests: 1',
    passes: /s later\.$/,
    alsoPass: ['`requests` is more than 1.'],
    // Records of passed requests have no headers.
    spending: { counts: 'requests', total: 0, requests: 0, isWhole: false, usedUpBy: null },
  },
  {
    name: 'a limit that a server counts',
    async config({ t, origin }) {
      const { host } = await useLimitServer(t, counting(1))
      return httpConfig([
        routeTo(origin, {
          rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors, timeout: '10s' } },
        }),
      ])
    },
    send: several(2),
    code: 'global_limit',
    at: 'global',
    passes: /s later\.$/,
    values: { domain: 'shop', limit: 1 },
  },
  {
    name: 'a rate limit service that is unavailable',
    async config({ origin }) {
      const host = `127.0.0.1:${await closedPort()}`
      return httpConfig([
        routeTo(origin, { rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors } } }),
      ])
    },
    send: several(1),
    code: 'limit_server_failed',
    at: 'global',
    passes: 'the rate limit service responds.',
    alsoPass: ['`failureMode` is FailOpen.'],
  },
]
