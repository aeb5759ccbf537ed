import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, vendorStreams } from './test-streams.ts'

/** The conditions that mark a provider unhealthy, the failover of its requests, and their trace, log and metrics. */

const { path, body, textOf } = clientCalls.completions
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const whole = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
}
const works: OriginHandler = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
}

function says(
  status: number,
  text = JSON.stringify({ error: { message: `it says ${status}`, type: 'e' } }),
): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-mood': 'bad' }).end(text)
  }
}

interface Options {
  handlers: readonly (OriginHandler | 'refused')[]
  /** Policies of the whole backend. */
  policies?: object
  /** Policies of each provider, by position. */
  own?: readonly object[]
  traffic?: object
  vendor?: string
  stream?: boolean
}

async function setUp(t: TestContext, { handlers, policies = {}, own = [], traffic = {}, ...options }: Options) {
  const { vendor = 'openai', stream = false } = options
  const origins = await Promise.all(
    handlers.map((handler) => (handler === 'refused' ? Promise.resolve(null) : useOrigin(t, handler))),
  )
  const groups = await Promise.all(
    origins.map(async (origin, at) => {
      const port = origin?.port ?? (await closedPort())
      const provider = { name: `p${at}`, [vendor]: {}, host: '127.0.0.1', port, policies: own[at] ?? {} }
      return { providers: [provider] }
    }),
  )
  const gateway = await useGateway(
    t,
    httpConfig([{ name: 'api', policies: traffic, backends: [{ ai: { groups }, policies }] }]),
  )
  const send = () => {
    const sent = { ...(JSON.parse(body()) as object), stream }
    return request(gateway.port(), { method: 'POST', path, body: JSON.stringify(sent) })
  }
  return { gateway, send, counts: () => origins.map((origin) => origin?.seen.length ?? 0) }
}

test('a condition says what speaks against a provider: it is left out, and the request goes on', async (t) => {
  const health = { unhealthyCondition: 'response.code == 400 && response.headers["x-mood"] == "bad"', eviction: {} }
  const { send, counts, gateway } = await setUp(t, { handlers: [says(400), works], policies: { health } })
  assert.equal((await send()).status, 200)
  assert.deepEqual(counts(), [1, 1])
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    ['p0'],
  )
  assert.equal((await send()).status, 200)
  assert.deepEqual(counts(), [1, 2])
})

test('a failure outside the unhealthy condition does not evict a provider', async (t) => {
  const health = { unhealthyCondition: 'response.code == 418', eviction: {} }
  const { send, counts, gateway } = await setUp(t, { handlers: [says(503), works], policies: { health } })
  for (let i = 1; i <= 2; i++) assert.equal((await send()).status, 200)
  // A failing request still fails over.
  assert.deepEqual([counts(), gateway.evictions], [[2, 2], []])
})

test('a provider may have a condition of its own', async (t) => {
  const strict = { health: { unhealthyCondition: 'response.code == 404', eviction: {} } }
  const lax = { health: { unhealthyCondition: 'false', eviction: {} } }
  const { send, counts, gateway } = await setUp(t, { handlers: [says(404), says(404), works], own: [strict, lax] })
  assert.equal((await send()).status, 404)
  assert.deepEqual(counts(), [1, 1, 0])
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    ['p0'],
  )
})

test('an error in a stream counts as its status would', async (t) => {
  const { start, error, begin, piece, end } = vendorStreams.completions
  const streamed =
    (...records: string[]): OriginHandler =>
    (_seen, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(records.join(''))
  const handlers = [streamed(start, error), streamed(start, begin, piece('hello'), end)]
  const { send, counts, gateway } = await setUp(t, { handlers, stream: true, policies: { health: { eviction: {} } } })
  assert.equal(textOf((await send()).body), 'hello')
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    ['p0'],
  )
  await send()
  assert.deepEqual(counts(), [1, 2])
})

test('codes of a retry move a request on without a word against the provider', async (t) => {
  const traffic = { retry: { attempts: 1, codes: [400] } }
  const policies = { health: { eviction: {} } }
  const { send, counts, gateway } = await setUp(t, { handlers: [says(400), works], traffic, policies })
  assert.equal((await send()).status, 200)
  assert.deepEqual([counts(), gateway.evictions], [[1, 1], []])
})

test('the trace has every call with its own result, in order', async (t) => {
  const { send, gateway } = await setUp(t, { handlers: [says(503), 'refused', works] })
  const events = gateway.trace()
  assert.equal((await send()).status, 200)
  const told = (await events).flatMap(({ message }) => {
    switch (message.type) {
      case 'llmRequest':
        return [`ask ${String(message['provider'])}`]
      case 'backendCallStart':
        return ['start']
      case 'backendCallResult':
        return [`result ${String(message['status'])} ${String(message['error']).split(':')[0]}`]
      case 'llmFailover':
        return [`${String(message['from'])} to ${String(message['to'])}: ${String(message['reason']).split(':')[0]}`]
      default:
        return []
    }
  })
  assert.deepEqual(told, [
    'ask p0',
    'start',
    'result 503 null',
    'p0 to p1: status 503',
    'ask p1',
    'start',
    'result null connect_failed',
    'p1 to p2: connect_failed',
    'ask p2',
    'start',
    'result 200 null',
  ])
})

test('the access log names every attempt, and metrics count failures and failovers', async (t) => {
  const { send, gateway } = await setUp(t, { handlers: [says(503), 'refused', says(200, '<html>'), works] })
  assert.equal((await send()).status, 200)
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / portico\.ai\.attempts=p0:503,p1:connect_failed,p2:unreadable,p3:200 /)
  const counted = (name: string) =>
    gateway
      .metrics()
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .map(
        (line) =>
          `${/provider="([^"]*)"/.exec(line)?.[1]} ${/cause="([^"]*)"/.exec(line)?.[1]} ${line.split(' ').at(-1)}`,
      )
      .toSorted()
  const expected = ['p0 503 1', 'p1 connect_failed 1', 'p2 unreadable 1']
  assert.deepEqual(counted('portico_gen_ai_provider_failures_total'), expected)
  assert.deepEqual(counted('portico_gen_ai_failovers_total'), expected)
})

test('a failure that nobody could mend is a failure and no failover', async (t) => {
  const { send, gateway } = await setUp(t, { handlers: [says(429)] })
  assert.equal((await send()).status, 429)
  await gateway.finished(1)
  assert.doesNotMatch(gateway.lines[0]!, /attempts/)
  assert.match(
    gateway.metrics(),
    /portico_gen_ai_provider_failures_total\{provider="p0",gen_ai_system="openai",cause="429",/,
  )
  assert.doesNotMatch(gateway.metrics(), /portico_gen_ai_failovers_total\{/)
})

test('retries of the same provider are attempts too', async (t) => {
  let calls = 0
  const flaky: OriginHandler = (seen, response, message) => (++calls === 1 ? says(503) : works)(seen, response, message)
  const { send, gateway } = await setUp(t, { handlers: [flaky], traffic: { retry: { attempts: 1, codes: [503] } } })
  assert.equal((await send()).status, 200)
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / portico\.ai\.attempts=p0:503,p0:200 /)
})

for (const vendor of ['openai', 'anthropic']) {
  for (const [name, text] of [
    ['no JSON', '<html>Welcome to the network</html>'],
    ['JSON of something else', '[1,2]'],
    ['nothing', ''],
  ]) {
    test(`${vendor}: a whole answer that is ${name} goes to the next group`, async (t) => {
      const handlers = [says(200, text), says(500), says(200, text)]
      const { send, counts, gateway } = await setUp(t, { vendor, handlers })
      const { status, body } = await send()
      assert.deepEqual([status, /could not be read/.test(body)], [502, true])
      assert.deepEqual(counts(), [1, 1, 1])
      await gateway.finished(1)
      assert.match(gateway.lines[0]!, /attempts=p0:unreadable,p1:500,p2:unreadable /)
    })
  }
}

test('a whole answer that breaks off goes to the next group', async (t) => {
  const breaks: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
    response.write('{"id":', () => response.destroy())
  }
  const { send } = await setUp(t, { handlers: [breaks, works] })
  const { status, body } = await send()
  assert.deepEqual([status, textIn(body)], [200, 'hello'])
})

test('a large answer passes, though it is not read', async (t) => {
  const large = { ...whole, padding: 'x'.repeat(3_000_000) }
  const { send } = await setUp(t, { handlers: [says(200, JSON.stringify(large)), works] })
  const { status, body } = await send()
  assert.deepEqual([status, body.length], [200, JSON.stringify(large).length])
})

const encoders = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync }

for (const [encoding, encode] of Object.entries(encoders)) {
  test(`${encoding}: answers are unpacked, whole, streamed and errors`, async (t) => {
    const { start, begin, piece, end } = vendorStreams.completions
    const streamed = start + begin + piece('hello') + end
    const handler: OriginHandler = (seen, response) => {
      const asked = JSON.parse(seen.body) as { stream?: boolean; messages: { content: string }[] }
      const isBad = asked.messages[0]!.content === 'fail'
      const text = isBad ? '{"error":{"message":"no","type":"e"}}' : asked.stream ? streamed : JSON.stringify(whole)
      const type = asked.stream ? 'text/event-stream' : 'application/json'
      response.writeHead(isBad ? 400 : 200, { 'content-type': type, 'content-encoding': encoding })
      response.end(encode(Buffer.from(text)))
    }
    const { gateway } = await setUp(t, { handlers: [handler] })
    const ask = async (stream: boolean, content: string) =>
      request(gateway.port(), {
        method: 'POST',
        path,
        body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] }),
      })
    const first = await ask(false, 'hi')
    assert.deepEqual([textIn(first.body), first.headers['content-encoding']], ['hello', undefined])
    const second = await ask(true, 'hi')
    assert.deepEqual([textOf(second.body), second.headers['content-encoding']], ['hello', undefined])
    assert.deepEqual(JSON.parse((await ask(false, 'fail')).body), { error: { message: 'no', type: 'e' } })
    await gateway.finished(3)
    for (const { llm } of gateway.records.slice(0, 2)) assert.ok(llm!.totalTokens > 0)
  })
}

test('a bomb is not unpacked, and an encoding that nobody knows goes to the next group', async (t) => {
  const bomb: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(gzipSync(Buffer.alloc(50_000_000, ' ')))
  }
  const odd: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'snappy' }).end('x')
  }
  const one = await setUp(t, { handlers: [bomb], vendor: 'anthropic' })
  assert.equal((await one.send()).status, 502)
  const two = await setUp(t, { handlers: [odd, works] })
  assert.equal((await two.send()).status, 200)
  assert.deepEqual(two.counts(), [1, 1])
})

test('a key that the provider repeats is hidden from the client and from the trace', async (t) => {
  const text = JSON.stringify({ error: { message: 'Incorrect API key provided: sk-gateway-1234567', type: 'e' } })
  for (const [vendor, status] of [
    ['openai', 401],
    ['anthropic', 401],
    ['openai', 503],
  ] as const) {
    const policies = { auth: { key: 'sk-gateway-1234567' } }
    const { send, gateway } = await setUp(t, { vendor, handlers: [says(status, text)], policies })
    const events = gateway.trace()
    const { body, headers } = await send()
    assert.match(body, /Incorrect API key provided: \[redacted\]/)
    assert.equal(headers['content-length'] ?? String(body.length), String(body.length))
    await gateway.finished(1)
    assert.doesNotMatch(JSON.stringify(await events) + gateway.lines.join(), /sk-gateway/)
  }
})

test('a key in an error within a stream is hidden where it moves the request on', async (t) => {
  const record = `data: ${JSON.stringify({ error: { message: 'bad key sk-gateway-1234567', code: 500, type: 'server_error' } })}\n\n`
  const handler: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(record)
  }
  const policies = { auth: { key: 'sk-gateway-1234567' } }
  const { send, gateway } = await setUp(t, { handlers: [handler, handler], policies, stream: true })
  const events = gateway.trace()
  const { body } = await send()
  assert.match(body, /bad key \[redacted\]/)
  assert.doesNotMatch(JSON.stringify(await events), /sk-gateway/)
})

for (const vendor of ['openai', 'anthropic'] as const) {
  test(`${vendor}: a key in an error behind the first content is hidden too`, async (t) => {
    const { start, begin, piece } = vendorStreams[vendor === 'openai' ? 'completions' : 'messages']
    const error = { message: 'bad key sk-gateway-1234567', type: 'api_error' }
    const event = vendor === 'openai' ? '' : 'event: error\n'
    const record = `${event}data: ${JSON.stringify({ type: 'error', error })}\n\n`
    const handler: OriginHandler = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + begin + piece('hello') + record)
    }
    const policies = { auth: { key: 'sk-gateway-1234567' } }
    const { send } = await setUp(t, { handlers: [handler], policies, vendor, stream: true })
    const { body } = await send()
    assert.equal(textOf(body), 'hello')
    assert.match(body, /bad key \[redacted\]/)
    assert.doesNotMatch(body, /sk-gateway/)
  })
}

function textIn(body: string): string {
  const { choices } = JSON.parse(body) as typeof whole
  return choices[0]!.message.content
}
