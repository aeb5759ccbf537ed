import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import { test } from 'node:test'
import { denied, useAuthorizer } from '../../../testing/services/authorizer.ts'
import { request } from '../../../testing/client.ts'
import { useMcpScene } from '../../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import {
  agree,
  bytesOf,
  fieldsOf,
  partsOf,
  piece,
  type Process,
  useAnsweringProcessor,
} from '../../../testing/services/processor.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Another word wherever this one stands and no piece cuts it. */
const replacing =
  (from: string, to: string): Process =>
  (message) => {
    const part = message.request
    if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return agree(message)
    const text = Buffer.from(part.value.body).toString().replaceAll(from, to)
    return piece(part.$case, Buffer.from(text), part.value.endOfStream)
  }

test('prompts are changed before guards see them, and answers of models on their way out', async (t) => {
  const processor = await useAnsweringProcessor(t, replacing('Atlantis', 'Ithaca'))
  const promptGuard = { request: [{ regex: { matches: ['Atlantis'], action: 'Reject' } }] }
  const policies = { extProc: { backendRef: { host: processor.host } }, backend: { ai: { promptGuard } } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { provider: { mock: {} } } }] }]))
  for (const stream of [false, true]) {
    processor.seen.length = 0
    const { status, body } = await request(gateway.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'mock', stream, messages: [{ role: 'user', content: 'to Atlantis' }] }),
    })
    assert.equal(status, 200, body)
    assert.doesNotMatch(body, /Atlantis/)
    assert.match(bytesOf(processor.seen, 'requestBody'), /Atlantis/)
    assert.equal(bytesOf(processor.seen, 'responseBody'), body)
    assert.equal(stream, body.includes('data: [DONE]'))
  }
  assert.deepEqual(gateway.bugs, [])
})

test('calls of MCP pass through it both ways', async (t) => {
  const processor = await useAnsweringProcessor(t, agree)
  const server = await useMcpServer(t)
  const { gateway, caller } = await useMcpScene(
    t,
    { one: server },
    { policies: { extProc: { backendRef: { host: processor.host } } } },
  )
  const session = await caller.begin()
  const { messages } = await session.ask('tools/list')
  assert.ok(Array.isArray(messages[0]?.result?.tools))
  assert.match(bytesOf(processor.seen, 'requestBody'), /tools\/list/)
  assert.deepEqual(gateway.bugs, [])
})

test('the processor never sees a denied request, and sees the headers that the authorizer sets', async (t) => {
  const origin = await useOrigin(t)
  const processor = await useAnsweringProcessor(t, agree)
  const authorizer = await useAuthorizer(t, ({ attributes }) =>
    attributes?.request?.http?.path === '/no' ? denied({ status: { code: 401 } }) : {},
  )
  const policies = {
    extAuth: { backendRef: { host: authorizer.host }, forwardBody: { maxSize: 4 } },
    extProc: { backendRef: { host: processor.host } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  assert.equal((await request(gateway.port(), { path: '/no' })).status, 401)
  assert.equal(processor.streams, 0)
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'long enough' })).status, 200)
  assert.equal(bytesOf(processor.seen, 'requestBody'), 'long enough')
  assert.equal(origin.seen[0]?.body, 'long enough')
})

test('bodies that are packed are given as they are', async (t) => {
  const packed = gzipSync('hello')
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(packed)
  })
  const processor = await useAnsweringProcessor(t, agree)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { extProc: { backendRef: { host: processor.host } } })]),
  )
  const { headers, body } = await request(gateway.port())
  assert.equal(headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(Buffer.from(body, 'latin1')).toString(), 'hello')
  assert.equal(
    fieldsOf(processor.seen.find(({ request: part }) => part?.$case === 'responseHeaders'))['content-encoding'],
    'gzip',
  )
})

test('routes beside one whose processor hangs go on', async (t) => {
  const origin = await useOrigin(t)
  const hanging = await useAnsweringProcessor(t, () => null)
  const extProc = { backendRef: { host: hanging.host }, messageTimeout: '60s' }
  const slow = routeTo(origin, { extProc }, { matches: [{ path: { pathPrefix: '/slow' } }] })
  const gateway = await useGateway(t, httpConfig([slow, routeTo(origin)]))
  const waiting = request(gateway.port(), { path: '/slow' })
  for (let i = 0; i < 20; i++) assert.equal((await request(gateway.port(), { path: '/quick' })).status, 200)
  assert.deepEqual(
    partsOf(hanging.seen).filter((part) => part !== 'requestHeaders'),
    [],
  )
  await gateway.close()
  assert.equal((await waiting.catch(() => null))?.body ?? '', '')
})

test('a request whose time is over while a processor looks at its answer is a 504, once', async (t) => {
  const processor = await useAnsweringProcessor(t, (message) =>
    message.request?.$case === 'responseHeaders' ? null : agree(message),
  )
  const origin = await useOrigin(t)
  const extProc = {
    backendRef: { host: processor.host },
    messageTimeout: '10m',
    processingOptions: { requestBodyMode: 'None', responseBodyMode: 'None' },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc, timeouts: { request: '300ms' } })]))
  const { status } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal((await request(gateway.port())).status, 504)
  assert.deepEqual(gateway.bugs, [])
  assert.equal(gateway.lines.length, 2)
})

test('a retry sends the processed body again, and the processor is called once', async (t) => {
  const processor = await useAnsweringProcessor(t, replacing('Atlantis', 'Ithaca'))
  let asked = 0
  const origin = await useOrigin(t, ({ body }, response) => response.writeHead(asked++ === 0 ? 503 : 200).end(body))
  const extProc = { backendRef: { host: processor.host } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc, retry: { attempts: 2, codes: [503] } })]))
  const { status, body } = await request(gateway.port(), { method: 'POST', path: '/', body: 'to Atlantis' })
  assert.deepEqual([status, body], [200, 'to Ithaca'])
  assert.deepEqual(
    origin.seen.map((seen) => [seen.body, seen.headers['x-retry-attempt']]),
    [
      ['to Ithaca', undefined],
      ['to Ithaca', '1'],
    ],
  )
  assert.equal(bytesOf(processor.seen, 'requestBody'), 'to Atlantis')
  assert.deepEqual(
    [processor.streams, partsOf(processor.seen).filter((part) => part === 'responseHeaders').length],
    [1, 1],
  )
  assert.deepEqual(gateway.bugs, [])
})
