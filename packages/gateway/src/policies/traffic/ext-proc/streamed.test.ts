import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as sendHttp } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import {
  agree,
  answerTo,
  bytesOf,
  complete,
  headers,
  immediate,
  partsOf,
  piece,
  type Process,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/services/processor.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import type { ProcessingRequest } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'

async function setUp(
  t: TestContext,
  process: Process,
  more: { extProc?: object; policies?: object; answer?: OriginHandler; time?: FakeTime } = {},
) {
  const origin = await useOrigin(t, more.answer)
  const processor = await useAnsweringProcessor(t, process)
  const extProc = { backendRef: { host: processor.host }, ...more.extProc }
  const options = more.time === undefined ? {} : { deadlines: more.time.deadlines }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc, ...more.policies })]), options)
  return { origin, processor, gateway, ask: (sent = {}) => request(gateway.port(), sent) }
}

/** Agrees, but for the letters of bodies. */
const shouting: Process = ({ request: part, ...rest }) => {
  if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return agree({ request: part, ...rest })
  const text = Buffer.from(part.value.body).toString().toUpperCase()
  return piece(part.$case, Buffer.from(text), part.value.endOfStream)
}

test('bodies go through the processor both ways, and it may change them', async (t) => {
  const { origin, processor, gateway, ask } = await setUp(t, shouting, {
    answer: (seen, response) => response.end(`you said ${seen.body}`),
  })
  const answer = await ask({ method: 'POST', body: 'hello' })
  assert.equal(origin.seen[0]?.body, 'HELLO')
  // The request has a content length only if the whole new body is there when the head is written.
  assert.match(origin.seen[0]?.headers['content-length'] ?? '5', /^5$/)
  assert.equal(answer.body, 'YOU SAID HELLO')
  assert.equal(bytesOf(processor.seen, 'requestBody'), 'hello')
  assert.deepEqual(processor.seen[0]?.protocolConfig?.requestBodyMode, 4)
  // The connections on both sides serve the next one too.
  for (let i = 0; i < 3; i++) assert.equal((await ask({ method: 'POST', body: `n${i}` })).body, `YOU SAID N${i}`)
  assert.equal((await ask()).body, 'YOU SAID ')
  await until(() => processor.ended === 5)
  assert.equal(processor.cancelled, 0)
  assert.deepEqual(gateway.bugs, [])
})

test('a body of another length is never announced with the old one', async (t) => {
  const doubling: Process = ({ request: part, ...rest }) => {
    if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return agree({ request: part, ...rest })
    const { body, endOfStream } = part.value
    return piece(part.$case, Buffer.concat([Buffer.from(body), Buffer.from(body)]), endOfStream)
  }
  const { origin, gateway, ask } = await setUp(t, doubling, { answer: (seen, response) => response.end(seen.body) })
  for (let i = 0; i < 20; i++) {
    const body = 'x'.repeat(i * 97 + 1)
    const answer = await ask({ method: 'POST', body })
    assert.equal(answer.body, body.repeat(4))
    assert.match(answer.headers['content-length'] ?? `${body.length * 4}`, new RegExp(`^${body.length * 4}$`))
    assert.equal(origin.seen[i]?.body, body.repeat(2))
    assert.match(origin.seen[i]?.headers['content-length'] ?? `${body.length * 2}`, new RegExp(`^${body.length * 2}$`))
  }
  assert.deepEqual(gateway.bugs, [])
})

test('large bodies come through whole, over HTTP/2 too', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(seen.body.toLowerCase()))
  const processor = await useAnsweringProcessor(t, shouting)
  const backend = { host: origin.host, policies: { http: { version: 'HTTP1' } } }
  const extProc = { backendRef: { host: processor.host } }
  const gateway = await useGateway(t, httpConfig([{ policies: { extProc }, backends: [backend] }]))
  const body = 'abcdefghij'.repeat(300_000)
  const { body: plain } = await request(gateway.port(), { method: 'POST', body })
  assert.ok(plain === body.toUpperCase(), `${plain.length} letters came: ${plain.slice(0, 99)}`)
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/' })
  let received = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
  stream.end(body)
  await once(stream, 'end')
  assert.ok(received === body.toUpperCase(), `${received.length} letters came`)
})

test('events leave as they come', async (t) => {
  let next = (): void => {}
  const { gateway } = await setUp(t, shouting, {
    answer: (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: one\n\n')
      next = () => response.end('data: two\n\n')
    },
  })
  const outgoing = sendHttp({ port: gateway.port(), host: '127.0.0.1' }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  let received = ''
  response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
  await until(() => received === 'DATA: ONE\n\n')
  next()
  await once(response, 'end')
  assert.equal(received, 'DATA: ONE\n\nDATA: TWO\n\n')
})

test('it may keep the head back until it has seen the body', async (t) => {
  const processor = await useProcessor(t, (call) => {
    const seen: ProcessingRequest[] = []
    call.on('data', (message: ProcessingRequest) => {
      processor.seen.push(message)
      const part = message.request
      if (part?.$case !== 'requestHeaders' && part?.$case !== 'requestBody') {
        const said = agree(message)
        if (said !== null) call.write(complete(said))
        return
      }
      seen.push(message)
      if (part.$case !== 'requestBody' || !part.value.endOfStream) return
      const text = bytesOf(seen, 'requestBody')
      call.write(complete(answerTo('requestHeaders', headers({ 'x-length': String(text.length) }))))
      call.write(complete(piece('requestBody', Buffer.from(`[${text}]`), false)))
      call.write(complete(piece('requestBody', Buffer.alloc(0), true)))
    })
    call.on('end', () => call.end())
  })
  const origin = await useOrigin(t)
  const extProc = { backendRef: { host: processor.host } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'x'.repeat(4_000_000) })).body, 'ok')
  assert.equal(origin.seen[0]?.headers['x-length'], '4000000')
  assert.equal(origin.seen[0]?.body.length, 4_000_002)
})

test('it may end a body early, and answer while one is under way', async (t) => {
  const { origin, gateway, ask } = await setUp(t, (message) => {
    const part = message.request
    if (part?.$case !== 'requestBody' || part.value.body.length === 0) return agree(message)
    const text = Buffer.from(part.value.body).toString()
    if (text.startsWith('cut')) return piece('requestBody', Buffer.from('enough'), true)
    return text.startsWith('stop') ? immediate(413, 'too much') : agree(message)
  })
  assert.equal((await ask({ method: 'POST', body: 'cut' + 'x'.repeat(500_000) })).body, 'ok')
  assert.equal(origin.seen[0]?.body, 'enough')
  const answer = await ask({ method: 'POST', body: 'stop' })
  assert.deepEqual([answer.status, answer.body], [413, 'too much'])
  await gateway.finished(2)
  assert.equal(gateway.records[1]?.reason, 'ExtProc')
  assert.deepEqual(gateway.bugs, [])
  assert.equal((await ask({ method: 'POST', body: 'fine' })).body, 'ok')
})

test('one that fails within a request body fails the request in both modes: the bytes are gone', async (t) => {
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    const { gateway, ask } = await setUp(
      t,
      (message) => {
        if (message.request?.$case === 'requestBody') throw new Error('broken')
        return agree(message)
      },
      { extProc: { failureMode } },
    )
    const answer = await ask({ method: 'POST', body: 'question' })
    assert.deepEqual([answer.status, answer.body], [500, 'ext_proc failed: the call to the processor failed'])
    await gateway.finished(1)
    const [record] = gateway.records
    assert.deepEqual([record?.reason, record?.status], ['ExtProc', 500])
    assert.deepEqual(gateway.bugs, [])
  }
})

test('one that fails after the answer has begun cuts it, and the log says why', async (t) => {
  let next = (): void => {}
  const { processor, gateway } = await setUp(
    t,
    (message) => {
      const part = message.request
      if (part?.$case === 'responseBody' && Buffer.from(part.value.body).includes('two')) throw new Error('broken')
      return agree(message)
    },
    {
      extProc: { failureMode: 'FailOpen' },
      answer: (_seen, response) => {
        response.write('one')
        next = () => response.write('two')
      },
    },
  )
  const watched = gateway.trace()
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => received.includes('one'))
  next()
  await once(socket, 'close')
  assert.doesNotMatch(received, /two|\r\n0\r\n/)
  await gateway.finished(1)
  const [record] = gateway.records
  assert.deepEqual([record?.reason, record?.status], ['ExtProc', 200])
  assert.match(record?.error ?? '', /^ext_proc failed: the call to the processor failed: .*broken/)
  const event = (await watched).find(({ message }) => message.type === 'policyEvent')
  assert.equal(event?.severity, 'error')
  assert.equal(processor.streams, 1)
})

test('one that ends well before a body has begun lets it pass; within one it has failed', async (t) => {
  for (const isLate of [false, true]) {
    const processor = await useProcessor(t, (call) => {
      call.on('data', ({ request: part }: ProcessingRequest) => {
        if (isLate && part?.$case === 'requestHeaders') call.write(complete(answerTo(part.$case)))
        else call.end()
      })
    })
    let seen = ''
    const origin = await useTcpServer(t, (peer) =>
      peer.on('data', (chunk) => {
        seen += chunk.toString()
        if (seen.endsWith('body')) peer.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      }),
    )
    const extProc = { backendRef: { host: processor.host } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n')
    await until(() => seen !== '')
    socket.write('body')
    await until(() => received.includes('\r\n\r\n'))
    assert.match(received, isLate ? /^HTTP\/1.1 500/ : /^HTTP\/1.1 200/)
    if (!isLate) assert.match(seen, /content-length: 4\r\n/)
    socket.destroy()
  }
})

test('an answer without a piece is no answer to a streamed body', async (t) => {
  const { ask } = await setUp(t, (message) =>
    message.request?.$case === 'requestBody' ? answerTo('requestBody') : agree(message),
  )
  const answer = await ask({ method: 'POST', body: 'x' })
  assert.deepEqual(
    [answer.status, answer.body],
    [500, 'ext_proc failed: the processor answered a full-duplex body without streamed_response'],
  )
})

test('silence is a failure when it is the turn of the processor, and only then', async (t) => {
  const { processor, ask } = await setUp(
    t,
    (message) => {
      const part = message.request
      return part?.$case === 'requestBody' && part.value.endOfStream ? null : agree(message)
    },
    { extProc: { messageTimeout: '100ms' } },
  )
  const answer = await ask({ method: 'POST', body: 'x' })
  assert.deepEqual([answer.status, answer.body], [500, 'ext_proc failed: no answer in time'])
  await until(() => processor.cancelled === 1)
  const time = new FakeTime()
  let late = (): void => {}
  const slow = await setUp(t, agree, {
    time,
    answer: (_seen, response) => (late = () => response.end('late')),
  })
  const waiting = slow.ask({ method: 'POST', body: 'x' })
  await until(() => slow.origin.seen.length === 1)
  // Nobody owes anything while the backend thinks.
  await time.advance(60_000)
  late()
  assert.equal((await waiting).body, 'late')
})

test('a client that leaves within a body, and a backend that breaks off, end the stream', async (t) => {
  const { processor, gateway } = await setUp(t, agree)
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab')
  await until(() => bytesOf(processor.seen, 'requestBody') === 'ab')
  socket.destroy()
  await until(() => processor.cancelled === 1)
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'ClientGone')
  const broken = await useTcpServer(t, (peer) =>
    peer.once('data', () => peer.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')),
  )
  const other = await useAnsweringProcessor(t, agree)
  const cut = await useGateway(t, httpConfig([routeTo(broken, { extProc: { backendRef: { host: other.host } } })]))
  await assertCut(cut.port())
  await until(() => other.cancelled === 1)
  await cut.finished(1)
  assert.equal(cut.records[0]?.reason, 'UpstreamFailure')
  assert.deepEqual([...gateway.bugs, ...cut.bugs], [])
})

test('a request is processed once, however often it is sent', async (t) => {
  let calls = 0
  const { origin, processor, ask } = await setUp(t, shouting, {
    policies: { retry: { attempts: 3, codes: [503] } },
    answer: (_seen, response) => response.writeHead(++calls < 3 ? 503 : 200).end('ok'),
  })
  assert.equal((await ask({ method: 'POST', body: 'old' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['OLD', 'OLD', 'OLD'],
  )
  assert.equal(partsOf(processor.seen).filter((part) => part === 'requestHeaders').length, 1)
})

test('rules behind it see the bodies that it leaves', async (t) => {
  const transformation = {
    request: { body: 'string(request.body) + "!"' },
    response: { body: '"(" + string(response.body) + ")"' },
  }
  const authorization = { rules: ['string(request.body) == "question"'] }
  const { origin, ask } = await setUp(t, shouting, {
    policies: { transformation, authorization },
    answer: (_seen, response) => response.end('answer'),
  })
  const answer = await ask({ method: 'POST', body: 'question' })
  assert.deepEqual([answer.status, origin.seen[0]?.body, answer.body], [200, 'QUESTION!', '(ANSWER)'])
})

async function assertCut(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await once(socket, 'close')
  // The client can still get an error when nothing of the response was sent.
  if (!received.startsWith('HTTP/1.1 503')) assert.doesNotMatch(received, /\r\n0\r\n/)
}
