import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stringify } from 'yaml'
import { explain } from '../../../explain/explain.ts'
import { loadConfig } from '../../../sources/file.ts'
import type { RecordedLlm, RecordReason, RequestRecord } from '../../../telemetry/recorder/record.ts'

/** A config with a route of each of two names, and limits on both, or on their listener. */
function loaded(rateLimit: object, { isOfListener = false } = {}) {
  const backends = [{ host: '127.0.0.1:1' }]
  const own = isOfListener ? {} : { policies: { rateLimit } }
  const routes = [
    { name: 'limited', matches: [{ path: { pathPrefix: '/limited' } }], backends, ...own },
    { name: 'other', backends, ...own },
  ]
  const listener = isOfListener ? { policies: { rateLimit } } : {}
  const text = stringify({ binds: [{ port: 8080, listeners: [{ ...listener, routes }] }] })
  const config = loadConfig(text, { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(config.ok, JSON.stringify(config))
  const { ir, locate = () => null } = config
  return { text, parts: { isKnown: true, isEarlier: false, live: 1, ir, locate } }
}

type LoadedPolicy = ReturnType<typeof loaded>

/** When the request was refused. */
const AT = 1_700_000_000_000

const blank: RequestRecord = {
  id: 'refused',
  requestId: null,
  at: AT,
  took: 0,
  answeredAfter: null,
  protocol: 'http',
  method: 'GET',
  host: 'a.test',
  path: '/',
  version: 'HTTP/1.1',
  status: 200,
  outcome: 'passed',
  isSlow: false,
  reason: null,
  error: null,
  source: '127.0.0.1:9',
  bind: null,
  listener: null,
  route: null,
  backend: null,
  endpoint: null,
  attempts: 1,
  bytesIn: 0,
  bytesOut: 0,
  generation: 1,
  worker: '0',
  key: null,
  llm: null,
  mcp: null,
  keys: { listener: null, route: null, backend: null },
  scheme: 'http',
  sni: null,
  identity: null,
  isSampled: false,
  steps: null,
  calls: null,
  requestHeaders: null,
  afterPolicies: null,
  responseHeaders: null,
  requestBody: null,
  responseBody: null,
  variables: null,
}

function reasonOf(values: object, about: Partial<RecordReason> = {}): RecordReason {
  const all = { remaining: 0, resetSeconds: 10, ...values }
  return { kind: 'RateLimit', policy: 'rateLimit', phase: 'route', code: 'rate_limited', values: all, ...about }
}

/** A record of the first route, or of the second. */
function recordOf({ parts }: LoadedPolicy, about: Partial<RequestRecord>, route = 0): RequestRecord {
  const keys = { listener: parts.ir.listeners[0]!.key, route: parts.ir.routes[route]!.key, backend: null }
  return { ...blank, keys, ...about }
}

function tokens(inputTokens: number | null, outputTokens: number | null): RecordedLlm {
  return {
    operation: 'chat',
    provider: 'openai',
    providerName: '',
    requestModel: '',
    responseModel: '',
    finishReason: '',
    streaming: false,
    inputTokens,
    outputTokens,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    reasoningTokens: null,
    isEstimated: false,
    timeToFirstToken: null,
    attempts: [],
  }
}

/** The explanation of a request that was denied after the given requests. */
function explained(
  config: LoadedPolicy,
  reason: RecordReason,
  others: readonly Partial<RequestRecord>[],
  { record = {}, completeSince = 0 }: { record?: Partial<RequestRecord>; completeSince?: number } = {},
) {
  const refused = recordOf(config, { status: 429, outcome: 'limited', reason, ...record })
  const asked: [number, number][] = []
  const told = explain(refused, config.parts, {
    between(from, to) {
      asked.push([from, to])
      return [refused, ...others.map((other) => recordOf(config, other))]
    },
    completeSince,
  })
  return { ...told, asked }
}

function spent(from: number, count: number): Partial<RequestRecord>[] {
  return Array.from({ length: count }, (_, index) => ({ id: `r${index}`, at: AT - from - index }))
}

describe('the spending of a limit', () => {
  const perMinute = loaded({ local: [{ requests: 2, unit: 'Minutes' }] })
  const reason = reasonOf({ limit: '2/Minutes' })
  // It ends within ten seconds, and more than nine.
  const from = AT + 9_000 - 60_000

  it('is told of the window alone, and not of the refused request itself', () => {
    const others = [
      { id: 'after', at: AT + 1 },
      { id: 'now', at: AT },
      { id: 'first', at: from },
      { id: 'before', at: from - 1 },
    ]
    const { spending, asked } = explained(perMinute, reason, others, { completeSince: from })
    assert.deepEqual(asked, [[from, AT]])
    assert.deepEqual(spending, {
      counts: 'requests',
      from,
      total: 2,
      requests: 2,
      isWhole: true,
      usedUpBy: { id: 'now', at: AT, key: null, cost: 1 },
      latest: [
        { id: 'now', at: AT, key: null, cost: 1 },
        { id: 'first', at: from, key: null, cost: 1 },
      ],
    })
    assert.equal(explained(perMinute, reason, others, { completeSince: from + 1 }).spending?.isWhole, false)
  })

  it('is nobody while fewer than the budget are recorded', () => {
    const { spending, headline } = explained(perMinute, reason, spent(1, 1))
    assert.deepEqual([spending?.total, spending?.usedUpBy], [1, null])
    assert.equal(headline, 'the limit 2/Minutes is used up: requests pass again in 10 s')
  })

  it('is told of as many requests as there were to spend, and of the ten newest', () => {
    const { spending } = explained(perMinute, reason, spent(1, 5))
    assert.deepEqual([spending?.total, spending?.usedUpBy?.id], [2, 'r0'])
    const large = loaded({ local: [{ requests: 8, unit: 'Minutes', burst: 4 }] })
    const many = explained(large, reasonOf({ limit: '8/Minutes+4' }), spent(1, 15)).spending
    assert.deepEqual([many?.total, many?.requests, many?.latest.length], [12, 12, 10])
  })

  it('is told by units of seconds and hours too', () => {
    for (const [unit, ms] of [
      ['Seconds', 1_000],
      ['Hours', 3_600_000],
    ] as const) {
      const config = loaded({ local: [{ requests: 2, unit }] })
      const { spending } = explained(config, reasonOf({ limit: `2/${unit}`, resetSeconds: 1 }), [])
      assert.equal(spending?.from, AT - ms)
    }
    assert.equal(
      explained(perMinute, reasonOf({ limit: '2/Minutes', resetSeconds: null }), []).spending?.from,
      AT - 61_000,
    )
  })

  it('counts tokens of calls that ended within the window, whenever they began', () => {
    const config = loaded({ local: [{ tokens: 100, unit: 'Minutes' }] })
    const ofTokens = reasonOf({ limit: '100 tokens/Minutes' })
    const calls = [
      { id: 'plain', at: AT - 5 },
      { id: 'quick', at: AT - 10, took: 1_000, llm: tokens(20, 30) },
      { id: 'long', at: from - 70_000, took: 70_001_000, llm: tokens(null, 60) },
      { id: 'early', at: from - 2_000, took: 1_000_000, llm: tokens(500, null) },
      { id: 'running', at: AT - 1, took: 2_000, llm: tokens(500, null) },
    ]
    const { spending, asked, wouldPass, code } = explained(config, ofTokens, calls)
    assert.equal(code, 'token_limit')
    assert.deepEqual(asked, [[from - 600_000, AT]])
    assert.deepEqual(spending?.latest, [
      { id: 'quick', at: AT - 9, key: null, cost: 50 },
      { id: 'long', at: from + 1, key: null, cost: 60 },
    ])
    assert.deepEqual([spending.total, spending.usedUpBy?.id], [110, 'quick'])
    assert.equal(wouldPass[1]?.changes[0]?.value, 110, 'what the limit would have to be above')
    const some = explained(config, ofTokens, calls, { completeSince: from + 1 })
    assert.equal(some.wouldPass[1]?.changes[0]?.value, 100, 'nobody knows of more')
  })

  it('is told apart by the name of the caller', () => {
    const config = loaded({ local: [{ requests: 2, unit: 'Minutes', key: 'apiKey.name' }] })
    const others = [
      { id: 'own', at: AT - 1, key: 'ann' },
      { id: 'other', at: AT - 2, key: 'ben' },
    ]
    const asAnn = { record: { key: 'ann' } }
    const { spending, values } = explained(config, reason, others, asAnn)
    assert.deepEqual([spending?.total, spending?.isWhole], [1, true])
    assert.deepEqual(
      values.map(({ name, value }) => [name, value]),
      [
        ['limit', '2/Minutes'],
        ['remaining', 0],
        ['resetSeconds', 10],
        ['key', 'ann'],
        ['limit.key', 'apiKey.name'],
      ],
    )
    const unknown = explained(config, reason, [...others, { id: 'nameless', at: AT - 3 }], asAnn).spending
    assert.deepEqual([unknown?.total, unknown?.isWhole], [1, false])
  })

  it('is not told where the key of the refused request itself is unknown', () => {
    const config = loaded({ local: [{ requests: 2, unit: 'Minutes', key: 'request.headers["x-user"]' }] })
    const { spending, values } = explained(config, reason, spent(1, 2))
    assert.equal(spending, null)
    assert.ok(!values.some(({ name }) => name === 'key'))
  })

  it('is told apart by what a key reads, where records hold it', () => {
    const config = loaded({ local: [{ requests: 2, unit: 'Minutes', key: 'request.path' }] })
    const others = [
      { id: 'same', at: AT - 1, path: '/a' },
      { id: 'not', at: AT - 2, path: '/b' },
    ]
    // The name of a caller is no part of this key.
    const { spending, values } = explained(config, reason, others, { record: { path: '/a', key: 'ann' } })
    assert.deepEqual([spending?.total, spending?.isWhole], [1, true])
    assert.deepEqual(values.find(({ name }) => name === 'key')?.value, 'ann')
  })

  it('is nobody of another route', () => {
    const other = { ...recordOf(perMinute, { id: 'other', at: AT - 1 }, 1) }
    const nowhere = { ...other, id: 'nowhere', keys: { ...other.keys, route: null } }
    const { spending } = explained(perMinute, reason, [other, nowhere, { id: 'own', at: AT - 2 }])
    assert.deepEqual(
      spending?.latest.map(({ id }) => id),
      ['own'],
    )
  })

  it('is everybody with a route where the limit is of the listener', () => {
    const config = loaded({ local: [{ requests: 3, unit: 'Minutes' }] }, { isOfListener: true })
    const other = recordOf(config, { id: 'other', at: AT - 1 }, 1)
    const nowhere = { ...other, id: 'nowhere', keys: { ...other.keys, route: null } }
    const stranger = { ...other, id: 'stranger', keys: { ...other.keys, listener: 'bind/1/x' } }
    const own = { id: 'own', at: AT - 2 }
    const { spending } = explained(config, reasonOf({ limit: '3/Minutes' }), [other, nowhere, stranger, own])
    assert.deepEqual(
      spending?.latest.map(({ id }) => id),
      ['other', 'own'],
    )
  })

  it('is nobody who was stopped before the limit, and everybody who was stopped after it', () => {
    const step = { status: null, reason: null, values: {}, at: null }
    const passed = { ...step, step: 'rateLimit', phase: 'route', outcome: 'passed' } as const
    const stopped = (id: string, phase: RecordReason['phase'], steps: RequestRecord['steps'] = null) => {
      return { id, at: AT - 1, reason: reasonOf({}, { phase, policy: 'authorization' }), steps }
    }
    const { spending } = explained(
      loaded({ local: [{ requests: 9, unit: 'Minutes' }] }),
      reasonOf({ limit: '9/Minutes' }),
      [
        stopped('by nobody in particular', null),
        stopped('by the backend', 'backend'),
        stopped('in the response', 'response'),
        stopped('behind it', 'route', [passed]),
        stopped('at the gateway', 'gateway', [passed]),
        stopped('without steps', 'route'),
        stopped('by the limit', 'route', [{ ...passed, outcome: 'stopped' }]),
        stopped('behind another step', 'route', [{ ...passed, step: 'cors' }]),
      ],
    )
    assert.deepEqual(
      spending?.latest.map(({ id }) => id),
      ['by nobody in particular', 'by the backend', 'in the response', 'behind it'],
    )
  })
})

describe('a limit of a conditional policy', () => {
  const policy = (requests: number) => ({ local: [{ requests, unit: 'Minutes' }] })
  const config = loaded({
    conditional: [
      { condition: 'request.headers["x-plan"] == "free"', policy: policy(7) },
      { condition: 'request.method == "POST"', policy: policy(8) },
      { condition: 'request.method == "GET"', policy: policy(9) },
      { policy: policy(9) },
    ],
  })
  const headers = { 'x-plan': 'paid' }
  const others = [
    { id: 'get', at: AT - 1, requestHeaders: headers },
    { id: 'post', at: AT - 2, requestHeaders: headers, method: 'POST' },
    { id: 'free', at: AT - 3, requestHeaders: { 'x-plan': 'free' } },
    { id: 'put', at: AT - 4, requestHeaders: {}, method: 'PUT' },
    { id: 'unknown', at: AT - 5 },
  ]

  it('is spent from by requests that its form was chosen for', () => {
    for (const [chosen, requests, ids] of [
      [0, 7, ['free']],
      [1, 8, ['post']],
      [2, 9, ['get']],
      [3, 9, ['put']],
    ] as const) {
      const { spending, decidedBy } = explained(config, reasonOf({ limit: `${requests}/Minutes`, chosen }), others)
      assert.deepEqual(
        spending?.latest.map(({ id }) => id),
        ids,
      )
      assert.equal(spending.isWhole, false, 'one of them has no headers')
      const place = decidedBy?.place
      assert.ok(place && 'line' in place)
      assert.equal(config.text.split('\n')[place.line - 1]?.trim(), `- requests: ${requests}`)
    }
  })

  it('is nobody’s where the record does not say which form was chosen', () => {
    const { spending } = explained(config, reasonOf({ limit: '9/Minutes' }), others)
    assert.equal(spending, null)
  })
})

describe('the limit that refused', () => {
  const limits = loaded({
    local: [
      { requests: 5, unit: 'Hours' },
      { tokens: 5, unit: 'Hours' },
      { requests: 5, unit: 'Hours', burst: 1 },
      { requests: 5, unit: 'Minutes', key: 'request.path' },
    ],
  })

  function lineOf(place: unknown): string | undefined {
    assert.ok(typeof place === 'object' && place !== null && 'line' in place && typeof place.line === 'number')
    return limits.text
      .split('\n')
      .slice(place.line - 1, place.line + 2)
      .map((line) => line.trim())
      .join(' ')
  }

  it('is found by its name', () => {
    for (const [limit, line, code] of [
      ['5/Hours', '- requests: 5 unit: Hours - tokens: 5', 'request_limit'],
      ['5 tokens/Hours', '- tokens: 5 unit: Hours - requests: 5', 'token_limit'],
      ['5/Hours+1', '- requests: 5 unit: Hours burst: 1', 'request_limit'],
      ['5/Minutes', '- requests: 5 unit: Minutes key: request.path', 'request_limit'],
    ] as const) {
      const told = explained(limits, reasonOf({ limit }), [])
      assert.equal(lineOf(told.decidedBy?.place), line)
      assert.equal(told.code, code)
      assert.deepEqual(
        told.wouldPass.map(({ text }) => text),
        [
          `the request is sent after ${new Date(AT + 10_000).toISOString()}, 10 s later.`,
          `\`${code === 'token_limit' ? 'tokens' : 'requests'}\` is more than 5.`,
        ],
      )
      assert.equal(told.wouldPass[0]?.changes[0]?.value, new Date(AT + 10_000).toISOString())
      const room = explained(limits, reasonOf({ limit }, { code: 'no_room' }), [])
      assert.equal(room.code, 'limit_without_room')
      assert.equal(room.headline, `no free budget slot is left for another key of the limit ${limit}`)
      assert.equal(lineOf(room.decidedBy?.place), line)
    }
  })

  it('may be one that the config does not have any more', () => {
    const { code, headline, wouldPass, spending, decidedBy } = explained(
      limits,
      reasonOf({ limit: '6/Hours', budget: 'ab12' }),
      [],
    )
    assert.equal(code, 'rate_limited')
    assert.equal(headline, 'the limit 6/Hours is used up for the budget ab12: requests pass again in 10 s')
    assert.equal(wouldPass.length, 1)
    assert.equal(spending, null)
    assert.match(lineOf(decidedBy?.place) ?? '', /^local:/)
  })

  it('tells what its key gave, and the name of its budget', () => {
    const { values } = explained(limits, reasonOf({ limit: '5/Minutes', budget: 'ab12' }), [])
    assert.deepEqual(
      values.map(({ name, value }) => [name, value]),
      [
        ['limit', '5/Minutes'],
        ['remaining', 0],
        ['resetSeconds', 10],
        ['budget', 'ab12'],
        ['key', '/'],
        ['limit.key', 'request.path'],
      ],
    )
  })

  it('has no key where the limit has none, whoever called', () => {
    const reason = reasonOf({ limit: '5/Hours', resetSeconds: null })
    const { values, headline } = explained(limits, reason, [], { record: { key: 'ann' } })
    assert.deepEqual(
      values.map(({ name }) => name),
      ['limit', 'remaining', 'resetSeconds'],
    )
    assert.match(headline, /requests pass again in 0 s$/)
  })

  it('says what the last of it was taken by', () => {
    const requests = explained(
      loaded({ local: [{ requests: 1, unit: 'Hours' }] }),
      reasonOf({ limit: '1/Hours' }),
      spent(0, 1),
    )
    assert.equal(
      requests.headline,
      'the limit 1/Hours is used up, since request r0 took the last of it at 22:13:20: requests pass again in 10 s',
    )
    const call = { id: 'c', at: AT, llm: tokens(4, 5) }
    const ofTokens = loaded({ local: [{ tokens: 9, unit: 'Hours', burst: 0 }] })
    assert.match(
      explained(ofTokens, reasonOf({ limit: '9 tokens/Hours' }), [call]).headline,
      /, since request c took 9 tokens at 22:13:20:/,
    )
  })

  it('has to be above what was spent only where nothing was saved up before', () => {
    const call = { id: 'c', at: AT, llm: tokens(40, 5) }
    for (const [burst, most] of [
      [0, 45],
      [1, 9],
    ] as const) {
      const limit = `9 tokens/Hours${burst === 0 ? '' : '+1'}`
      const { wouldPass } = explained(loaded({ local: [{ tokens: 9, unit: 'Hours', burst }] }), reasonOf({ limit }), [
        call,
      ])
      assert.equal(wouldPass[1]?.changes[0]?.value, most)
    }
  })
})

describe('a limit that a service counts', () => {
  const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]
  const config = loaded({ global: { backendRef: { host: '127.0.0.1:1' }, domain: 'shop', descriptors } })

  it('passes later where the service says when', () => {
    const soon = explained(config, reasonOf({ domain: 'shop' }), [])
    assert.equal(soon.code, 'global_limit')
    assert.match(soon.headline, / for the domain shop$/)
    assert.equal(
      soon.wouldPass[0]?.text,
      `the request is sent after ${new Date(AT + 10_000).toISOString()}, 10 s later.`,
    )
    const whenever = explained(config, reasonOf({ domain: 'shop', resetSeconds: null }), [])
    assert.equal(whenever.wouldPass[0]?.text, 'the rate limit service allows the request.')
  })

  it('names the header that the service may not set', () => {
    const told = explained(config, reasonOf({ header: 'x-a' }, { code: 'invalid_header' }), [])
    assert.equal(told.code, 'limit_service_invalid_header')
    assert.match(told.headline, /set the header x-a to/)
  })

  it('names the cause of a call that failed', () => {
    const told = explained(config, reasonOf({ cause: 'timeout' }, { code: 'no_decision' }), [])
    assert.equal(told.code, 'limit_server_failed')
    assert.match(told.headline, /: timeout$/)
  })

  it('leads to `failureMode` where the config has it, and else to the limits of the service', () => {
    const global = { backendRef: { host: '127.0.0.1:1' }, domain: 'shop', descriptors }
    for (const [given, line] of [
      [config, /^backendRef:/],
      [loaded({ global: { ...global, failureMode: 'FailClosed' } }), /^failureMode: FailClosed/],
    ] as const) {
      const told = explained(given, reasonOf({ cause: 'timeout' }, { code: 'no_decision' }), [])
      const place = told.wouldPass[1]?.changes[0]?.place
      assert.ok(place && 'line' in place)
      assert.match(given.text.split('\n')[place.line - 1]?.trim() ?? '', line)
    }
  })
})
