import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { Client, credentials } from '@grpc/grpc-js'
import { WebSocket, WebSocketServer } from 'ws'
import { type Check, denied, NO, ok, option, useAuthorizer } from '../testing/services/authorizer.ts'
import { request } from '../testing/client.ts'
import { FakeTime } from '../testing/fake-time.ts'
import { useTextServer } from '../testing/services/grpc.ts'
import { counting, useLimitServer } from '../testing/services/limit-server.ts'
import { useMcpScene } from '../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../testing/mcp/mcp-server.ts'
import type { OriginHandler } from '../testing/origin.ts'
import { useGrpcCollector } from '../testing/otlp/otlp-collector.ts'
import {
  agree,
  answerTo,
  bytesOf,
  headers,
  immediate,
  partsOf,
  piece,
  type Process,
  useAnsweringProcessor,
} from '../testing/services/processor.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../testing/scene.ts'
import { useSilentLink } from '../testing/http/silent-link.ts'

/** Pairs of policies that both call a service. */

const heads = { requestBodyMode: 'None', responseBodyMode: 'None' }
const whole = { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' }
const byUser = { entries: [{ name: 'user', expression: 'request.headers["x-user"]' }] }

/** Fails as often as it is told to, then answers with what it got. */
const failing = (times: number): OriginHandler => {
  let asked = 0
  return ({ body }, response) => response.writeHead(asked++ < times ? 503 : 200).end(body)
}

const shouting: Process = (message) => {
  const part = message.request
  if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return agree(message)
  const text = Buffer.from(part.value.body).toString().toUpperCase()
  return piece(part.$case, Buffer.from(text), part.value.endOfStream)
}

describe('an authorizer', () => {
  const setsHeaders: Check = () =>
    ok({ headers: [option('x-who', 'ann')], responseHeadersToAdd: [option('x-judged', '1')] })

  test('is asked once about a request that is sent several times, and each time goes what it said', async (t) => {
    const origin = await useOrigin(t, failing(2))
    const authorizer = await useAuthorizer(t, setsHeaders)
    const extAuth = { backendRef: { host: authorizer.host }, forwardBody: { maxSize: 3 }, timeout: '60s' }
    const retry = { attempts: 3, codes: [503] }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth, retry })]))
    const answer = await request(gateway.port(), { method: 'POST', body: 'question' })
    assert.deepEqual([answer.status, answer.body, answer.headers['x-judged']], [200, 'question', '1'])
    assert.equal(authorizer.seen.length, 1)
    assert.deepEqual(
      origin.seen.map((seen) => [seen.body, seen.headers['x-who']]),
      Array(3).fill(['question', 'ann']),
    )
  })

  test('is not asked about a preflight, and what it refuses is neither mirrored, counted nor processed', async (t) => {
    const [origin, mirror] = [await useOrigin(t), await useOrigin(t)]
    const authorizer = await useAuthorizer(t, () => denied({ status: { code: 401 } }))
    const limits = await useLimitServer(t, counting(9))
    const processor = await useAnsweringProcessor(t, agree)
    const gateway = await useGateway(
      t,
      httpConfig([
        routeTo(origin, {
          cors: { allowOrigins: ['https://shop.example'], allowMethods: ['PUT'] },
          extAuth: { backendRef: { host: authorizer.host }, timeout: '60s' },
          rateLimit: { global: { backendRef: { host: limits.host }, domain: 'd', descriptors: [byUser] } },
          extProc: { backendRef: { host: processor.host } },
          requestMirror: { backend: mirror.host },
        }),
      ]),
    )
    const origins = { origin: 'https://shop.example', 'x-user': 'ann' }
    const preflight = { ...origins, 'access-control-request-method': 'PUT' }
    const allowed = await request(gateway.port(), { method: 'OPTIONS', headers: preflight })
    assert.equal(allowed.headers['access-control-allow-methods'], 'PUT')
    assert.equal(authorizer.seen.length, 0)
    const refused = await request(gateway.port(), { headers: origins })
    assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, 'https://shop.example'])
    assert.deepEqual(
      [authorizer.seen.length, limits.seen.length, processor.streams, origin.seen.length, mirror.seen.length],
      [1, 0, 0, 0, 0],
    )
  })

  test('decides about a WebSocket before it is one', async (t) => {
    const origin = await useOrigin(t)
    let who: unknown
    new WebSocketServer({ server: origin.server }).on('connection', (socket, message) => {
      who = message.headers['x-who']
      socket.on('message', (data) => socket.send(data, { binary: false }))
    })
    const authorizer = await useAuthorizer(t, (asked) =>
      asked.attributes?.request?.http?.path === '/no' ? NO : setsHeaders(asked),
    )
    const extAuth = { backendRef: { host: authorizer.host }, timeout: '60s' }
    const limits = await useLimitServer(t, counting(1))
    const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]
    const rateLimit = { global: { backendRef: { host: limits.host }, domain: 'd', descriptors, timeout: '60s' } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth, rateLimit })]))
    const open = async (path: string): Promise<WebSocket | number> => {
      const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}${path}`)
      const [outcome] = await Promise.race([
        once(client, 'open').then(() => [client]),
        once(client, 'unexpected-response').then(([, { statusCode }]) => [statusCode as number]),
      ])
      return outcome ?? 0
    }
    assert.equal(await open('/no'), 403)
    const client = await open('/yes')
    assert.ok(client instanceof WebSocket)
    assert.equal(who, 'ann')
    client.send('hello')
    assert.equal(String(((await once(client, 'message')) as [Buffer])[0]), 'hello')
    assert.equal(await open('/again'), 429)
    client.close()
  })
})

describe('a processor', () => {
  for (const [name, processingOptions, process] of [
    ['streamed', {}, shouting],
    [
      'whole',
      whole,
      (message) =>
        message.request?.$case === 'requestBody' ? answerTo('requestBody', bodyOfText('NEW')) : answerOf(message),
    ],
  ] as [string, object, Process][]) {
    test(`gives mirrors what it gives the backend, and never sees their answers: ${name}`, async (t) => {
      const origin = await useOrigin(t)
      const mirror = await useOrigin(t, (_seen, response) => response.end('of the mirror'))
      const processor = await useAnsweringProcessor(t, (message) =>
        message.request?.$case === 'requestHeaders'
          ? answerTo('requestHeaders', headers({ 'x-set': 'yes' }))
          : process(message),
      )
      const extProc = { backendRef: { host: processor.host }, processingOptions, messageTimeout: '60s' }
      const policies = { extProc, requestMirror: { backend: mirror.host } }
      const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
      const answer = await request(gateway.port(), { method: 'POST', body: 'new' })
      assert.equal(answer.status, 200)
      await until(() => mirror.seen.length === 1)
      for (const { seen } of [origin, mirror])
        assert.deepEqual([seen[0]?.body, seen[0]?.headers['x-set']], ['NEW', 'yes'])
      assert.equal(processor.streams, 1)
      assert.doesNotMatch(bytesOf(processor.seen, 'responseBody'), /mirror/)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  test('makes clients that wait for it send their bodies', async (t) => {
    const processor = await useAnsweringProcessor(t, agree)
    for (const processingOptions of [{}, whole, heads]) {
      const origin = await useOrigin(t)
      const extProc = { backendRef: { host: processor.host }, processingOptions, messageTimeout: '60s' }
      const processed = processingOptions === whole ? await useAnsweringProcessor(t, answerOf) : processor
      const policies = { extProc: { ...extProc, backendRef: { host: processed.host } } }
      const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
      const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
      let received = ''
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n')
      await until(() => received.startsWith('HTTP/1.1 100'))
      socket.write('body')
      await until(() => received.includes('HTTP/1.1 200'))
      assert.equal(origin.seen[0]?.body, 'body')
      socket.destroy()
    }
  })

  test('that refuses a body unseen leaves a client that waits without a 100', async (t) => {
    const origin = await useOrigin(t)
    const processor = await useAnsweringProcessor(t, () => immediate(413, 'too long'))
    const extProc = { backendRef: { host: processor.host }, processingOptions: whole, messageTimeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    const answer = await request(gateway.port(), {
      method: 'POST',
      headers: { 'content-length': '9000000', expect: '100-continue' },
    })
    assert.deepEqual([answer.status, answer.body, origin.seen.length], [413, 'too long', 0])
  })

  test('stands in a call of gRPC that streams both ways', async (t) => {
    const port = await useTextServer(t, {
      Talk(call: NodeJS.ReadWriteStream) {
        call.on('data', (text: string) => call.write(`heard ${text}`))
        call.on('end', () => call.end())
      },
    })
    const processor = await useAnsweringProcessor(t, agree)
    const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo({ host: `127.0.0.1:${port}` }, { extProc })]))
    const client = new Client(`127.0.0.1:${gateway.port()}`, credentials.createInsecure())
    t.after(() => client.close())
    const [asBytes, asText] = [(text: string) => Buffer.from(text), (bytes: Buffer) => bytes.toString()]
    const call = client.makeBidiStreamRequest('/test.Texts/Talk', asBytes, asText)
    const heard: string[] = []
    call.on('data', (text: string) => heard.push(text))
    // Each answer comes while the call goes on.
    for (const text of ['one', 'two', 'three']) {
      call.write(text)
      await until(() => heard.at(-1) === `heard ${text}`)
    }
    const status = once(call, 'status')
    call.end()
    assert.equal(((await status) as [{ code: number }])[0].code, 0)
    assert.deepEqual(
      new Set(partsOf(processor.seen)),
      new Set(['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody', 'responseTrailers']),
    )
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]?.grpcStatus, gateway.bugs], [0, []])
  })

  test('has nothing to wait for in answers without a body', async (t) => {
    const origin = await useOrigin(t, ({ url, method }, response) => {
      if (method === 'HEAD') response.setHeader('content-length', '9')
      response.writeHead(url === '/none' ? 204 : url === '/same' ? 304 : 200).end()
    })
    const processor = await useAnsweringProcessor(t, agree)
    const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    for (const [method, path, status] of [
      ['GET', '/none', 204],
      ['GET', '/same', 304],
      ['HEAD', '/', 200],
    ] as const) {
      processor.seen.length = 0
      assert.equal((await request(gateway.port(), { method, path })).status, status)
      const last = processor.seen.at(-1)?.request
      assert.ok(last?.$case === 'responseHeaders' && last.value.endOfStream, path)
    }
    await until(() => processor.ended === 3)
  })

  test('passes on what a backend says before it has the whole body', async (t) => {
    const early = await useTcpServer(t, (socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\nconnection: close\r\n\r\nno!'),
      )
    })
    const processor = await useAnsweringProcessor(t, agree)
    const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo(early, { extProc })]))
    const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9000000\r\n\r\nfirst')
    // The response is either chunked or has a length, because the whole new body may be there when the head is written.
    await until(() => /\r\n\r\n(no!|3\r\nno!\r\n0\r\n\r\n)$/.test(received))
    assert.match(received, /^HTTP\/1.1 413/)
    await until(() => processor.ended + processor.cancelled === 1)
    socket.destroy()
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]?.status, gateway.bugs], [413, []])
  })

  test('is one call in the spans of a request that is sent twice', async (t) => {
    const origin = await useOrigin(t, failing(1))
    const processor = await useAnsweringProcessor(t, agree)
    const collector = await useGrpcCollector(t)
    const tracing = { backendRef: { host: collector.host }, randomSampling: true }
    const policies = { extProc: { backendRef: { host: processor.host } }, retry: { attempts: 1, codes: [503] } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)], { frontend: { tracing } }))
    assert.equal((await request(gateway.port(), { method: 'POST', body: 'x' })).status, 200)
    await collector.taken(4)
    const count = (what: string) =>
      collector.spans.filter(({ attributes }) => attributes['portico.call'] === what).length
    assert.deepEqual([count('extProc'), count('backend')], [1, 2])
  })
})

describe('with language models', () => {
  const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }
  const says =
    (content: string): OriginHandler =>
    (_seen, response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
    }
  const chat = (content: string) => ({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', 'x-user': 'ann' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
  })
  const providerAt = (name: string, { port }: { port: number }) => ({ name, openai: {}, host: '127.0.0.1', port })

  async function setUp(t: TestContext, handlers: OriginHandler[], policies: object) {
    const models = await Promise.all(handlers.map((handler) => useOrigin(t, handler)))
    const groups = models.map((model, index) => ({ providers: [providerAt(`p${index}`, model)] }))
    const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
    return { models, gateway }
  }

  test('a rate limit service is called once before and once after, whichever provider responded', async (t) => {
    const limits = await useLimitServer(t, counting(1000))
    const descriptors = [byUser, { ...byUser, unit: 'Tokens' }]
    const rateLimit = { global: { backendRef: { host: limits.host }, domain: 'd', descriptors, timeout: '60s' } }
    const trouble: OriginHandler = (_seen, response) => response.writeHead(503).end('{}')
    const { models, gateway } = await setUp(t, [trouble, trouble, says('hi')], { rateLimit })
    assert.equal((await request(gateway.port(), chat('hello'))).status, 200)
    assert.deepEqual(
      models.map(({ seen }) => seen.length),
      [1, 1, 1],
    )
    await until(() => limits.seen.length === 2)
    assert.deepEqual(
      limits.seen.map((asked) => asked.descriptors.map(({ hits }) => hits)),
      [[null, 0], [42]],
    )
    await gateway.finished(1)
    assert.deepEqual(gateway.bugs, [])
  })

  test('a rate limit service that denies keeps the request from every provider, and the error has the format of providers', async (t) => {
    const limits = await useLimitServer(t, counting(0))
    const rateLimit = {
      global: { backendRef: { host: limits.host }, domain: 'd', descriptors: [byUser], timeout: '60s' },
    }
    const { models, gateway } = await setUp(t, [says('hi'), says('hi')], { rateLimit })
    const { status, body } = await request(gateway.port(), chat('hello'))
    assert.equal(status, 429)
    assert.match(body, /rate limit exceeded/)
    assert.deepEqual(
      models.map(({ seen }) => seen.length),
      [0, 0],
    )
  })

  test('a processor sees what guards have left of an answer, and nothing of one that they refuse to ask for', async (t) => {
    const processor = await useAnsweringProcessor(t, agree)
    const promptGuard = {
      request: [{ regex: { matches: ['Atlantis'], action: 'Reject' } }],
      response: [{ regex: { matches: ['Ithaca'], action: 'Mask' } }],
    }
    const policies = { extProc: { backendRef: { host: processor.host } }, backend: { ai: { promptGuard } } }
    const { models, gateway } = await setUp(t, [says('to Ithaca')], policies)
    const masked = await request(gateway.port(), chat('where?'))
    assert.equal(masked.status, 200)
    assert.doesNotMatch(masked.body, /Ithaca/)
    assert.equal(bytesOf(processor.seen, 'responseBody'), masked.body)
    processor.seen.length = 0
    const refused = await request(gateway.port(), chat('Atlantis'))
    assert.equal(refused.status, 403)
    assert.deepEqual(
      partsOf(processor.seen).filter((part) => part.startsWith('response')),
      [],
    )
    await until(() => processor.ended + processor.cancelled === 2)
    assert.equal(models[0]?.seen.length, 1)
    assert.deepEqual(gateway.bugs, [])
  })

  test('a processor that fails at an answer fails it, and tokens are counted all the same', async (t) => {
    const limits = await useLimitServer(t, counting(1000))
    const rateLimit = {
      global: {
        backendRef: { host: limits.host },
        domain: 'd',
        descriptors: [{ ...byUser, unit: 'Tokens' }],
        timeout: '60s',
      },
    }
    const processor = await useAnsweringProcessor(t, (message) => {
      if (message.request?.$case === 'responseHeaders') throw new Error('broken')
      return agree(message)
    })
    const { gateway } = await setUp(t, [says('hi')], { rateLimit, extProc: { backendRef: { host: processor.host } } })
    const { status } = await request(gateway.port(), chat('hello'))
    assert.equal(status, 500)
    await until(() => limits.seen.length === 2)
    assert.ok((limits.seen[1]?.descriptors[0]?.hits ?? 0) > 0)
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]?.reason, gateway.bugs], ['ExtProc', []])
  })
})

/** To parts that were sent whole: they stay. */
function answerOf(message: Parameters<Process>[0]): ReturnType<Process> {
  const part = message.request
  return part === undefined ? null : answerTo(part.$case)
}

function bodyOfText(text: string): Parameters<typeof answerTo>[1] {
  return { bodyMutation: { mutation: { $case: 'body', value: Buffer.from(text) } } }
}

describe('services that policies ask', () => {
  const askedAbout = async (t: TestContext, allowed: number) => {
    const authorizer = await useAuthorizer(t, () => ok({}))
    const limits = await useLimitServer(t, counting(allowed))
    const processor = await useAnsweringProcessor(t, agree)
    const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]
    const policies = {
      extAuth: { backendRef: { host: authorizer.host }, timeout: '60s' },
      rateLimit: { global: { backendRef: { host: limits.host }, domain: 'd', descriptors, timeout: '60s' } },
      extProc: { backendRef: { host: processor.host }, processingOptions: heads, messageTimeout: '60s' },
    }
    const counts = (): number[] => [
      authorizer.seen.length,
      limits.seen.length,
      processor.seen.filter(({ request: part }) => part?.$case === 'requestHeaders').length,
    ]
    return { policies, counts }
  }

  test('are asked about each stream of an HTTP/2 connection, and refuse it alone', async (t) => {
    const { policies, counts } = await askedAbout(t, 4)
    const origin = await useOrigin(t)
    const backend = { http: { version: 'HTTP1' } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { ...policies, backend })]))
    const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
    t.after(() => session.destroy())
    const route = { ':path': '/', 'content-type': 'text/plain' }
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const stream = session.request({ ...route, ':method': index % 2 === 0 ? 'GET' : 'POST' })
        stream.end(index % 2 === 0 ? undefined : 'body')
        const [fields] = (await once(stream, 'response')) as [{ ':status': number }]
        stream.resume()
        await once(stream, 'close')
        return fields[':status']
      }),
    )
    assert.deepEqual(
      statuses.toSorted((one, other) => one - other),
      [200, 200, 200, 200, 429, 429],
    )
    assert.deepEqual(counts(), [6, 6, 4])
    assert.deepEqual(gateway.bugs, [])
  })

  test('stand before MCP servers, and a session goes on after what was refused', async (t) => {
    const { policies, counts } = await askedAbout(t, 3)
    const server = await useMcpServer(t)
    const { gateway, caller } = await useMcpScene(t, { one: server }, { policies })
    const session = await caller.begin()
    const before = counts()
    assert.deepEqual(before, [2, 2, 2], 'a session begins with two messages')
    assert.equal((await session.ask('tools/list')).status, 200)
    assert.equal((await session.ask('tools/list')).status, 429)
    assert.deepEqual(counts(), [4, 4, 3])
    assert.deepEqual(gateway.bugs, [])
  })

  test('cost one request when their connection dies without a word', async (t) => {
    const authorizer = await useAuthorizer(t, () => ok({}))
    const way = await useSilentLink(t, Number(authorizer.host.split(':')[1]))
    const time = new FakeTime()
    const extAuth = { backendRef: { host: way.host }, timeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo(await useOrigin(t), { extAuth })]), {
      deadlines: time.deadlines,
    })
    const ask = async (): Promise<number> => {
      const answer = request(gateway.port()).then(({ status }) => status)
      for (;;) {
        const status = await Promise.race([answer, time.advance(100).then(() => null)])
        if (status !== null) return status
      }
    }
    assert.equal(await ask(), 200)
    way.goSilent()
    assert.equal(await ask(), 403)
    for (let i = 0; i < 3; i++) assert.equal(await ask(), 200)
    assert.equal(way.connections, 2)
  })
})
