import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { lookupIn } from '../../testing/lookup.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'

/** Traces of whole requests. A golden file is written anew with UPDATE_GOLDEN=1, and read before it is committed. */

const SPEC_ORDER = [
  'requestStarted',
  'requestSnapshot initial request',
  'requestSnapshot gateway policies',
  'routeSelection',
  'policySelection',
  'requestSnapshot route policies',
  'requestSnapshot final request',
  'backendCallStart',
  'backendCallResult',
  'responseSnapshot backend response ready',
  'responseSnapshot final response',
  'requestFinished',
]

async function traced(gateway: TestGateway, options: Parameters<typeof request>[1] = {}) {
  const events = gateway.trace()
  const answer = await request(gateway.port(), options)
  return { answer, events: await events }
}

type Events = Awaited<ReturnType<typeof traced>>['events']

function names(events: Events): string[] {
  return events.map(({ message }) =>
    typeof message['stage'] === 'string' ? `${message.type} ${message['stage']}` : message.type,
  )
}

function policies(events: Events): string[] {
  return events
    .filter(({ message }) => message.type === 'policy')
    .map(({ message }) => {
      const result = message['result'] as { type: string; reason?: string }
      return `${String(message['kind'])} ${result.type}${result.reason === undefined ? '' : `: ${result.reason}`}`
    })
}

async function sixPolicies(t: TestContext) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', server: 'origin', date: 'Thu, 01 Jan 1970 00:00:00 GMT' })
    response.end('ok')
  })
  const gateway = await useGateway(
    t,
    httpConfig([
      routeTo(
        origin,
        {
          cors: { allowOrigins: ['https://app.example'] },
          apiKeyAuthentication: {
            secretRef: {
              data: { alice: JSON.stringify({ key: 'alice-key-0123456789', metadata: { group: 'sales' } }) },
            },
          },
          authorization: { rules: ['apiKey.group == "sales"', { deny: 'request.path == "/orders/secret"' }] },
          rateLimit: { local: [{ requests: 10, unit: 'Hours' }] },
          transformation: { request: { set: [{ name: 'x-group', value: 'apiKey.group' }] } },
          headerModifiers: { response: { remove: ['server'] } },
        },
        { name: 'orders', ...pathPrefix('/orders') },
      ),
      routeTo(origin, {}, { name: 'rest' }),
    ]),
  )
  return { origin, gateway }
}

/** Everything that differs from run to run. */
function masked(events: Events, origin: { host: string }): unknown {
  const text = JSON.stringify(events, (name, value: unknown) => {
    if (name === 'eventStart' || name === 'eventEnd') return value === null ? null : '<µs>'
    if (name === 'startTime') return '<time>'
    return name === 'port' || name === 'rawPort' ? '<port>' : value
  })
  return JSON.parse(text.replaceAll(origin.host, '<origin>')) as unknown
}

function expectGolden(name: string, actual: unknown): void {
  const file = new URL(`../../testing/golden/${name}.json`, import.meta.url)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`)
  assert.ok(existsSync(file), `${name}.json is missing: run with UPDATE_GOLDEN=1 and read it`)
  assert.deepEqual(actual, JSON.parse(readFileSync(file, 'utf8')))
}

test('a request through six policies is told event for event', async (t) => {
  const { origin, gateway } = await sixPolicies(t)
  const { answer, events } = await traced(gateway, {
    path: '/orders?id=7',
    headers: { authorization: 'Bearer alice-key-0123456789', origin: 'https://app.example', cookie: 'sid=secret' },
  })
  assert.equal(answer.status, 200)
  const spec = names(events).filter((name) => SPEC_ORDER.includes(name))
  assert.deepEqual(spec, SPEC_ORDER)
  assert.ok(!JSON.stringify(events).includes('alice-key'), 'the key is in the trace')
  assert.ok(!JSON.stringify(events).includes('sid=secret'), 'the cookie is in the trace')
  expectGolden('trace-six-policies', masked(events, origin))
})

test('times never go back, and the call to the backend has a start', async (t) => {
  const { gateway } = await sixPolicies(t)
  const { events } = await traced(gateway, { path: '/rest' })
  const ends = events.map((event) => event.eventEnd)
  assert.deepEqual(
    ends,
    ends.toSorted((a, b) => a - b),
  )
  for (const { eventStart, eventEnd, message } of events) {
    if (message.type !== 'backendCallResult') assert.equal(eventStart, null, message.type)
    else assert.ok(eventStart !== null && eventStart <= eventEnd)
  }
})

test('a policy that stops a request is told, and those behind it as not reached', async (t) => {
  const { gateway } = await sixPolicies(t)
  const { answer, events } = await traced(gateway, { path: '/orders' })
  assert.equal(answer.status, 401)
  const told = policies(events)
  assert.deepEqual(told.slice(0, 5), [
    'cors skip: no Origin header',
    'apiKeyAuthentication stop: ApiKeyAuth',
    'authorization skip: apiKeyAuthentication stopped the request',
    'rateLimit skip: apiKeyAuthentication stopped the request',
    'transformation skip: apiKeyAuthentication stopped the request',
  ])
  assert.ok(!names(events).includes('backendCallStart'))
  assert.deepEqual(names(events).slice(-2), ['responseSnapshot final response', 'requestFinished'])
})

test('an authorization names its rules with their outcomes', async (t) => {
  const { gateway } = await sixPolicies(t)
  const headers = { authorization: 'Bearer alice-key-0123456789' }
  const { answer, events } = await traced(gateway, { path: '/orders/secret', headers })
  assert.equal(answer.status, 403)
  const result = events.find(({ message }) => message.type === 'authorizationResult')
  assert.equal(result?.severity, 'error')
  assert.deepEqual(result?.message, {
    type: 'authorizationResult',
    rules: [
      { name: 'apiKey.group == "sales"', mode: 'allow', matched: true },
      { name: 'request.path == "/orders/secret"', mode: 'deny', matched: true },
    ],
    result: 'deny',
  })
})

test('a request without a route is told what the nearest routes lacked', async (t) => {
  const backends = [{ host: '127.0.0.1:9' }]
  const routes = [
    { name: 'write', matches: [{ path: { exact: '/a' }, method: 'POST' }], backends },
    { name: 'other', hostnames: ['other.test'], ...pathPrefix('/a'), backends },
  ]
  const { answer, events } = await traced(await useGateway(t, httpConfig(routes)), { path: '/a' })
  assert.equal(answer.status, 404)
  const [write, other] = ['bind/0/listener0/write', 'bind/0/listener0/other']
  assert.deepEqual(events.find(({ message }) => message.type === 'routeSelection')?.message, {
    type: 'routeSelection',
    selectedRoute: null,
    evaluatedRoutes: [write, other],
    rejectedRoutes: [
      { route: write, match: 0, lacks: ['method POST'] },
      { route: other, match: 0, lacks: ['hostname other.test'] },
    ],
  })
})

const endings: [string, (t: TestContext) => Promise<{ events: Events; status: number }>, string[]][] = [
  [
    'no route',
    async (t) => {
      const gateway = await useGateway(t, httpConfig([{ ...pathPrefix('/a'), backends: [{ host: '127.0.0.1:9' }] }]))
      const { answer, events } = await traced(gateway, { path: '/b' })
      return { events, status: answer.status }
    },
    ['routeSelection', 'responseSnapshot final response', 'requestFinished'],
  ],
  [
    'a backend that nobody listens on',
    async (t) => {
      const gateway = await useGateway(t, httpConfig([routeTo({ host: `127.0.0.1:${await closedPort()}` })]))
      const { answer, events } = await traced(gateway)
      return { events, status: answer.status }
    },
    ['backendCallStart', 'backendCallResult', 'responseSnapshot final response', 'requestFinished'],
  ],
  [
    'a name that does not resolve',
    async (t) => {
      const gateway = await useGateway(t, httpConfig([routeTo({ host: 'nowhere.test:80' })]), { lookup: lookupIn({}) })
      const { answer, events } = await traced(gateway)
      return { events, status: answer.status }
    },
    ['backendCallStart', 'backendCallResult', 'responseSnapshot final response', 'requestFinished'],
  ],
]
for (const [name, send, expected] of endings) {
  test(`a request that fails ends with requestFinished: ${name}`, async (t) => {
    const { events, status } = await send(t)
    assert.deepEqual(names(events).slice(-expected.length), expected)
    const last = events.at(-1)!
    assert.equal(last.message['status'], status)
    assert.notEqual(last.message['error'], null)
    assert.notEqual(last.severity, 'info')
  })
}

test('every try of a retried request is told', async (t) => {
  let tries = 0
  const origin = await useOrigin(t, (_seen, response) => {
    response.statusCode = ++tries < 3 ? 503 : 200
    response.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { attempts: 3, codes: [503] } })]))
  const { events } = await traced(gateway)
  const statuses = events
    .filter(({ message }) => message.type === 'backendCallResult')
    .map(({ message }) => message['status'])
  assert.deepEqual(statuses, [503, 503, 200])
  assert.equal(names(events).filter((name) => name === 'requestSnapshot final request').length, 1)
})

test('policies before routing are told as those of the gateway', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin)], {
      listener: {
        policies: {
          phase: 'PreRouting',
          transformation: { request: { set: [{ name: ':path', value: '"/new"' }] } },
        },
      },
    }),
  )
  const { events } = await traced(gateway)
  const policy = events.find(({ message }) => message.type === 'policy')
  assert.deepEqual(policy?.message, {
    type: 'policy',
    kind: 'transformation',
    phase: 'gateway',
    result: { type: 'apply' },
  })
  const order = names(events)
  assert.ok(order.indexOf('policy') < order.indexOf('requestSnapshot gateway policies'))
  const selection = events.find(({ message }) => message.type === 'policySelection')
  const effective = selection?.message['effectivePolicy'] as Record<string, unknown> | undefined
  assert.ok(effective?.['transformation'])
})
