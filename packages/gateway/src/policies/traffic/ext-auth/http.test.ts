import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

async function setUp(t: TestContext, handler: OriginHandler, extAuth: object, policies: object = {}) {
  const origin = await useOrigin(t)
  const judge = await useOrigin(t, handler)
  const backendRef = { host: judge.host }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { extAuth: { backendRef, ...extAuth }, ...policies })]),
  )
  return { origin, judge, gateway, ask: (options = {}) => request(gateway.port(), options) }
}

const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): OriginHandler =>
  (_, response) =>
    void response.writeHead(status, headers).end(body)

test('a 2xx answer lets the request pass; the authorizer sees its method, path and token, and no more', async (t) => {
  const { origin, judge, ask } = await setUp(t, answerWith(204), { http: {} })
  const headers = { authorization: 'Bearer t', cookie: 'a=1', 'x-a': '1' }
  assert.equal((await ask({ method: 'POST', path: '/p?q=1', headers, body: 'data' })).status, 200)
  const [seen] = judge.seen
  assert.deepEqual([seen?.method, seen?.url, seen?.body], ['POST', '/p?q=1', ''])
  assert.equal(seen?.headers['authorization'], 'Bearer t')
  assert.deepEqual([seen?.headers['cookie'], seen?.headers['x-a']], [undefined, undefined])
  assert.equal(origin.seen[0]?.body, 'data')
})

test('it sees the headers that the config names, and those that it adds', async (t) => {
  const http = {
    path: '"/check" + request.path',
    allowedRequestHeaders: ['Cookie', 'x-list', 'content-length', 'transfer-encoding'],
    addRequestHeaders: { 'x-method': 'request.method', 'x-list': '["c"]', 'x-absent': 'request.headers["x-none"]' },
  }
  const { judge, ask } = await setUp(t, answerWith(200), { http })
  const headers = { authorization: 'Bearer t', cookie: 'a=1', 'x-list': 'a' }
  assert.equal((await ask({ method: 'PUT', path: '/p', headers, body: 'data' })).status, 200)
  const [seen] = judge.seen
  assert.equal(seen?.url, '/check/p')
  assert.deepEqual(
    [seen?.headers['cookie'], seen?.headers['x-method'], seen?.headers['x-list'], seen?.headers['x-absent']],
    ['a=1', 'PUT', 'c', undefined],
  )
  assert.equal(seen?.headers['authorization'], undefined)
  assert.notEqual(seen?.headers['content-length'], '4')
})

test('the backend gets what the answer says of the client, in place of what the client says', async (t) => {
  const http = {
    allowedResponseHeaders: ['X-User', 'x-groups', 'x-none'],
    responseMetadata: {
      user: 'response.headers["x-user"]',
      code: 'response.code',
      broken: 'response.headers["x-none"]',
    },
  }
  const handler = answerWith(200, { 'x-user': 'ann', 'x-groups': 'a, b', 'x-secret': 's' })
  const policies = {
    authorization: { rules: ['extauthz.user == "ann" && extauthz.code == 200 && !has(extauthz.broken)'] },
  }
  const { origin, ask } = await setUp(t, handler, { http }, policies)
  assert.equal(
    (await ask({ headers: { 'x-user': 'mallory', x_user: 'mallory', 'x-none': 'forged', x_none: 'forged' } })).status,
    200,
  )
  const seen = origin.seen[0]?.headers
  assert.deepEqual(
    [seen?.['x-user'], seen?.['x-groups'], seen?.['x-none'], seen?.['x-secret']],
    ['ann', 'a, b', undefined, undefined],
  )
  assert.deepEqual([seen?.['x_user'], seen?.['x_none']], [undefined, undefined])
})

test('any other answer goes to the client as it is', async (t) => {
  const { origin, gateway, ask } = await setUp(
    t,
    answerWith(401, { 'www-authenticate': 'Basic realm="x"', 'x-b': '1' }, 'who?'),
    { http: {} },
  )
  const answer = await ask()
  assert.deepEqual(
    [answer.status, answer.body, answer.headers['www-authenticate'], answer.headers['x-b']],
    [401, 'who?', 'Basic realm="x"', '1'],
  )
  assert.equal(answer.headers['content-type'], 'text/plain')
  assert.equal(origin.seen.length, 0)
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'ExtAuth')
})

test('clients are sent to where they can sign in', async (t) => {
  const http = { redirect: '"https://login.test/?back=" + request.path' }
  const statuses: [number, number][] = [
    [401, 302],
    [403, 302],
    [404, 404],
    [302, 302],
  ]
  for (const [given, expected] of statuses) {
    const { ask } = await setUp(t, answerWith(given, { 'x-own': '1', location: '/elsewhere' }), { http })
    const answer = await ask({ path: '/p' })
    assert.equal(answer.status, expected)
    const isOurs = given === 401 || given === 403
    assert.equal(answer.headers['location'], isOurs ? 'https://login.test/?back=/p' : '/elsewhere')
  }
})

test('an expression that fails refuses, whatever the failure mode', async (t) => {
  const failing = [
    { path: 'request.headers["x-path"]' },
    { redirect: 'request.headers["x-path"]' },
    { path: '"no path"' },
  ]
  for (const http of failing) {
    const { ask } = await setUp(t, answerWith('redirect' in http ? 401 : 200), { http, failureMode: 'FailOpen' })
    const answer = await ask()
    assert.deepEqual([answer.status, answer.body], [403, 'external authorization failed'])
  }
})

test('every expression may read the body of the request', async (t) => {
  const http = {
    path: '"/" + string(request.body)',
    redirect: '"/sign-in?for=" + string(request.body)',
    addRequestHeaders: { 'x-body': 'string(request.body)' },
    responseMetadata: { body: 'string(request.body)' },
  }
  const handler: OriginHandler = ({ url }, response) =>
    void response.writeHead(url === '/ann' || url === '/' ? 200 : 401).end()
  for (const [field, source] of Object.entries(http)) {
    const policies = field === 'responseMetadata' ? { authorization: { rules: ['extauthz.body == "ann"'] } } : {}
    const { judge, ask } = await setUp(t, handler, { http: { [field]: source } }, policies)
    const path = field === 'redirect' ? '/no' : '/'
    const answer = await ask({ method: 'POST', path, body: 'ann' })
    assert.equal(answer.status, field === 'redirect' ? 302 : 200, field)
    if (field === 'redirect') assert.equal(answer.headers['location'], '/sign-in?for=ann')
    if (field === 'path') assert.equal(judge.seen[0]?.url, '/ann')
    if (field === 'addRequestHeaders') assert.equal(judge.seen[0]?.headers['x-body'], 'ann')
  }
})

test('a client cannot say what the authorizer has of the body', async (t) => {
  const allowedRequestHeaders = ['x-envoy-auth-partial-body']
  const { judge, ask } = await setUp(t, answerWith(200), {
    http: { allowedRequestHeaders },
    forwardBody: { maxSize: 4 },
  })
  assert.equal((await ask({ headers: { 'x-envoy-auth-partial-body': 'false' } })).status, 200)
  assert.equal(judge.seen[0]?.headers['x-envoy-auth-partial-body'], undefined)
})

test('the body goes along where it is asked for', async (t) => {
  const { origin, judge, ask } = await setUp(t, answerWith(200), { http: {}, forwardBody: { maxSize: 4 } })
  assert.equal((await ask({ method: 'POST', body: 'abcdef' })).status, 200)
  assert.deepEqual([judge.seen[0]?.body, judge.seen[0]?.headers['x-envoy-auth-partial-body']], ['abcd', 'true'])
  assert.equal(origin.seen[0]?.body, 'abcdef')
})

test('an authorizer that is broken or too slow counts as failed', async (t) => {
  const handlers: OriginHandler[] = [
    answerWith(500),
    () => {},
    (_, response) => void response.socket?.destroy(),
    answerWith(200, {}, 'x'.repeat(2_000_000)),
  ]
  for (const handler of handlers) {
    for (const [failureMode, expected] of [
      ['FailClosed', 403],
      ['FailOpen', 200],
    ] as const) {
      const { ask } = await setUp(t, handler, { http: {}, failureMode, timeout: '300ms' })
      assert.equal((await ask()).status, expected)
    }
  }
})

test('a config that cannot work is refused with its place', () => {
  const problemsOf = (extAuth: object): string => {
    const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, { extAuth })])
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
    return loaded.ok ? 'no problem' : printProblems(loaded.problems)
  }
  assert.match(problemsOf({ grpc: {} }), /`backendRef`, or `conditional`/)
  assert.match(
    problemsOf({ backendRef: { host: '127.0.0.1:1' }, grpc: {}, http: {} }),
    /at most one of `grpc` or `http`/,
  )
  assert.match(problemsOf({ backendRef: { name: 'nobody' } }), /nobody/)
  assert.match(
    problemsOf({ backendRef: { host: '127.0.0.1:1' }, http: { redirect: 'size(request.path)' } }),
    /redirect/,
  )
})

test('a backend that is no fixed destination is refused with its place', () => {
  const backends = [
    { name: 'models', ai: { provider: { openai: {} } } },
    { name: 'tools', mcp: { targets: [{ name: 't', static: { host: '127.0.0.1', port: 1 } }] } },
    { name: 'any', dynamicForwardProxy: {} },
  ]
  const found = ['a backend of language models', 'an MCP backend', 'a dynamic forward proxy']
  for (const [index, { name }] of backends.entries()) {
    const extAuth = { backendRef: { name } }
    const global = { backendRef: { name }, domain: 'd', descriptors: [{ entries: [{ name: 'e', expression: '"x"' }] }] }
    for (const [policies, place] of [
      [{ extAuth }, 'extAuth.backendRef.name'],
      [{ rateLimit: { global } }, 'rateLimit.global.backendRef.name'],
    ] as const) {
      const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)], { backends })
      const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
      const problems = loaded.ok ? 'no problem' : printProblems(loaded.problems)
      assert.ok(problems.includes(`${place}: found ${found[index]}, expected a fixed destination`), problems)
    }
  }
})

test('nobody there', async (t) => {
  const origin = await useOrigin(t)
  const extAuth = { backendRef: { host: `127.0.0.1:${await closedPort()}` }, http: {} }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth })]))
  assert.equal((await request(gateway.port())).status, 403)
  assert.equal(origin.seen.length, 0)
})

test('headers that the authorizer names for removal do not reach the backend', async (t) => {
  const list = 'x-secret, X-Other,x-user,, host, content-length, bad name'
  const { origin, ask } = await setUp(t, answerWith(200, { 'x-envoy-auth-headers-to-remove': list, 'x-user': 'ann' }), {
    http: { allowedResponseHeaders: ['x-user'] },
  })
  const headers = { 'x-secret': 's', x_secret: 's', 'x-other': 'o', 'x-user': 'mallory', 'x-kept': 'k' }
  assert.equal((await ask({ method: 'POST', headers, body: 'data' })).status, 200)
  const { headers: seen = {}, body } = origin.seen[0] ?? {}
  const names = ['x-secret', 'x_secret', 'x-other', 'x-user', 'x-kept', 'host']
  assert.deepEqual(
    names.map((name) => seen[name]),
    [undefined, undefined, undefined, undefined, 'k', 'test.example'],
  )
  assert.equal(body, 'data')
})

test('lines of one header stay lines, and bytes stay bytes', async (t) => {
  const http = { allowedResponseHeaders: ['x-name', 'x-group'] }
  const answer: OriginHandler = (_, response) =>
    void response.writeHead(200, ['x-name', 'Zo\xc3\xab', 'x-group', 'a', 'x-group', 'b']).end()
  const { origin, ask } = await setUp(t, answer, { http })
  await ask({ headers: { 'x-group': 'admin' } })
  const { headers = {} } = origin.seen[0] ?? {}
  assert.deepEqual([headers['x-name'], headers['x-group']], ['Zo\xc3\xab', 'a, b'])
})
