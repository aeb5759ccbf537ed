import { request } from '../../testing/client.ts'
import { counting, useLimitServer } from '../../testing/limit-server.ts'
import { closedPort, httpConfig, routeTo } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

/** The last of several is refused. */
function several(count: number, headers: Record<string, string> = {}): RefusalCase['send'] {
  return async ({ port }) => {
    for (let i = 0; i < count; i++) await request(port, { headers })
  }
}

const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]

function withLimits(rateLimit: object): RefusalCase['config'] {
  return ({ origin }) => httpConfig([routeTo(origin, { rateLimit })])
}

export const limitCases: RefusalCase[] = [
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
    passes: /^it is \d{4}-.*Z, \d+ s later\.$/,
    values: { limit: '1/Minutes', remaining: 0 },
  },
  {
    name: 'a number of requests with a burst',
    config: withLimits({ local: [{ requests: 1, unit: 'Hours', burst: 1 }] }),
    send: several(3),
    code: 'request_limit',
    at: 'requests',
    passes: /s later\.$/,
    values: { limit: '1/Hours+1' },
  },
  {
    name: 'a number of requests for each key',
    config: withLimits({ local: [{ requests: 1, unit: 'Hours', key: 'request.headers["x-user"]' }] }),
    send: several(2, { 'x-user': 'ann' }),
    code: 'request_limit',
    at: 'requests',
    passes: /s later\.$/,
    values: { limit: '1/Hours', 'limit.key': 'request.headers["x-user"]' },
  },
  {
    name: 'a limit of a condition',
    config: withLimits({
      conditional: [
        { condition: 'request.method == "POST"', policy: { local: [{ requests: 9, unit: 'Hours' }] } },
        { policy: { local: [{ requests: 1, unit: 'Hours' }] } },
      ],
    }),
    send: several(2),
    code: 'request_limit',
    at: 'requests: 1',
    passes: /s later\.$/,
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
    name: 'a server of limits that is not there',
    async config({ origin }) {
      const host = `127.0.0.1:${await closedPort()}`
      return httpConfig([
        routeTo(origin, { rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors } } }),
      ])
    },
    send: several(1),
    code: 'limit_server_failed',
    at: 'global',
    passes: 'the server of limits answers.',
  },
]
