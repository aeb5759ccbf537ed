import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { describe, test, type TestContext } from 'node:test'
import { TRACE_SLOTS } from '../../telemetry/trace/trace-slots.ts'
import { TraceWatch } from '../../telemetry/trace/trace-watch.ts'
import { request } from '../../testing/client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'
import { TRACE_ORDER, tracedPath, types, useTrace } from '../../testing/admin/trace-client.ts'

describe('with two workers', () => {
  test('each watcher gets one request, the first come the first', async (t) => {
    const { program } = await useTwoWorkers(t)
    const streams = []
    for (let count = 0; count < 6; count++) streams.push(await useTrace(t, program.admin))
    for (const index of streams.keys()) await request(program.port(), { path: `/${index}` })
    const traced = await Promise.all(streams.map((stream) => stream.events))
    assert.deepEqual(
      traced.map((events) => tracedPath(events)),
      streams.map((_, index) => `/${index}`),
    )
    for (const events of traced) assertOrder(types(events))
  })

  test('requests at the same time are shared out, none twice', async (t) => {
    const { program } = await useTwoWorkers(t)
    const streams = []
    for (let count = 0; count < 20; count++) streams.push(await useTrace(t, program.admin))
    await Promise.all(Array.from({ length: 60 }, (_, index) => request(program.port(), { path: `/${index}` })))
    const traced = await Promise.all(streams.map((stream) => stream.events))
    assert.equal(new Set(traced.map(tracedPath)).size, streams.length)
    for (const events of traced) assertOrder(types(events))
  })

  test('an expression chooses the request, and one that fails waits on', async (t) => {
    const { program } = await useTwoWorkers(t)
    const chosen = await useTrace(t, program.admin, 'request.path == "/5" && source.address == "127.0.0.1"')
    const failing = await useTrace(t, program.admin, 'request.headers["x-pick"] == "me"')
    const number = await useTrace(t, program.admin, '1 + 1')
    for (let index = 0; index < 8; index++) await request(program.port(), { path: `/${index}` })
    assert.equal(tracedPath(await chosen.events), '/5')
    await request(program.port(), { path: '/picked', headers: { 'x-pick': 'me' } })
    assert.equal(tracedPath(await failing.events), '/picked')
    assert.doesNotMatch(number.text(), /data:/)
  })

  test('expressions that cannot work are refused with their place', async (t) => {
    const { program } = await useTwoWorkers(t)
    for (const [expression, message] of [
      ['request.path ==', /^invalid expression: column \d+: .+\n$/],
      ['request.pth == "a"', /^invalid expression: column 9: .*, did you mean `path`\?\n$/],
      ['jwt.sub == "a"', /^invalid expression: column 1: .*jwt/],
      ['request.body == b"a"', /^invalid expression: column 9: .*body/],
      ['response.code == 200', /^invalid expression: column 1: .*response/],
      ['', /^invalid expression: /],
    ] as const) {
      const refused = await useTrace(t, program.admin, expression)
      assert.equal(refused.status, 400, expression)
      assert.match(refused.text(), message)
    }
  })

  test('only so many can wait; who leaves makes room', async (t) => {
    const { program } = await useTwoWorkers(t)
    const streams = []
    for (let count = 0; count < TRACE_SLOTS; count++) streams.push(await useTrace(t, program.admin))
    assert.equal((await useTrace(t, program.admin)).status, 503)
    for (const stream of streams) stream.leave()
    await eventually('room again', async () => (await useTrace(t, program.admin, 'request.path == "/"')).status === 200)
    const last = await useTrace(t, program.admin)
    await request(program.port(), { path: '/last' })
    assert.equal(tracedPath(await last.events), '/last')
  })

  test('streams of those who still wait end with the process', async (t) => {
    const { program } = await useTwoWorkers(t)
    const stream = await useTrace(t, program.admin)
    program.child.kill('SIGTERM')
    assert.deepEqual(await stream.events, [])
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('a traced request is counted and answered like any other', async (t) => {
    const { program, origin } = await useTwoWorkers(t)
    const stream = await useTrace(t, program.admin)
    const response = await request(program.port(), { path: '/a', method: 'POST', body: 'hello' })
    assert.deepEqual([response.status, response.body], [200, 'ok'])
    await stream.events
    assert.equal(origin.seen.at(-1)!.body, 'hello')
    await eventually('counted', async () => (await metric(program, 'portico_requests_total')) === 1)
  })
})

describe('the events', () => {
  test('a proxied request has the twelve events of the spec in order', async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, pathPrefix('/a'))]))
    const traced = gateway.trace()
    await request(gateway.port(), { path: '/a/b?c=d' })
    const events = await traced
    assertOrder(types(events))
    const times = events.map(({ eventEnd }) => eventEnd)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    const selection = events.find(({ message }) => message.type === 'policySelection')!
    const policies = Object.values(selection.message['effectivePolicy'] as object) as unknown[]
    assert.ok(policies.length >= 17)
    assert.deepEqual(new Set(policies), new Set([null]))
  })

  test('a request over HTTP/2 has the same events', async (t) => {
    const origin = await useOrigin(t)
    const backend = { http: { version: 'HTTP1' } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend })]))
    const traced = gateway.trace('request.version == "HTTP/2"')
    await request(gateway.port(), { path: '/one' })
    const session = connect(`http://127.0.0.1:${gateway.port()}`)
    t.after(() => session.destroy())
    const stream = session.request({ ':path': '/two' })
    stream.resume()
    await once(stream, 'close')
    const events = await traced
    assert.equal(tracedPath(events), '/two')
    assertOrder(types(events))
  })

  test('name the policies as the spec does, and hide credentials of config, request and response', async (t) => {
    const origin = await useOrigin(t, (_, response) => {
      response.setHeader('set-cookie', 'session=S3CRET')
      response.end('ok')
    })
    const headerModifiers = { request: { set: [{ name: 'x-api-key', value: 'S3CRET' }] } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { headerModifiers, timeouts: { request: '9s' } })]))
    const traced = gateway.trace()
    const response = await request(gateway.port(), {
      path: '/?access_token=S3CRET&page=2',
      headers: { authorization: 'Bearer S3CRET', cookie: 'a=S3CRET', 'x-plain': 'seen' },
    })
    assert.match(response.headers['set-cookie']!, /S3CRET/)
    const text = JSON.stringify(await traced)
    assert.doesNotMatch(text, /S3CRET/)
    assert.match(text, /"requestHeaderModifier":\{"set":\[\{"name":"x-api-key","value":"<redacted>"\}\]/)
    assert.match(text, /"responseHeaderModifier":null/)
    assert.match(text, /"timeouts":\{/)
    assert.match(text, /"pathAndQuery":"\/\?access_token=<redacted>&page=2"/)
    assert.match(text, /"x-plain":"seen"/)
    assert.equal(origin.seen[0]!.headers['x-api-key'], 'S3CRET', 'what goes out is as it was')
  })

  test('hide credentials under whatever name the config gives them', async (t) => {
    const origin = await useOrigin(t)
    const data = { alice: { key: 'S3CRET-alice', metadata: { group: 'a' } } }
    const apiKeyAuthentication = { mode: 'Optional', secretRef: { data }, location: { header: { name: 'X-Team' } } }
    const auth = { key: 'S3CRET-backend', location: { queryParameter: { name: 'who' } } }
    const policies = { apiKeyAuthentication, backend: { auth } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
    const traced = gateway.trace()
    const response = await request(gateway.port(), { path: '/?a=b', headers: { 'x-team': 'S3CRET-alice' } })
    assert.equal(response.status, 200)
    assert.equal(origin.seen[0]!.url, '/?a=b&who=S3CRET-backend')
    const text = JSON.stringify(await traced)
    assert.doesNotMatch(text, /S3CRET/)
    assert.match(text, /"x-team":"<redacted>"/)
    assert.match(text, /"pathAndQuery":"\/\?a=b&who=<redacted>"/)
    assert.match(text, /"apiKey":\{"name":"alice","group":"a"\}/)
  })

  test('end with an answer of the gateway itself, and with a client that leaves', async (t) => {
    const origin = await useOrigin(t, () => {})
    const direct = { policies: { directResponse: { status: 418, body: 'no' } }, ...pathPrefix('/direct') }
    const gateway = await useGateway(t, httpConfig([direct, routeTo(origin, {}, pathPrefix('/slow'))]))
    for (const [path, last] of [
      ['/direct', 418],
      ['/nowhere', 404],
    ] as const) {
      const traced = gateway.trace()
      await request(gateway.port(), { path })
      const events = await traced
      assert.equal(events.at(-1)!.message.type, 'requestFinished')
      assert.equal(events.at(-1)!.message['status'], last)
      assert.ok(!types(events).includes('backendCallStart'))
    }
    const traced = gateway.trace('request.path == "/slow"')
    const controller = new AbortController()
    const arrived = once(origin.server, 'request')
    const lost = fetch(`http://127.0.0.1:${gateway.port()}/slow`, { signal: controller.signal })
    await arrived
    controller.abort()
    await assert.rejects(lost)
    assert.equal((await traced).at(-1)!.message.type, 'requestFinished')
  })

  test('are made for nobody while nobody watches', async (t) => {
    const claim = t.mock.method(TraceWatch.prototype, 'claim')
    const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200 } } }]))
    await request(gateway.port())
    assert.equal(claim.mock.callCount(), 0)
    const traced = gateway.trace()
    await request(gateway.port())
    await traced
    await request(gateway.port())
    assert.equal(claim.mock.callCount(), 1)
  })
})

/** The twelve events, each once; `policy` events may stand between them. */
function assertOrder(found: string[]): void {
  assert.deepEqual(
    found.filter((type) => type !== 'policy'),
    TRACE_ORDER,
  )
}

async function useTwoWorkers(t: TestContext) {
  const origin = await useOrigin(t)
  const { file } = useConfigFile(t, {
    config: { workers: 2 },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [routeTo(origin)] }] }],
  })
  return { program: await useProgram(t, { args: ['-f', file] }), origin }
}
