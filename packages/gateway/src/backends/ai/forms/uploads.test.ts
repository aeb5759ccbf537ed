import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { closedPort, httpConfig, until, useGateway } from '../../../testing/scene.ts'
import { formOf, hashOf, json, sendForm, startUpload, useForms, useProvider } from './test-form-scene.ts'

/** Files that flow to the provider while they arrive, and every way in which one of the ends can stop. */

const path = '/v1/audio/transcriptions'
const usage = { type: 'duration', seconds: 9 }
const done = json({ text: 'hello', usage })
const chunk = randomBytes(256 * 1024)

/** The bytes of a form with a file of many chunks: its begin, and its end. */
function largeForm(chunks: number) {
  const mark = 'the file stands here'
  const whole = formOf([
    ['model', 'whisper-1'],
    ['file', Buffer.from(mark)],
  ])
  const at = whole.indexOf(mark)
  const [begin, end] = [whole.subarray(0, at), whole.subarray(at + mark.length)]
  return { begin, end, length: begin.length + chunks * chunk.length + end.length }
}

/** A server that is told of each request when its header is there. */
async function useServer(t: TestContext, handler: (message: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

async function useProviders(t: TestContext, ports: readonly number[]) {
  const groups = ports.map((port, at) => ({
    providers: [{ name: `p${at}`, openai: {}, host: '127.0.0.1', port }],
  }))
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]), { logFormat: 'json' })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  return gateway
}

test('a large file is not held: the provider gets its begin first, and a slow provider slows the client', async (t) => {
  let received = 0
  let first: IncomingMessage | null = null
  const port = await useServer(t, (message, response) => {
    first = message
    message.on('data', (bytes: Buffer) => (received += bytes.length))
    message.on('end', () => done(response, { url: '', headers: {}, parts: [] }))
    message.pause()
  })
  const gateway = await useProviders(t, [port])
  const chunks = 256
  const { begin, end, length } = largeForm(chunks)
  const { upload, answered } = startUpload(gateway.port(), { path, length })
  upload.write(begin)
  upload.write(chunk)
  await until(() => first !== null)
  assert.equal((first as unknown as IncomingMessage).headers['content-length'], String(length))
  // Sockets have buffers, so that some MB are on their way; the rest waits at the client.
  let written = 1
  while (written < chunks && upload.writableLength < 4 * chunk.length) {
    upload.write(chunk)
    written++
    await new Promise((resolve) => setImmediate(resolve))
  }
  const before = process.memoryUsage().arrayBuffers
  assert.ok(written < chunks / 2, `${written} of ${chunks} chunks were taken`)
  ;(first as unknown as IncomingMessage).resume()
  let most = 0
  for (; written < chunks; written++) {
    if (!upload.write(chunk)) await once(upload, 'drain')
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  upload.end(end)
  assert.equal((await answered).status, 200)
  assert.equal(received, length)
  assert.ok(most < 48_000_000, `${most} bytes for a file of ${length}`)
})

test('a file of several MB arrives with the same bytes, in pieces of any size', async (t) => {
  const { seen, gateway } = await useForms(t, { answer: done })
  const file = randomBytes(3_000_000)
  const form = formOf([
    ['model', 'whisper-1'],
    ['file', file],
    ['language', 'en'],
  ])
  const { upload, answered } = startUpload(gateway.port(), { path })
  let at = 0
  for (let size = 1; at < form.length; size = (size * 7) % 65_521) {
    if (!upload.write(form.subarray(at, at + size))) await once(upload, 'drain')
    at += size
  }
  upload.end()
  assert.equal((await answered).status, 200)
  assert.deepEqual(seen[0]?.parts, [
    ['model', 'whisper-1', null],
    ['file', hashOf(file), 'a.mp3'],
    ['language', 'en', null],
  ])
})

test('a client that leaves in the middle ends the call, and no provider is blamed', async (t) => {
  let isAborted = false
  const port = await useServer(t, (message) => {
    message.resume().on('error', () => (isAborted = true))
  })
  const gateway = await useProviders(t, [port])
  const { begin, length } = largeForm(4)
  const { upload } = startUpload(gateway.port(), { path, length })
  upload.write(begin)
  upload.write(chunk)
  await until(() => gateway.records.length === 0 && upload.socket !== null && upload.socket.bytesWritten > chunk.length)
  upload.destroy()
  await gateway.finished(1)
  await until(() => isAborted)
  const [record] = gateway.records
  assert.equal(record?.reason, 'ClientGone')
  assert.deepEqual(record?.llm?.attempts.map(({ outcome, hasFailed }) => [outcome, hasFailed]) ?? [], [
    ['cancelled', false],
  ])
})

for (const status of [401, 413]) {
  test(`a provider that refuses with ${status} before the file is there has its error passed on`, async (t) => {
    const body = { error: { message: 'no', type: 'x', param: null, code: 'y' } }
    const port = await useServer(t, (_message, response) =>
      json(body, status)(response, { url: '', headers: {}, parts: [] }),
    )
    const gateway = await useProviders(t, [port])
    const { begin, length } = largeForm(64)
    const { upload, answered } = startUpload(gateway.port(), { path, length })
    upload.write(begin)
    upload.write(chunk)
    const answer = await answered
    upload.destroy()
    assert.equal(answer.status, status)
    assert.deepEqual((JSON.parse(answer.body) as { error: { code: string } }).error.code, 'y')
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.llm?.attempts[0]?.outcome, String(status))
  })
}

test('a provider that dies in the middle is a failure in the format of the client, and nothing is sent twice', async (t) => {
  const port = await useServer(t, (message) => {
    message.once('data', () => message.socket.destroy())
  })
  const second = await useProvider(t, done)
  const gateway = await useProviders(t, [port, second.port])
  const events = gateway.trace()
  const { begin, length } = largeForm(64)
  const { upload, answered } = startUpload(gateway.port(), { path, length })
  upload.write(begin)
  upload.write(chunk)
  const { status, body } = await answered
  upload.destroy()
  assert.ok(status === 502 || status === 503, body)
  assert.equal(typeof (JSON.parse(body) as { error: { message: string } }).error.message, 'string')
  assert.equal(second.seen.length, 0)
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.llm?.attempts.length, 1)
  const names = (await events).flatMap(({ message }) =>
    message.type === 'llmNoFailover' ? [message['provider'], message['reason']] : [],
  )
  assert.deepEqual(names, ['p0', 'the request was sent in part, and what was sent is not kept'])
})

test('a form that is short enough to be kept moves to another provider, and back to its first part', async (t) => {
  const first = await useProvider(t, json({ error: { message: 'down' } }, 503))
  const second = await useProvider(t, done)
  const gateway = await useProviders(t, [first.port, second.port])
  const form = formOf([
    ['file', chunk.subarray(0, 20_000)],
    ['model', 'whisper-1'],
  ])
  const { status } = await sendForm(gateway.port(), path, form)
  assert.equal(status, 200)
  assert.deepEqual(second.seen[0]?.parts, first.seen[0]?.parts)
  assert.equal(second.seen[0]?.parts[0]?.[1], hashOf(chunk.subarray(0, 20_000)))
})

test('a long form moves to another provider while nothing of it was sent', async (t) => {
  const second = await useProvider(t, done)
  const gateway = await useProviders(t, [await closedPort(), second.port])
  const { begin, end, length } = largeForm(8)
  const { upload, answered } = startUpload(gateway.port(), { path, length })
  upload.write(begin)
  for (let count = 0; count < 8; count++) upload.write(chunk)
  upload.end(end)
  assert.equal((await answered).status, 200)
  assert.equal(second.seen.length, 1)
})

test('a form that turns out to be malformed ends the call, and the provider is not blamed', async (t) => {
  let isAborted = false
  const port = await useServer(t, (message) => {
    message.resume().on('error', () => (isAborted = true))
  })
  for (const [late, error] of [
    [[['model', 'other']], /model: occurs twice in the form/],
    [[['prompt', 'x'.repeat(300_000)]], /prompt: is longer than 262144 bytes/],
    [[['Stream', 'true']], /Stream: must be spelled stream/],
  ] as const) {
    isAborted = false
    const gateway = await useProviders(t, [port])
    const { begin, end } = largeForm(2)
    const rest = formOf(late)
    const { upload, answered } = startUpload(gateway.port(), { path })
    for (const piece of [begin, chunk, chunk, end.subarray(0, 2), rest]) upload.write(piece)
    upload.end()
    const { status, body } = await answered
    assert.equal(status, 400)
    assert.match(body, error)
    await until(() => isAborted)
    await gateway.finished(1)
    const [record] = gateway.records
    assert.equal(record?.reason, 'InvalidRequest')
    assert.deepEqual(record?.llm?.attempts.map(({ outcome, hasFailed }) => [outcome, hasFailed]) ?? [], [
      ['cancelled', false],
    ])
  }
})

test('a provider gets no part of a form that another policy refuses', async (t) => {
  const { seen, gateway } = await useForms(t, {
    answer: done,
    policies: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } },
  })
  const form = formOf([
    ['model', 'whisper-1'],
    ['file', randomBytes(2_000_000)],
  ])
  assert.equal((await sendForm(gateway.port(), path, form)).status, 200)
  assert.equal((await sendForm(gateway.port(), path, form)).status, 429)
  assert.equal(seen.length, 1)
})

test('a client of HTTP/2 uploads a file of several MB, whatever comes first', async (t) => {
  // Without TLS, the provider would be called in the version of the client.
  const { seen, gateway } = await useForms(t, { answer: done, backend: { http: { version: 'HTTP1' } } })
  const file = randomBytes(2_000_000)
  const session = connect(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const parts = [
    ['model', 'whisper-1'],
    ['file', file],
  ] as const
  for (const sent of [parts, parts.toReversed()]) {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'multipart/form-data; boundary=----formdata-undici-062047390126',
    })
    stream.end(formOf(sent))
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    let answer = ''
    for await (const bytes of stream) answer += String(bytes)
    assert.equal(headers[':status'], 200, answer)
  }
  assert.deepEqual(
    seen.map((form) => form.parts.find(([name]) => name === 'file')?.[1]),
    [hashOf(file), hashOf(file)],
  )
})

test('a policy of the provider that reads the body gets all of it, as the client has sent it', async (t) => {
  const size = 'string(size(request.body))'
  const transformation = { request: { set: [{ name: 'x-size', value: size }] } }
  const { seen, gateway } = await useForms(t, { answer: done, backend: { transformation } })
  const form = formOf([
    ['model', 'whisper-1'],
    ['file', randomBytes(300_000)],
  ])
  assert.equal((await sendForm(gateway.port(), path, form)).status, 200)
  assert.equal(seen[0]?.headers['x-size'], String(form.length))
})
