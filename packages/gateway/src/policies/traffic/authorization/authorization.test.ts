import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { exchangeRaw, parseResponse, request, sendRaw } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

async function setUp(t: TestContext, authorization: object, more: object = {}) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, { ...httpConfig([routeTo(origin, { authorization })]), ...more })
  const status = async (options: Parameters<typeof request>[1] = {}) => (await request(gateway.port(), options)).status
  return { origin, gateway, status }
}

test('a denied request gets 403, is not forwarded, and is logged with its reason', async (t) => {
  const { origin, gateway } = await setUp(t, { rules: ['request.method == "GET"'] })
  const answer = await request(gateway.port(), { method: 'POST' })
  assert.equal(answer.status, 403)
  assert.equal(answer.headers['content-type'], 'text/plain')
  assert.equal(answer.body, 'authorization failed')
  assert.equal(origin.seen.length, 0)
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'Authorization')
  assert.equal((await request(gateway.port())).status, 200)
})

test('requests are allowed and denied alike while somebody watches, and the trace has the rules', async (t) => {
  const { origin, gateway, status } = await setUp(t, { rules: ['request.method == "GET"'] })
  for (const [method, expected, result] of [
    ['GET', 200, 'allow'],
    ['POST', 403, 'deny'],
  ] as const) {
    const watched = gateway.trace()
    assert.equal(await status({ method }), expected)
    const found = (await watched).find(({ message }) => message.type === 'authorizationResult')
    assert.deepEqual([found?.message['result'], found?.severity], [result, result === 'allow' ? 'success' : 'error'])
  }
  assert.equal(origin.seen.length, 1)
})

test('a gRPC client reads the denial as PERMISSION_DENIED', async (t) => {
  const { gateway } = await setUp(t, { rules: [{ deny: 'true' }] })
  const answer = await request(gateway.port(), { method: 'POST', headers: { 'content-type': 'application/grpc' } })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['grpc-status'], '7')
})

test('rules see method, path, host, headers, query and source', async (t) => {
  const { status } = await setUp(t, {
    rules: [
      { require: 'request.host == "test.example" && request.scheme == "http"' },
      { require: 'source.address == "127.0.0.1" && cidr("127.0.0.0/8").containsIP(source.address)' },
      { deny: 'request.path.startsWith("/internal")' },
      'request.headers["X-Team"] == "a"',
      'request.pathAndQuery == "/open?x=1"',
    ],
  })
  assert.equal(await status(), 403)
  assert.equal(await status({ headers: { 'x-team': 'a' } }), 200)
  assert.equal(await status({ path: '/open?x=1' }), 200)
  assert.equal(await status({ path: '/internal/a', headers: { 'x-team': 'a' } }), 403)
})

test('a deny rule that fails denies; guarded by has or default it does not', async (t) => {
  const failing = await setUp(t, { rules: [{ deny: 'request.headers["x-a"] == "1"' }] })
  assert.equal(await failing.status(), 403)
  assert.equal(await failing.status({ headers: { 'x-a': '2' } }), 200)
  const guarded = await setUp(t, { rules: [{ deny: 'default(request.headers["x-a"], "") == "1"' }] })
  assert.equal(await guarded.status(), 200)
  assert.equal(await guarded.status({ headers: { 'x-a': '1' } }), 403)
})

test('a deny rule over all lines of a header holds for those that were sent twice, one over a single value does not', async (t) => {
  const statusOf = async (rule: object, ...roles: string[]) => {
    const { gateway } = await setUp(t, { rules: [rule] })
    const lines = roles.map((role) => `X-Role: ${role}\r\n`).join('')
    const answer = await sendRaw(gateway.port(), `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`)
    return answer.status
  }
  const single = { deny: 'default(request.headers["x-role"], "") == "guest"' }
  assert.equal(await statusOf(single, 'guest'), 403)
  assert.equal(await statusOf(single, 'staff', 'guest'), 200)
  const everyLine = { deny: '"guest" in default(request.headers.raw()["x-role"], [])' }
  assert.equal(await statusOf(everyLine, 'staff', 'guest'), 403)
  assert.equal(await statusOf(everyLine, 'staff'), 200)
  assert.equal(await statusOf(everyLine), 200)
  const everyItem = { deny: '"guest" in default(request.headers.split()["x-role"], [])' }
  assert.equal(await statusOf(everyItem, 'staff, guest'), 403)
  assert.equal(await statusOf(everyItem, 'staff', 'guest'), 403)
  assert.equal(await statusOf(everyItem), 200)
  const required = { require: 'request.headers["x-role"] == "staff"' }
  assert.equal(await statusOf(required, 'staff', 'guest'), 403)
  assert.equal(await statusOf(required, 'staff'), 200)
})

test('several lines of one header are a list, so a second line cannot slip past a rule', async (t) => {
  const { gateway } = await setUp(t, { rules: ['request.headers["x-team"] == "a"'] })
  const text = await exchangeRaw(
    gateway.port(),
    'GET / HTTP/1.1\r\nhost: a\r\nx-team: a\r\nx-team: b\r\nconnection: close\r\n\r\n',
    () => false,
  )
  assert.equal(parseResponse(text).status, 403)
})

test('the form of custom resources: an action for several expressions', async (t) => {
  const { status } = await setUp(t, {
    action: 'Deny',
    policy: { matchExpressions: ['request.method == "PUT"', 'request.method == "DELETE"'] },
  })
  assert.equal(await status(), 200)
  assert.equal(await status({ method: 'PUT' }), 403)
  assert.equal(await status({ method: 'DELETE' }), 403)
})

test('rules of all attachments count together', async (t) => {
  const gateway = { kind: 'Gateway', name: 'default' }
  const policies = [
    { name: 'all', targetRefs: [gateway], traffic: { authorization: { rules: [{ deny: 'request.path == "/no"' }] } } },
    {
      name: 'also',
      targetRefs: [gateway],
      traffic: { authorization: { rules: [{ require: 'has(request.headers["x-a"])' }] } },
    },
  ]
  const { status } = await setUp(t, { rules: ['request.method == "GET"'] }, { policies })
  const headers = { 'x-a': '1' }
  assert.equal(await status({ headers }), 200)
  assert.equal(await status(), 403)
  assert.equal(await status({ headers, path: '/no' }), 403)
  assert.equal(await status({ headers, method: 'POST' }), 403)
})

test('a rule that reads the body makes only its own route buffer', async (t) => {
  const origin = await useOrigin(t)
  const authorization = { rules: [{ deny: 'string(request.body).contains("secret")' }] }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { authorization }, pathPrefix('/checked')), routeTo(origin)], {
      frontend: { http: { maxBufferSize: 1024 } },
    }),
  )
  const send = async (path: string, body: string) =>
    (await request(gateway.port(), { method: 'POST', path, body })).status
  assert.equal(await send('/checked', 'a secret'), 403)
  assert.equal(await send('/checked', 'nothing'), 200)
  assert.equal(origin.seen.at(-1)?.body, 'nothing')
  assert.equal(await send('/checked', 'x'.repeat(1025)), 413)
  assert.equal(await send('/other', 'secret'.repeat(1000)), 200)
})

test('before routing a rule decides even where no route matches', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, {}, pathPrefix('/a'))], {
      listener: { policies: { phase: 'PreRouting', authorization: { rules: ['request.path != "/x"'] } } },
    }),
  )
  assert.equal((await request(gateway.port(), { path: '/x' })).status, 403)
  assert.equal((await request(gateway.port(), { path: '/y' })).status, 404)
  assert.equal((await request(gateway.port(), { path: '/a' })).status, 200)
})

function load(rules: unknown[]) {
  return loadPolicy({ rules })
}

function loadPolicy(authorization: object) {
  const config = httpConfig([{ policies: { authorization }, backends: [{ host: '127.0.0.1:9' }] }])
  return loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
}

const refused: [string, unknown, RegExp][] = [
  ['a syntax error, with its column', 'request.path ==', /gateway\.yaml:1:\d+.*column 16/],
  ['an unknown variable', 'requst.path == "/"', /requst[^]*request/],
  ['an unknown field', 'request.pth == "/"', /pth[^]*path/],
  ['an unknown function', 'request.path.beginsWith("/")', /beginsWith/],
  ['a wrong number of arguments', 'request.path.startsWith()', /startsWith/],
  ['a variable of a later phase', 'response.code == 200', /response/],
  ['an illegal pattern', 'request.path.matches("(?=a)")', /column/],
  ['an illegal range', 'cidr("10.0.0.0/33").containsIP(source.address)', /column/],
  ['a text where a condition stands', 'request.path', /gateway\.yaml:1:\d+.*found string instead of bool at column 9/],
  ['a number', { require: 'size(request.path)' }, /found int instead of bool at column 1/],
  [
    'texts compared with numbers',
    { deny: 'request.method == 5' },
    /`==` has no overload for string and int at column 16/,
  ],
  ['a header taken for a condition', 'request.headers["x-a"]', /found string or list\(string\) instead of bool/],
  ['an argument of the wrong type', 'request.path.startsWith(5)', /found `string.startsWith\(int\)`, expected `string/],
  ['a mode that does not exist', { alow: 'true' }, /`allow`, `deny` or `require`/],
  ['two modes in one rule', { allow: 'true', deny: 'true' }, /`allow`, `deny` or `require`/],
  ['a truth value that YAML made of the text', true, /quotes/],
]
for (const [name, rule, expected] of refused) {
  test(`refused at load: ${name}`, () => {
    const result = load([rule])
    assert.ok(!result.ok, 'the config was accepted')
    assert.match(printProblems(result.problems), expected)
  })
}

test('a deny rule that may fail gets a warning with its place', () => {
  const result = load([{ deny: 'jwt.sub == "a"' }, { deny: 'has(jwt.sub) && jwt.sub == "a"' }, 'jwt.sub == "b"'])
  assert.ok(result.ok)
  assert.equal(result.warnings.length, 1)
  assert.match(printProblems(result.warnings), /^gateway\.yaml:1:\d+.*deny rule that may fail[^]*jwt/)
})

const trapped: [mode: string, rule: string][] = [
  ['deny', 'has(request.headers["x-role"]) && request.headers["x-role"] == "guest"'],
  ['deny', 'default(request.headers["x-role"], "") in ["guest", "none"]'],
  ['deny', 'has(request.headers["x-role"]) && !(request.headers["x-role"] != "guest")'],
  ['require', 'request.headers["x-role"] != "guest"'],
  ['allow', '!(request.headers["x-role"] == "guest")'],
]
const safe: [mode: string, rule: string][] = [
  ['deny', '"guest" in default(request.headers.split()["x-role"], [])'],
  ['deny', 'default(request.headers["x-role"], "") != "admin"'],
  ['deny', 'default(request.headers["x-role"], "") == ""'],
  ['require', 'default(request.headers["x-role"], "") != ""'],
  ['require', 'request.headers["x-role"] == "admin"'],
  ['allow', 'request.headers["x-role"] == "admin"'],
  ['allow', 'request.headers["x-role"] in ["admin", "owner"]'],
]

test('a rule that a header sent twice slips past gets a warning with its place, whichever way it is written', () => {
  for (const [mode, rule] of trapped) {
    const result = load([{ [mode]: rule }])
    assert.ok(result.ok)
    assert.equal(result.warnings.length, 1, rule)
    const warned =
      /^gateway\.yaml:1:\d+.*`request\.headers\.x-role` bypasses when sent twice.* at column \d+[^]*split\(\)\["x-role"\]/
    assert.match(printProblems(result.warnings), warned)
    const action = mode[0]!.toUpperCase() + mode.slice(1)
    const resource = loadPolicy({ action, policy: { matchExpressions: [rule] } })
    assert.ok(resource.ok)
    assert.match(printProblems(resource.warnings), warned)
  }
  for (const [mode, rule] of safe) {
    const result = load([{ [mode]: rule }])
    assert.ok(result.ok)
    assert.equal(printProblems(result.warnings), '', rule)
  }
})

test('a header sent twice does slip past what is warned of, and past nothing else', async (t) => {
  const origin = await useOrigin(t)
  const rules = [...trapped, ...safe]
  const routes = rules.map(([mode, rule], at) =>
    routeTo(origin, { authorization: { rules: [{ [mode]: rule }] } }, pathPrefix(`/${at}`)),
  )
  const gateway = await useGateway(t, httpConfig(routes))
  const statusOf = async (at: number, roles: readonly string[]): Promise<number> => {
    const lines = roles.map((role) => `x-role: ${role}\r\n`).join('')
    const head = `GET /${at} HTTP/1.1\r\nhost: a\r\n${lines}connection: close\r\n\r\n`
    return parseResponse(await exchangeRaw(gateway.port(), head, () => false)).status
  }
  for (const [at, [mode, rule]] of rules.entries()) {
    const [once, twice] = [await statusOf(at, ['guest']), await statusOf(at, ['guest', 'guest'])]
    if (at < trapped.length) assert.deepEqual([once, twice], [403, 200], `${mode} ${rule}`)
    else assert.equal(twice, once, `${mode} ${rule}`)
  }
})
