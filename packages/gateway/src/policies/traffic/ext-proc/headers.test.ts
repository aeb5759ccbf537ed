import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import {
  agree,
  answerTo,
  bodyOf,
  complete,
  fieldsOf,
  headers,
  immediate,
  partsOf,
  type Process,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/services/processor.ts'
import {
  closedPort,
  httpConfig,
  pathPrefix,
  routeTo,
  until,
  useGateway,
  useOrigin,
  useTcpServer,
} from '../../../testing/scene.ts'
import type { ProcessingRequest } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'

const HEADS = { requestBodyMode: 'None', responseBodyMode: 'None' }

async function setUp(t: TestContext, process: Process, extProc: object = {}, policies: object = {}) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.setHeader('x-origin', 'o')
    response.end('from origin')
  })
  const processor = await useAnsweringProcessor(t, process)
  const backendRef = { host: processor.host }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { extProc: { backendRef, processingOptions: HEADS, ...extProc }, ...policies })]),
  )
  return { origin, processor, gateway, ask: (options = {}) => request(gateway.port(), options) }
}

test('the processor gets the heads of request and response on one stream, which ends with the exchange', async (t) => {
  const { origin, processor, gateway, ask } = await setUp(t, agree)
  const answer = await ask({ method: 'POST', path: '/p?q=1', headers: { 'X-A': '1' }, body: 'hello' })
  assert.deepEqual([answer.status, answer.body], [200, 'from origin'])
  assert.equal(origin.seen[0]?.body, 'hello')
  await until(() => processor.ended === 1)
  assert.deepEqual([processor.streams, processor.cancelled], [1, 0])
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'responseHeaders'])
  const [asked, answered] = processor.seen
  const { ':method': method, ':path': path, ':authority': authority, ':scheme': scheme, ...rest } = fieldsOf(asked)
  assert.deepEqual([method, path, authority, scheme, rest['x-a']], ['POST', '/p?q=1', 'test.example', 'http', '1'])
  assert.equal(asked?.request?.$case === 'requestHeaders' && asked.request.value.endOfStream, false)
  assert.deepEqual(asked?.protocolConfig, {
    requestBodyMode: 0,
    responseBodyMode: 0,
    sendBodyWithoutWaitingForHeaderResponse: false,
  })
  assert.equal(answered?.protocolConfig, undefined)
  assert.equal(fieldsOf(answered)[':status'], '200')
  assert.equal(fieldsOf(answered)['x-origin'], 'o')
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'Upstream')
  assert.deepEqual(gateway.bugs, [])
  // Both answers are timed.
  assert.match(gateway.metrics(), /callout_duration_seconds_count\{[^}]*"ExtProc"[^}]*"answered"[^}]*\} 2\n/)
})

test('heads change as it says, and what frames or routes a message stays ours', async (t) => {
  const { origin, ask } = await setUp(t, ({ request: part }) => {
    if (part?.$case === 'requestHeaders') {
      const set = {
        'X-User': 'ann',
        ':path': '/other?b=2',
        ':method': 'DELETE',
        ':authority': 'evil.example',
        host: 'evil.example',
        'content-length': '99',
        'transfer-encoding': 'chunked',
        'x-name': 'Zoë',
      }
      return answerTo(part.$case, headers(set, ['X-Secret', 'host', ':path']))
    }
    return answerTo('responseHeaders', headers({ ':status': '201', 'x-new': 'n', 'content-length': '3' }, ['x-origin']))
  })
  const answer = await ask({ path: '/first', headers: { 'x-secret': 's', 'x-user': 'mallory' } })
  assert.deepEqual([answer.status, answer.body], [201, 'from origin'])
  assert.deepEqual([answer.headers['x-new'], answer.headers['x-origin']], ['n', undefined])
  const seen = origin.seen[0]
  assert.deepEqual([seen?.method, seen?.url, seen?.headers['host']], ['GET', '/other?b=2', 'test.example'])
  assert.equal(seen?.headers['x-user'], 'ann')
  assert.equal(Buffer.from(String(seen?.headers['x-name']), 'latin1').toString(), 'Zoë')
  for (const name of ['x-secret', 'transfer-encoding', 'content-length']) {
    assert.equal(seen?.headers[name], undefined, name)
  }
})

test('it answers in place of the backend, and in place of its answer', async (t) => {
  const { origin, gateway, ask } = await setUp(t, (message) => {
    const { ':path': path } = fieldsOf(message)
    if (path === '/no') return immediate(403, 'not you', { 'x-why': 'tired', 'content-length': '1' })
    if (path === '/odd') return immediate(99)
    if (path === '/empty') return immediate(0)
    if (path === '/grpc') return immediate(401, 'who?', { 'x-why': 'unknown' }, { grpcStatus: { status: 16 } })
    if (message.request?.$case === 'responseHeaders')
      return immediate(418, '{}', { 'content-type': 'application/json' })
    return agree(message)
  })
  const refused = await ask({ path: '/no' })
  assert.deepEqual(
    [refused.status, refused.body, refused.headers['x-why'], refused.headers['content-type']],
    [403, 'not you', 'tired', 'text/plain'],
  )
  assert.equal((await ask({ path: '/odd' })).status, 500)
  assert.equal((await ask({ path: '/empty' })).status, 200)
  const grpc = await ask({ method: 'POST', path: '/grpc', headers: { 'content-type': 'application/grpc' } })
  assert.deepEqual(
    [grpc.status, grpc.headers['grpc-status'], grpc.headers['grpc-message'], grpc.headers['x-why']],
    [200, '16', 'who%3F', 'unknown'],
  )
  assert.equal(origin.seen.length, 0)
  const replaced = await ask()
  assert.deepEqual(
    [replaced.status, replaced.body, replaced.headers['content-type'], replaced.headers['x-origin']],
    [418, '{}', 'application/json', undefined],
  )
  assert.equal(origin.seen.length, 1)
  await gateway.finished(5)
  assert.deepEqual(
    gateway.records.map(({ reason }) => reason),
    Array.from({ length: 5 }, () => 'ExtProc'),
  )
})

test('an answer in place of the backend has a gRPC status for gRPC clients: its own, or one made of its HTTP status', async (t) => {
  const { ask } = await setUp(t, (message) => {
    const [, code, status] = (fieldsOf(message)[':path'] ?? '').split('/')
    return immediate(Number(code), '', {}, status === undefined ? {} : { grpcStatus: { status: Number(status) } })
  })
  const statuses: string[] = []
  for (const path of ['/0', '/200', '/201', '/403', '/200/9']) {
    const answer = await ask({ method: 'POST', path, headers: { 'content-type': 'application/grpc' } })
    statuses.push(`${answer.status} ${String(answer.headers['grpc-status'])}`)
  }
  assert.deepEqual(statuses, ['200 0', '200 0', '200 2', '200 7', '200 9'])
})

test('the answer to a head may have the whole body', async (t) => {
  const { origin, ask } = await setUp(t, ({ request: part }) =>
    answerTo(part?.$case ?? 'requestHeaders', {
      status: 1,
      ...bodyOf(part?.$case === 'requestHeaders' ? 'new question' : 'new answer'),
    }),
  )
  const answer = await ask({ method: 'POST', body: 'old' })
  assert.equal(origin.seen[0]?.body, 'new question')
  assert.equal(origin.seen[0]?.headers['content-length'], '12')
  assert.deepEqual([answer.body, answer.headers['content-length']], ['new answer', '10'])
})

test('metadata of the processor is visible to later expressions', async (t) => {
  const { gateway, ask } = await setUp(
    t,
    (message) => ({
      ...agree(message),
      dynamicMetadata: { team: fieldsOf(message)['x-team'] ?? 'none', deep: { n: 1 } },
    }),
    {},
    { transformation: { response: { set: [{ name: 'x-seen', value: 'extproc.team + string(extproc.deep.n)' }] } } },
  )
  assert.equal((await ask({ headers: { 'x-team': 'red' } })).headers['x-seen'], 'red1')
  assert.deepEqual(gateway.bugs, [])
})

test('a failed call to the processor fails the request, or lets it pass', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, () => {})
  const banner = await useTcpServer(t, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const broken = await useAnsweringProcessor(t, () => Promise.reject(new Error('broken')))
  const mute = await useAnsweringProcessor(t, () => null)
  const wrong = await useAnsweringProcessor(t, () => answerTo('responseTrailers'))
  const hosts = [`127.0.0.1:${await closedPort()}`, silent.host, banner.host, broken.host, mute.host, wrong.host]
  for (const host of hosts) {
    for (const mode of ['FailClosed', 'FailOpen', undefined] as const) {
      for (const processingOptions of [HEADS, undefined]) {
        const extProc = {
          backendRef: { host },
          messageTimeout: '100ms',
          ...(mode && { failureMode: mode }),
          ...(processingOptions && { processingOptions }),
        }
        const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
        const answer = await request(gateway.port())
        const said = `${host} ${mode}: ${answer.body}`
        assert.equal(answer.status, mode === 'FailOpen' ? 200 : 500, said)
        if (mode !== 'FailOpen') assert.match(answer.body, /^ext_proc failed: [a-z ]+$/)
        await gateway.finished(1)
        const [record] = gateway.records
        assert.equal(record?.reason, mode === 'FailOpen' ? 'Upstream' : 'ExtProc')
        if (mode !== 'FailOpen') assert.match(record?.error ?? '', /^ext_proc failed: /)
        assert.match(
          gateway.metrics(),
          /callout_duration_seconds_count\{[^}]*"ExtProc"[^}]*"(failed|timeout|answered)"[^}]*\} 1\n/,
        )
        assert.match(gateway.metrics(), new RegExp(`reason="${mode === 'FailOpen' ? 'Upstream' : 'ExtProc'}"`))
      }
    }
  }
})

test('a processor that fails with the answer takes it away, or lets it pass', async (t) => {
  for (const [failureMode, status] of [
    ['FailClosed', 500],
    ['FailOpen', 200],
  ] as const) {
    const { ask } = await setUp(
      t,
      (message) => {
        if (message.request?.$case === 'responseHeaders') throw new Error('broken')
        return agree(message)
      },
      { failureMode },
    )
    assert.equal((await ask()).status, status)
  }
})

test('one that ends its stream early sees no more of the request', async (t) => {
  for (const says of [true, false]) {
    const processor = await useProcessor(t, (call) => {
      call.once('data', () => {
        if (says) call.write(complete(answerTo('requestHeaders', headers({ 'x-seen': 'yes' }))))
        call.end()
      })
    })
    const origin = await useOrigin(t)
    const extProc = { backendRef: { host: processor.host } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    const answer = await request(gateway.port())
    assert.deepEqual([answer.status, answer.body], [200, 'ok'])
    assert.equal(origin.seen[0]?.headers['x-seen'], says ? 'yes' : undefined)
    assert.equal(processor.streams, 1)
    assert.deepEqual(gateway.bugs, [])
  }
})

test('a processor that does not end its stream after its last answer is dropped, and the response goes on', async (t) => {
  let finish = (): void => {}
  const origin = await useOrigin(t, (_seen, response) => {
    response.write('one ')
    finish = () => response.end('two')
  })
  let isTold = false
  const processor = await useProcessor(t, (call) => {
    call.on('data', ({ request: part }: ProcessingRequest) => {
      call.write(complete(answerTo(part?.$case ?? 'requestHeaders')))
    })
    call.on('end', () => (isTold = true))
  })
  const time = new FakeTime()
  const options = { ...HEADS, requestTrailerMode: 'Skip', responseTrailerMode: 'Skip' }
  const extProc = { backendRef: { host: processor.host }, processingOptions: options }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]), { deadlines: time.deadlines })
  const answer = request(gateway.port())
  await until(() => isTold)
  await time.advance(2_000)
  await until(() => processor.cancelled === 1)
  finish()
  assert.equal((await answer).body, 'one two')
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'Upstream')
  assert.deepEqual(gateway.warnings, [])
})

test('answers of the gateway itself are not processed, and the stream ends', async (t) => {
  const directResponse = { status: 200, body: 'direct' }
  const { processor, ask } = await setUp(t, agree, {}, { directResponse })
  assert.equal((await ask()).body, 'direct')
  await until(() => processor.ended === 1)
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders'])
})

test('only what it is to get is sent, and nothing opens a stream in vain', async (t) => {
  const cases: [object, string[]][] = [
    [{ requestHeaderMode: 'Skip' }, ['responseHeaders']],
    [{ responseHeaderMode: 'Skip' }, ['requestHeaders']],
    [{ requestHeaderMode: 'Skip', responseHeaderMode: 'Skip' }, []],
  ]
  for (const [options, parts] of cases) {
    const processingOptions = { ...HEADS, requestTrailerMode: 'Skip', responseTrailerMode: 'Skip', ...options }
    const { processor, ask } = await setUp(t, agree, { processingOptions })
    assert.equal((await ask({ method: 'POST', body: 'x' })).body, 'from origin')
    await until(() => processor.ended === (parts.length === 0 ? 0 : 1))
    assert.deepEqual(partsOf(processor.seen), parts)
    assert.equal(processor.streams, parts.length === 0 ? 0 : 1)
    if (parts.length > 0) assert.notEqual(processor.seen[0]?.protocolConfig, undefined)
  }
})

test('a client that leaves cancels the stream', async (t) => {
  const origin = await useOrigin(t, () => {})
  for (const process of [() => null, agree]) {
    const processor = await useAnsweringProcessor(t, process)
    const extProc = { backendRef: { host: processor.host }, messageTimeout: '60s' }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await until(() => processor.seen.length === 1)
    socket.destroy()
    await until(() => processor.cancelled === 1)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'ClientGone')
    assert.deepEqual(gateway.bugs, [])
  }
})

test('a condition chooses the processor', async (t) => {
  const origin = await useOrigin(t)
  const [a, b] = [await useAnsweringProcessor(t, agree), await useAnsweringProcessor(t, agree)]
  const conditional = [
    { condition: 'request.path == "/a"', policy: { backendRef: { host: a.host } } },
    { condition: 'request.path == "/b"', policy: { backendRef: { host: b.host }, processingOptions: HEADS } },
  ]
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc: { conditional } })]))
  for (const path of ['/a', '/b', '/else']) {
    const { status, body } = await request(gateway.port(), { path, method: 'POST', body: 'x' })
    assert.deepEqual([status, body], [200, 'ok'])
  }
  assert.deepEqual([a.streams, b.streams], [1, 1])
  await until(() => a.ended === 1 && b.ended === 1)
  assert.equal(partsOf(a.seen).includes('responseBody'), true)
  assert.equal(partsOf(b.seen).includes('responseBody'), false)
})

test('before routing it may change what routes are chosen by, and both phases have their own stream', async (t) => {
  const origin = await useOrigin(t)
  const early = await useAnsweringProcessor(t, (message) =>
    message.request?.$case === 'requestHeaders'
      ? answerTo('requestHeaders', headers({ ':path': '/b/x', 'x-early': '1' }))
      : answerTo('responseHeaders', headers({ 'x-order': 'listener' })),
  )
  const late = await useAnsweringProcessor(t, (message) =>
    message.request?.$case === 'requestHeaders'
      ? agree(message)
      : answerTo('responseHeaders', headers({ 'x-order': 'route' })),
  )
  const policy = (host: string) => ({ extProc: { backendRef: { host }, processingOptions: HEADS } })
  const gateway = await useGateway(
    t,
    httpConfig(
      [
        { ...pathPrefix('/a'), policies: { directResponse: { status: 200, body: 'a' } } },
        routeTo(origin, policy(late.host), pathPrefix('/b')),
      ],
      { listener: { policies: { phase: 'PreRouting', ...policy(early.host) } } },
    ),
  )
  const answer = await request(gateway.port(), { path: '/a' })
  assert.deepEqual([answer.body, answer.headers['x-order']], ['ok', 'listener'])
  assert.equal(origin.seen[0]?.url, '/b/x')
  assert.equal(fieldsOf(late.seen[0])['x-early'], '1')
  assert.equal(fieldsOf(early.seen[1])['x-order'], 'route')
  await until(() => early.ended === 1 && late.ended === 1)
})

test('a trace shows the config, and what the processor changed', async (t) => {
  const { gateway, ask } = await setUp(t, (message) =>
    message.request?.$case === 'requestHeaders'
      ? { ...answerTo('requestHeaders', headers({ 'x-a': '1' }, ['x-b'])), dynamicMetadata: { team: 'red' } }
      : immediate(403, '', {}, { details: 'secret_found' }),
  )
  const watched = gateway.trace()
  assert.equal((await ask()).status, 403)
  const messages = (await watched).map(({ message }) => message)
  const selection = messages.find(({ type }) => type === 'policySelection') as unknown as {
    effectivePolicy: { extProc: { processingOptions: object } }
  }
  assert.equal(
    (selection.effectivePolicy.extProc.processingOptions as { requestBodyMode: string }).requestBodyMode,
    'None',
  )
  const results = messages.flatMap((message) =>
    message.type === 'policy' && message['kind'] === 'extProc' ? [message['result']] : [],
  )
  assert.deepEqual(results, [
    {
      type: 'apply',
      details: { code: 'processed', headers: { set: ['x-a'], removed: ['x-b'], body: null }, metadata: ['team'] },
    },
    {
      type: 'stop',
      reason: 'ExtProc',
      status: 403,
      details: { code: 'answered', status: 403, details: 'secret_found' },
    },
  ])
  const final = messages.find((message) => message['stage'] === 'final request') as unknown as {
    requestState: { extproc: unknown }
  }
  assert.deepEqual(final.requestState.extproc, { team: 'red' })
})

test('values of the config go with the first message of each direction', async (t) => {
  const { processor, ask } = await setUp(t, agree, {
    requestAttributes: { path: 'request.path', broken: 'request.headers["x-absent"]' },
    responseAttributes: { code: 'response.code' },
    metadataContext: { 'my.space': { who: '{"host": request.host}' } },
  })
  assert.equal((await ask({ path: '/p' })).status, 200)
  await until(() => processor.ended === 1)
  const [asked, answered] = processor.seen
  const given = (message = asked) => Object.fromEntries(message?.attributes ?? [])
  assert.deepEqual(given(), { 'envoy.filters.http.ext_proc': { path: '/p' } })
  assert.deepEqual(given(answered), { 'envoy.filters.http.ext_proc': { code: 200 } })
  assert.deepEqual(
    [...(asked?.metadataContext?.filterMetadata ?? [])],
    [['my.space', { who: { host: 'test.example' } }]],
  )
})

test('an upgraded connection is processed up to its change of protocol', async (t) => {
  const origin = await useTcpServer(t, (socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.on('data', (chunk) => socket.write(`echo ${chunk.toString()}`))
    }),
  )
  const processor = await useAnsweringProcessor(t, agree)
  const extProc = { backendRef: { host: processor.host } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  await until(() => received.includes('\r\n\r\n'))
  // The tunnel is open, and nobody waits for it.
  await until(() => processor.ended === 1)
  socket.write('hi')
  await until(() => received.endsWith('echo hi'))
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders'])
  socket.destroy()
})

test('a backend that does not change the protocol has its answer processed', async (t) => {
  const { processor, ask } = await setUp(t, agree)
  const answer = await ask({ headers: { connection: 'upgrade', upgrade: 'websocket' } })
  assert.equal(answer.body, 'from origin')
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'responseHeaders'])
})

test('CONNECT is processed as a head', async (t) => {
  const target = await useTcpServer(t, (socket) =>
    socket.on('data', (chunk) => socket.write(`echo ${chunk.toString()}`)),
  )
  const processor = await useAnsweringProcessor(t, agree)
  const extProc = { backendRef: { host: processor.host } }
  const policies = { extProc, upgrades: { protocols: ['connect'] } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ host: target.host }] }]))
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write(`CONNECT ${target.host} HTTP/1.1\r\nhost: ${target.host}\r\n\r\n`)
  await until(() => received.includes('\r\n\r\n'))
  assert.match(received, /^HTTP\/1.1 200/)
  socket.write('hi')
  await until(() => received.endsWith('echo hi'))
  await until(() => processor.ended === 1)
  assert.equal(fieldsOf(processor.seen[0])[':method'], 'CONNECT')
  socket.destroy()
})

test('policies of the backend hold for the stream', async (t) => {
  const origin = await useOrigin(t)
  const processor = await useAnsweringProcessor(t, agree)
  const port = Number(processor.host.split(':')[1])
  const backends = [
    { name: 'processor', static: { host: '127.0.0.1', port }, policies: { auth: { key: 'key-of-the-processor' } } },
  ]
  const extProc = { backendRef: { name: 'processor' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })], { backends }))
  assert.equal((await request(gateway.port())).status, 200)
  assert.deepEqual(processor.metadata[0]?.get('authorization'), ['Bearer key-of-the-processor'])
  assert.equal(origin.seen[0]?.headers['authorization'], undefined)
})
