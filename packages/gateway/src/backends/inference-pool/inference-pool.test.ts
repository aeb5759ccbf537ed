import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { explain } from '../../explain/explain.ts'
import { request } from '../../testing/client.ts'
import { FakeTime } from '../../testing/fake-time.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import type { Origin, OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, until, useGateway, useOrigin } from '../../testing/scene.ts'
import { offeredIn, type Pick, type PickerOptions, servedIn, usePicker } from '../../testing/services/picker.ts'
import { answerTo, immediate } from '../../testing/services/processor.ts'

interface Scene extends PickerOptions {
  pick?: Pick
  failureMode?: 'FailOpen' | 'FailClosed'
  policies?: object
  answer?: OriginHandler
  /** Members of the pool; two model servers when unset. */
  members?: (servers: Origin[]) => string[]
  picker?: string
  time?: FakeTime
}

/** Two model servers, which answer with their address, behind a pool. */
async function setUp(t: TestContext, scene: Scene = {}) {
  const answer: OriginHandler = scene.answer ?? ((seen, response) => response.end(`${seen.headers.host}: ${seen.body}`))
  const servers = [await useOrigin(t, answer), await useOrigin(t, answer)]
  const hosts = servers.map(({ host }) => host)
  const picker = await usePicker(t, scene.pick ?? (() => hosts[1]!), scene)
  const inferencePool = {
    endpoints: scene.members?.(servers) ?? hosts,
    picker: {
      backendRef: { host: scene.picker ?? picker.host },
      ...(scene.failureMode !== undefined && { failureMode: scene.failureMode }),
    },
  }
  const routes = [{ policies: scene.policies ?? {}, backends: [{ inferencePool }] }]
  const options = scene.time === undefined ? {} : { deadlines: scene.time.deadlines }
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { recorder: { sampling: 'true' } } }), options)
  const ask = (body = 'hi', more: object = {}) => request(gateway.port(), { method: 'POST', body, ...more })
  return { servers, hosts, picker, gateway, ask }
}

function explained(gateway: TestGateway) {
  const ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
  return explain(gateway.recorded()[0]!, { isKnown: true, isEarlier: false, live: 1, ir, locate: () => null })
}

for (const bodies of ['stream', 'plain'] as const) {
  test(`the picker's endpoint serves the request; bodies: ${bodies}`, async (t) => {
    const { servers, hosts, picker, gateway, ask } = await setUp(t, { bodies, servedHeader: 'x-served' })
    const long = 'word '.repeat(100_000)
    const answer = await ask(long)
    assert.equal(answer.status, 200)
    assert.ok(answer.body.endsWith(`: ${long}`))
    assert.equal(answer.headers['x-served'], hosts[1])
    assert.deepEqual([servers[0]!.seen.length, servers[1]!.seen.length], [0, 1])
    assert.equal(picker.asked[0]?.body, long)
    assert.deepEqual(offeredIn(picker.asked[0]), hosts)
    assert.equal((await request(gateway.port(), {})).status, 200)
    await gateway.finished(2)
    assert.deepEqual(gateway.records[0]?.endpoint, hosts[1])
    await until(() => picker.ended === 2)
    assert.deepEqual([picker.cancelled, gateway.bugs], [0, []])
    assert.match(gateway.metrics(), /portico_inference_picks_total\{backend="inferencePool",outcome="picked"\} 2\n/)
  })
}

for (const bodies of ['stream', 'plain'] as const) {
  test(`the last piece of a body is its end, and no empty piece follows; bodies: ${bodies}`, async (t) => {
    const { picker, gateway, ask } = await setUp(t, { bodies })
    for (let i = 1; i <= 3; i++) {
      assert.equal((await ask('hello')).body, 'test.example: hello')
      await until(() => picker.ended === i)
    }
    const pieces = picker.seen.flatMap(({ request: part }) =>
      part?.$case === 'requestBody' || part?.$case === 'responseBody'
        ? [[part.$case, Buffer.from(part.value.body).length, part.value.endOfStream]]
        : [],
    )
    const each = [
      ['requestBody', 5, true],
      ['responseBody', 'test.example: hello'.length, true],
    ]
    assert.deepEqual(pieces, [...each, ...each, ...each])
    assert.deepEqual([picker.cancelled, gateway.bugs], [0, []])
  })
}

test('trailers follow a body whose length was announced', async (t) => {
  const origin = createHttp2Server((seen, response) => {
    seen.resume()
    response.setHeader('content-length', '5')
    response.addTrailers({ 'x-checksum': 'abc' })
    response.end('hello')
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  t.after(() => origin.close())
  const host = `127.0.0.1:${(origin.address() as AddressInfo).port}`
  for (const bodies of ['stream', 'plain'] as const) {
    const picker = await usePicker(t, () => host, { bodies })
    const inferencePool = { endpoints: [host], picker: { backendRef: { host: picker.host } } }
    const backendPolicies = { http: { version: 'HTTP2' } }
    const backends = [{ inferencePool, policies: backendPolicies }]
    const gateway = await useGateway(t, httpConfig([{ backends }]))
    const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
    t.after(() => session.destroy())
    const stream = session.request({ ':path': '/' })
    const trailers = once(stream, 'trailers')
    let received = ''
    stream.setEncoding('utf8').on('data', (text: string) => (received += text))
    const [fields] = (await trailers) as [Record<string, string>]
    assert.equal(fields['x-checksum'], 'abc')
    await until(() => stream.closed)
    assert.equal(received, 'hello')
    assert.deepEqual(gateway.bugs, [])
  }
})

test('endpoints are tried in the order of the picker, and the record says why the next one was tried', async (t) => {
  const dead = `127.0.0.1:${await closedPort()}`
  const { servers, hosts, picker, gateway, ask } = await setUp(t, {
    members: ([first, second]) => [first!.host, dead, second!.host],
    pick: () => `${dead}, ${hosts[1]}, ${hosts[0]}`,
  })
  assert.equal((await ask()).status, 200)
  assert.deepEqual([servers[0]!.seen.length, servers[1]!.seen[0]?.body], [0, 'hi'])
  await until(() => picker.seen.some((message) => servedIn(message) === hosts[1]))
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.deepEqual(
    record?.calls?.map(({ target, error }) => [target, error?.split(':')[0]]),
    [
      [dead, 'connect_failed'],
      [hosts[1], undefined],
    ],
  )
  assert.partialDeepStrictEqual(record?.variables?.inferencePool, {
    picked: [dead, hosts[1], hosts[0]],
    outcome: 'picked',
    served: hosts[1],
  })
})

test('an address that is no member of the pool is never dialed', async (t) => {
  const stranger = await useOrigin(t)
  for (const failureMode of ['FailClosed', 'FailOpen'] as const) {
    const { servers, gateway, ask } = await setUp(t, { failureMode, pick: () => `${stranger.host},10.0.0.1:1` })
    const { status, body } = await ask()
    await gateway.finished(1)
    const { reason } = gateway.records[0]!
    if (failureMode === 'FailClosed') {
      assert.deepEqual([status, body], [503, 'endpoint picker: it named no member of the pool'])
      assert.equal(reason, 'InferencePool')
      const found = explained(gateway)
      assert.equal(found.code, 'no_member_picked')
      assert.match(found.headline, /chose no usable endpoint: it named no member of the pool$/)
      assert.match(gateway.metrics(), /inference_picks_total\{[^}]*outcome="failed"\} 1\n/)
    } else {
      assert.deepEqual([status, reason], [200, 'Upstream'])
      assert.equal(servers[0]!.seen.length + servers[1]!.seen.length, 1)
      assert.match(gateway.metrics(), /inference_picks_total\{[^}]*outcome="fallback"\} 1\n/)
    }
  }
  assert.equal(stranger.seen.length, 0)
})

test('a client cannot name the endpoint', async (t) => {
  const { hosts, picker, ask } = await setUp(t, { pick: () => answerTo('requestHeaders') })
  const sent = { 'x-gateway-destination-endpoint': hosts[0], 'x-gateway-destination-endpoint-subset': hosts[0] }
  assert.equal((await ask('hi', { headers: sent })).status, 503)
  const { request: head } = picker.seen[0]!
  const names = head?.$case === 'requestHeaders' ? head.value.headers?.headers.map(({ key }) => key) : []
  assert.deepEqual(
    names?.filter((name) => name.startsWith('x-gateway')),
    [],
  )
})

test('the response of the picker itself goes to the client', async (t) => {
  const { servers, gateway, ask } = await setUp(t, {
    failureMode: 'FailOpen',
    pick: () => immediate(429, 'busy', { 'retry-after': '3' }),
  })
  const { status, body, headers: sent } = await ask()
  assert.deepEqual([status, body, sent['retry-after']], [429, 'busy', '3'])
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'InferencePool')
  const found = explained(gateway)
  assert.equal(found.code, 'picker_answered')
  assert.match(found.headline, /sent its own response, with status 429$/)
  assert.deepEqual([servers[0]!.seen.length, servers[1]!.seen.length], [0, 0])
  assert.match(gateway.metrics(), /inference_picks_total\{[^}]*outcome="answered"\} 1\n/)
})

for (const [what, scene] of Object.entries({
  'is away': { away: true },
  'sends an empty message': { pick: () => ({}) },
  'answers a part that was not sent': { pick: () => answerTo('responseHeaders') },
} satisfies Record<string, { away?: boolean; pick?: Pick }>)) {
  test(`a picker that ${what} fails the request, or leaves the choice to the gateway`, async (t) => {
    const picker = 'away' in scene ? { picker: `127.0.0.1:${await closedPort()}` } : { pick: scene.pick }
    const closed = await setUp(t, picker)
    const { status, body } = await closed.ask()
    assert.equal(status, 503)
    assert.match(body, /^endpoint picker failed: /)
    const open = await setUp(t, { ...picker, failureMode: 'FailOpen' })
    const long = 'x'.repeat(200_000)
    const answer = await open.ask(long)
    assert.equal(answer.status, 200)
    assert.ok(answer.body.endsWith(long))
    await closed.gateway.finished(1)
    const found = explained(closed.gateway)
    assert.equal(found.code, 'picker_failed')
    assert.deepEqual(
      found.wouldPass.map(({ text }) => text),
      ['the endpoint picker works.', '`failureMode` is FailOpen.'],
    )
    for (const { gateway } of [closed, open]) {
      await gateway.finished(1)
      assert.deepEqual(gateway.bugs, [])
    }
  })
}

test('a silent picker is given up after the timeout', async (t) => {
  for (const failureMode of ['FailClosed', 'FailOpen'] as const) {
    const time = new FakeTime()
    const { picker, ask } = await setUp(t, { time, failureMode, pick: () => null })
    const answer = ask()
    await until(() => picker.asked.length === 1)
    await time.advance(5_100)
    const { status, body } = await answer
    if (failureMode === 'FailOpen') assert.equal(status, 200)
    else assert.deepEqual([status, body], [503, 'endpoint picker failed: no answer in time'])
  }
})

test('events of a stream pass one by one', async (t) => {
  let goOn: (() => void) | null = null
  const { gateway } = await setUp(t, {
    answer(_seen, response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      goOn = () => response.end('data: 2\n\n')
    },
  })
  const answer = await fetch(`http://127.0.0.1:${gateway.port()}/`, { method: 'POST', body: '{}' })
  const reader = answer.body!.getReader()
  assert.equal(Buffer.from((await reader.read()).value).toString(), 'data: 1\n\n')
  goOn!()
  assert.equal(Buffer.from((await reader.read()).value).toString(), 'data: 2\n\n')
})

test('a retry asks again, and offers the endpoints that were not tried', async (t) => {
  const { servers, hosts, picker, gateway, ask } = await setUp(t, {
    policies: { retry: { attempts: 1, codes: [503] } },
    pick: (asked) => (offeredIn(asked) as string[])[0]!,
    answer: (seen, response) => {
      response.statusCode = seen.headers['x-retry-attempt'] === undefined ? 503 : 200
      response.end(seen.body)
    },
  })
  const { status, body } = await ask('prompt')
  assert.deepEqual([status, body], [200, 'prompt'])
  assert.deepEqual(picker.asked.map(offeredIn), [hosts, [hosts[1]]])
  assert.deepEqual([servers[0]!.seen.length, servers[1]!.seen.length], [1, 1])
  await gateway.finished(1)
  assert.deepEqual(gateway.bugs, [])
})

test('a retry asks the picker again when its first stream fails', async (t) => {
  let calls = 0
  const { hosts, gateway, ask } = await setUp(t, {
    policies: { retry: { attempts: 1, codes: [503] } },
    pick: () => (++calls === 1 ? {} : hosts[1]!),
  })
  const { status, body } = await ask('prompt')
  assert.deepEqual([status, body.endsWith(': prompt'), calls], [200, true, 2])
  await gateway.finished(1)
  assert.partialDeepStrictEqual(gateway.recorded()[0]?.variables?.inferencePool, {
    outcome: 'picked',
    served: hosts[1],
  })
  assert.deepEqual([gateway.records[0]?.reason, gateway.bugs], ['Upstream', []])
})

test('a picker that dies after the choice does not take the response down', async (t) => {
  const { servers, gateway, picker, ask } = await setUp(t, {
    answer(_seen, response) {
      response.writeHead(200)
      response.write('one ')
      onceAnswered = () => response.end('two')
    },
  })
  let onceAnswered: (() => void) | null = null
  picker.onResponse = (call) => call.destroy(new Error('killed'))
  const answer = ask()
  await until(() => picker.seen.some(({ request: part }) => part?.$case === 'responseHeaders'))
  await until(() => onceAnswered !== null)
  onceAnswered!()
  const { status, body } = await answer
  assert.deepEqual([status, body], [200, 'one two'])
  assert.equal(servers[1]!.seen.length, 1)
  await gateway.finished(1)
  assert.deepEqual(gateway.bugs, [])
})

test('members may have names', async (t) => {
  const { gateway, ask } = await setUp(t, { members: (servers) => servers.map(({ port }) => `localhost:${port}`) })
  assert.equal((await ask()).status, 200)
  await gateway.finished(1)
})
