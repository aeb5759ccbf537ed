import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { type Check, denied, NO, ok, option, useAuthorizer } from '../../../testing/services/authorizer.ts'
import { request } from '../../../testing/client.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import { useMcpScene } from '../../../testing/mcp/mcp-scene.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'
import '../../../testing/all-features.ts'

async function setUp(
  t: TestContext,
  check: Check,
  more: { extAuth?: object; policies?: object; handler?: OriginHandler },
) {
  const origin = await useOrigin(t, more.handler)
  const authorizer = await useAuthorizer(t, check)
  const extAuth = { backendRef: { host: authorizer.host }, ...more.extAuth }
  const { backend, ...policies } = (more.policies ?? {}) as { backend?: object }
  const route = routeTo(origin, { ...policies, backend: { extAuth, ...backend } })
  const gateway = await useGateway(t, httpConfig([route]))
  return { origin, authorizer, gateway, ask: (options = {}) => request(gateway.port(), options) }
}

/** Answers 503 the given number of times, then 200. */
function failing(times: number): OriginHandler {
  let left = times
  return (_seen, response) => void response.writeHead(left-- > 0 ? 503 : 200).end('done')
}

test('each attempt is asked about, and what is changed is for that attempt alone', async (t) => {
  let count = 0
  const check: Check = () => {
    count++
    return {
      ...ok({
        headers: [option('x-list', String(count), { append: true })],
        headersToRemove: ['x-secret'],
        queryParametersToSet: [{ key: 'n', value: String(count) }],
        responseHeadersToAdd: [option('x-asked', String(count), { append: true })],
      }),
      dynamicMetadata: { [`n${count}`]: true },
    }
  }
  const transformation = { request: { set: [{ name: 'x-said', value: 'has(extauthz.n2)' }] } }
  const policies = {
    retry: { attempts: 2, codes: [503] },
    backend: { transformation, auth: { key: 'for-the-backend' } },
  }
  const { origin, authorizer, ask } = await setUp(t, check, { policies, handler: failing(1) })
  const answer = await ask({ path: '/p?a=1', headers: { 'x-list': 'mine', 'x-secret': 's' } })
  assert.deepEqual([answer.status, answer.headers['x-asked']], [200, '2'])
  assert.deepEqual(
    origin.seen.map(({ url, headers }) => [url, headers['x-list'], headers['x-secret'], headers['x-said']]),
    [
      ['/p?a=1&n=1', 'mine, 1', undefined, 'false'],
      ['/p?a=1&n=2', 'mine, 2', undefined, 'true'],
    ],
  )
  // The authorizer does not see the credentials of the backend.
  for (const { attributes } of authorizer.seen) {
    assert.equal(attributes?.request?.http?.headers.get('authorization'), undefined)
    assert.equal(attributes?.request?.http?.headers.get('x-secret'), 's')
  }
})

test('the authorizer of a backend gets the beginning of the body, and the backend gets all of it', async (t) => {
  const { origin, authorizer, ask } = await setUp(t, () => ok({}), { extAuth: { forwardBody: { maxSize: 4 } } })
  assert.equal((await ask({ method: 'POST', body: 'abcdef' })).status, 200)
  assert.equal(authorizer.seen[0]?.attributes?.request?.http?.body, 'abcd')
  assert.equal(origin.seen[0]?.body, 'abcdef')
})

test('headers that the authorizers of route and backend give the client are both sent', async (t) => {
  const ofRoute = await useAuthorizer(t, () => ok({ responseHeadersToAdd: [option('x-route', '1')] }))
  const check: Check = () => ok({ responseHeadersToAdd: [option('x-backend', '2')] })
  const policies = { extAuth: { backendRef: { host: ofRoute.host } } }
  const { ask } = await setUp(t, check, { policies })
  const { status, headers } = await ask()
  assert.deepEqual([status, headers['x-route'], headers['x-backend']], [200, '1', '2'])
})

test('a refusal is the answer, word for word, and nothing is tried again', async (t) => {
  const check: Check = ({ attributes }) =>
    attributes?.request?.http?.path === '/plain'
      ? NO
      : denied({ status: { code: 503 }, headers: [option('x-why', 'w')], body: 'not you' })
  const policies = { retry: { attempts: 2, codes: [503] } }
  const { origin, authorizer, gateway, ask } = await setUp(t, check, { policies })
  const traced = gateway.trace()
  const answer = await ask()
  assert.deepEqual([answer.status, answer.headers['x-why'], answer.body], [503, 'w', 'not you'])
  const plain = await ask({ path: '/plain' })
  assert.deepEqual([plain.status, plain.body], [403, 'external authorization failed'])
  assert.deepEqual([authorizer.seen.length, origin.seen.length], [2, 0])
  await gateway.finished(2)
  assert.deepEqual([gateway.records[0]?.reason, gateway.records[0]?.error], ['ExtAuth', 'denied by the authorizer'])
  const policy = (await traced).find(({ message }) => message.type === 'policy' && message['phase'] === 'backend')
    ?.message as unknown as {
    kind: string
    phase: string
    result: { type: string; status: number; details: { code: string; callout: { outcome: string } } }
  }
  const { kind, phase, result } = policy
  assert.deepEqual([kind, phase, result.type, result.status], ['extAuth', 'backend', 'stop', 503])
  assert.deepEqual([result.details.code, result.details.callout.outcome], ['denied', 'answered'])
})

test('only the backend that was chosen is asked about, after the authorizer of the route', async (t) => {
  const [open, guarded] = [await useOrigin(t), await useOrigin(t)]
  const ofRoute = await useAuthorizer(t, () => ok({ headers: [option('x-route', '1')] }))
  const ofBackend = await useAuthorizer(t, ({ attributes }) =>
    attributes?.request?.http?.headers.get('x-route') === '1'
      ? ok({ responseHeadersToAdd: [option('x-backend', '1', { append: true })] })
      : NO,
  )
  const address = (host: string) => ({ host: '127.0.0.1', port: Number(host.split(':')[1]) })
  const extAuth = { backendRef: { host: ofBackend.host } }
  const backends = [
    { name: 'open', static: address(open.host) },
    { name: 'guarded', static: address(guarded.host), policies: { extAuth } },
  ]
  const routes = ['open', 'guarded'].map((backend) => ({
    ...pathPrefix(`/${backend}`),
    policies: { extAuth: { backendRef: { host: ofRoute.host } } },
    backends: [{ backend }],
  }))
  const gateway = await useGateway(t, httpConfig(routes, { backends }))
  assert.equal((await request(gateway.port(), { path: '/open' })).status, 200)
  assert.equal(ofBackend.seen.length, 0)
  const answer = await request(gateway.port(), { path: '/guarded' })
  assert.deepEqual([answer.status, answer.headers['x-backend']], [200, '1'])
  assert.deepEqual([ofRoute.seen.length, ofBackend.seen.length, guarded.seen.length], [2, 1, 1])
})

test('by HTTP, with the name of the backend, and in several forms', async (t) => {
  const judge = await useOrigin(t, ({ headers }, response) => {
    response.writeHead(headers['x-backend'] === 'b' && headers['authorization'] === 'yes' ? 200 : 401).end('who?')
  })
  const origin = await useOrigin(t)
  const http = { addRequestHeaders: { 'x-backend': 'backend.name' }, redirect: '"/in?from=" + request.path' }
  const conditional = [
    { condition: 'request.path == "/free"', policy: { backendRef: { host: judge.host }, http: { path: '"/x"' } } },
    { condition: 'request.path != "/open"', policy: { backendRef: { host: judge.host }, http } },
  ]
  const named = { name: 'b', static: { host: '127.0.0.1', port: origin.port }, policies: { extAuth: { conditional } } }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ backend: 'b' }] }], { backends: [named] }))
  const ask = (path: string, headers = {}) => request(gateway.port(), { path, headers })
  assert.equal((await ask('/p', { authorization: 'yes' })).status, 200)
  const sent = await ask('/p')
  assert.deepEqual([sent.status, sent.headers['location']], [302, '/in?from=/p'])
  const free = await ask('/free')
  assert.deepEqual([free.status, free.body], [401, 'who?'])
  assert.equal((await ask('/open')).status, 200)
  assert.equal(origin.seen.length, 2)
})

test('the body goes to the authorizer and to every attempt', async (t) => {
  const policies = { retry: { attempts: 1, codes: [503] } }
  const extAuth = { forwardBody: { maxSize: 4 }, grpc: { requestMetadata: { n: 'size(request.body)' } } }
  const { origin, authorizer, ask } = await setUp(t, () => ({}), { policies, extAuth, handler: failing(1) })
  assert.equal((await ask({ method: 'POST', body: 'abcdef' })).status, 200)
  assert.deepEqual(
    authorizer.seen.map(({ attributes }) => attributes?.request?.http?.body),
    ['abcd', 'abcd'],
  )
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['abcdef', 'abcdef'],
  )
})

test('copies for a mirror go their own way', async (t) => {
  const mirror = await useOrigin(t)
  const policies = { requestMirror: { backend: mirror.host } }
  const { origin, ask } = await setUp(t, () => NO, { policies })
  assert.equal((await ask()).status, 403)
  await until(() => mirror.seen.length === 1)
  assert.equal(origin.seen.length, 0)
})

test('a client that leaves ends the call', async (t) => {
  const held = Promise.withResolvers<object>()
  t.after(() => held.resolve({}))
  const policies = { timeouts: { request: '50ms' } }
  const extAuth = { timeout: '10m', failureMode: 'FailOpen' }
  const { origin, gateway, ask } = await setUp(t, () => held.promise, { policies, extAuth })
  assert.equal((await ask()).status, 504)
  await gateway.finished(1)
  assert.match(gateway.metrics(), /callout_duration_seconds_count\{kind="ExtAuthz",outcome="cancelled"\} 1/)
  assert.equal(origin.seen.length, 0)
})

test('an authorizer that is nowhere counts by the failure mode', async (t) => {
  for (const [failureMode, status] of [
    ['FailOpen', 200],
    ['FailClosed', 403],
  ] as const) {
    const failing: Check = () => Promise.reject(new Error('broken'))
    const { ask } = await setUp(t, failing, { extAuth: { failureMode } })
    assert.equal((await ask()).status, status)
  }
})

test('it follows its authorizer to another address', async (t) => {
  const origin = await useOrigin(t)
  const [yes, no] = [await useAuthorizer(t, () => ({})), await useAuthorizer(t, () => NO)]
  const configWith = (authorizer: { host: string }) => {
    const port = Number(authorizer.host.split(':')[1])
    const extAuth = { backendRef: { name: 'authorizer' } }
    const backends = [
      { name: 'authorizer', static: { host: '127.0.0.1', port } },
      { name: 'b', static: { host: '127.0.0.1', port: origin.port }, policies: { extAuth } },
    ]
    return httpConfig([{ backends: [{ backend: 'b' }] }], { backends })
  }
  const gateway = await useGateway(t, configWith(yes))
  assert.equal((await request(gateway.port())).status, 200)
  await gateway.reload(JSON.stringify(configWith(no)))
  assert.equal((await request(gateway.port())).status, 403)
})

test('one for all backends of the gateway is not asked about itself', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, ({ attributes }) => (attributes?.request?.http?.path === '/no' ? NO : {}))
  const backend = { extAuth: { backendRef: { host: authorizer.host } } }
  const policies = [{ name: 'all', targetRefs: [{ kind: 'Gateway', name: 'default' }], backend }]
  const gateway = await useGateway(t, { ...httpConfig([routeTo(origin)]), policies })
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal((await request(gateway.port(), { path: '/no' })).status, 403)
  assert.deepEqual([authorizer.seen.length, origin.seen.length], [2, 1])
})

test('authorizers that would have to be asked about themselves are refused with their place', () => {
  const problemsOf = (authorizers: Record<string, string>): string => {
    const backends = Object.entries(authorizers).map(([name, authorizer]) => ({
      name,
      static: { host: '127.0.0.1', port: 1 },
      policies: { extAuth: { backendRef: { name: authorizer } } },
    }))
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' })], { backends })
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
    assert.ok(loaded.ok)
    const [fault] = checkCompile(loaded.ir)
    assert.deepEqual([fault?.path, fault?.part !== null], [['backendRef'], true])
    return fault?.message ?? ''
  }
  assert.match(problemsOf({ a: 'a' }), /authorization by itself/)
  assert.match(problemsOf({ a: 'b', b: 'a' }), /authorization by itself/)
})

describe('language models', () => {
  const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] }
  const works: OriginHandler = (_seen, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  const broken: OriginHandler = (_seen, response) => void response.writeHead(503).end()

  async function useProviders(t: TestContext, check: Check) {
    const authorizer = await useAuthorizer(t, check)
    const [first, second] = [await useOrigin(t, broken), await useOrigin(t, works)]
    const groups = [first, second].map(({ port }, index) => ({
      providers: [{ name: `p${index}`, openai: {}, host: '127.0.0.1', port }],
    }))
    const policies = { backend: { extAuth: { backendRef: { host: authorizer.host } } } }
    const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
    const ask = () => request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
    return { authorizer, first, second, gateway, ask }
  }

  test('each provider that a request goes to is asked about', async (t) => {
    const check: Check = () => ok({ headers: [option('x-user', 'ann')] })
    const { authorizer, first, second, ask } = await useProviders(t, check)
    assert.equal((await ask()).status, 200)
    assert.equal(authorizer.seen.length, 2)
    assert.deepEqual([first.seen[0]?.headers['x-user'], second.seen[0]?.headers['x-user']], ['ann', 'ann'])
  })

  test('a refusal ends the request: as it was said, or in the format of the client', async (t) => {
    const told = await useProviders(t, () => denied({ status: { code: 402 }, body: 'pay first' }))
    const paid = await told.ask()
    assert.deepEqual([paid.status, paid.body], [402, 'pay first'])
    const plain = await useProviders(t, () => NO)
    const refused = await plain.ask()
    assert.equal(refused.status, 403)
    assert.equal(
      (JSON.parse(refused.body) as { error: { message: string } }).error.message,
      'external authorization failed',
    )
    for (const { gateway, first, second } of [told, plain]) {
      assert.deepEqual([first.seen.length, second.seen.length], [0, 0])
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.reason, 'ExtAuth')
    }
  })
})

describe('MCP', () => {
  const check: Check = ({ attributes }) =>
    attributes?.request?.http?.headers.get('x-user') === 'ann'
      ? {}
      : denied({ status: { code: 401 }, headers: [option('www-authenticate', 'Bearer')], body: 'sign in first' })

  test('clients of one server are told what they lack, as by the server itself', async (t) => {
    const server = await useMcpServer(t)
    const authorizer = await useAuthorizer(t, check)
    const policies = { backend: { extAuth: { backendRef: { host: authorizer.host } } } }
    const { gateway, caller } = await useMcpScene(t, { one: server }, { policies })
    const refused = await caller.askModern('tools/list')
    assert.deepEqual([refused.status, refused.text], [401, 'sign in first'])
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
    assert.equal(server.requests.length, 0)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'ExtAuth')
    const session = await caller.with({ 'x-user': 'ann' }).begin()
    const [list] = (await session.ask('tools/list')).messages
    assert.ok(list?.result !== undefined)
  })

  test('with several servers, an error of the protocol says it', async (t) => {
    const servers = { one: await useMcpServer(t), two: await useMcpServer(t) }
    const authorizer = await useAuthorizer(t, check)
    const policies = { backend: { extAuth: { backendRef: { host: authorizer.host } } } }
    const { caller } = await useMcpScene(t, servers, { policies })
    const session = await caller.with({ 'x-user': 'ann' }).begin()
    const [called] = (await session.with({ 'x-user': 'bob' }).ask('tools/call', { name: 'one_echo', arguments: {} }))
      .messages
    assert.equal(called?.error?.message, 'target one: sign in first')
  })
})
