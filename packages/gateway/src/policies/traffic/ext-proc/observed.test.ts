import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { request, sendRaw } from '../../../testing/client.ts'
import {
  bytesOf,
  fieldsOf,
  immediate,
  partsOf,
  type Processor,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/services/processor.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

async function setUp(t: TestContext, { host }: Pick<Processor, 'host'>, more: object = {}) {
  const origin = await useOrigin(t, (seen, response) => response.end(`you said ${seen.body}`))
  const extProc = { backendRef: { host }, observabilityMode: true, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  return { origin, gateway, ask: (sent = {}) => request(gateway.port(), sent) }
}

test('an observing processor gets copies of everything, and what it says does not count', async (t) => {
  const processor = await useAnsweringProcessor(t, () => immediate(403, 'no'))
  const { ask } = await setUp(t, processor)
  const answer = await ask({ method: 'POST', path: '/a', body: 'hello' })
  assert.deepEqual([answer.status, answer.body], [200, 'you said hello'])
  await until(() =>
    processor.seen.some(({ request: part }) => part?.$case === 'responseBody' && part.value.endOfStream),
  )
  const parts = [...new Set(partsOf(processor.seen))]
  assert.deepEqual(parts, ['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'])
  assert.deepEqual(
    [bytesOf(processor.seen, 'requestBody'), bytesOf(processor.seen, 'responseBody')],
    ['hello', 'you said hello'],
  )
  for (const name of ['requestBody', 'responseBody']) {
    const ends = processor.seen.flatMap(({ request: part }) =>
      (part?.$case === 'requestBody' || part?.$case === 'responseBody') && part.$case === name
        ? part.value.endOfStream
        : [],
    )
    assert.equal(ends.indexOf(true), ends.length - 1, `only the last message of the ${name} ends it`)
  }
  assert.equal(fieldsOf(processor.seen[0])[':path'], '/a')
  assert.ok(processor.seen.every(({ observabilityMode }) => observabilityMode))
  assert.equal(processor.seen[0]?.protocolConfig?.requestBodyMode, 1)
  await until(() => processor.ended === 1)
})

test('only the parts that the config names are copied', async (t) => {
  const processor = await useAnsweringProcessor(t, () => null)
  const processingOptions = {
    requestHeaderMode: 'Skip',
    requestBodyMode: 'Streamed',
    responseBodyMode: 'None',
    responseTrailerMode: 'Skip',
  }
  const { ask } = await setUp(t, processor, { processingOptions })
  assert.equal((await ask({ method: 'POST', body: 'hello' })).status, 200)
  await until(() => processor.ended === 1)
  assert.deepEqual([...new Set(partsOf(processor.seen))], ['requestBody', 'responseHeaders'])
})

test('values of the config go with the first copy of each direction', async (t) => {
  const processor = await useAnsweringProcessor(t, () => null)
  const { ask } = await setUp(t, processor, {
    requestAttributes: { path: 'request.path' },
    responseAttributes: { code: 'response.code' },
  })
  assert.equal((await ask({ method: 'POST', path: '/p', body: 'hello' })).status, 200)
  await until(() => processor.ended === 1)
  const given = processor.seen.flatMap(({ request: part, attributes }) =>
    attributes.size === 0 ? [] : [[part?.$case, Object.fromEntries(attributes)]],
  )
  assert.deepEqual(given, [
    ['requestHeaders', { 'envoy.filters.http.ext_proc': { path: '/p' } }],
    ['responseHeaders', { 'envoy.filters.http.ext_proc': { code: 200 } }],
  ])
})

test('trailers are copied without the bodies before them', async (t) => {
  const processor = await useAnsweringProcessor(t, () => null)
  const processingOptions = { requestBodyMode: 'None', responseBodyMode: 'None' }
  const { gateway } = await setUp(t, processor, { processingOptions })
  const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
  const answer = await sendRaw(gateway.port(), `${head}2\r\nab\r\n0\r\nx-sum: 7\r\n\r\n`)
  assert.equal(answer.body, 'you said ab')
  await until(() => processor.ended === 1)
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'requestTrailers', 'responseHeaders'])
  assert.deepEqual(fieldsOf(processor.seen[1]), { 'x-sum': '7' })
})

test('copies as large as the buffer are taken, and no more: the observer gets nothing further', async (t) => {
  for (const isLarge of [false, true]) {
    const processor = await useAnsweringProcessor(t, () => null)
    const origin = await useOrigin(t)
    const extProc = { backendRef: { host: processor.host }, observabilityMode: true }
    const frontend = { http: { maxBufferSize: '100' } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })], { frontend }))
    const body = 'x'.repeat(isLarge ? 101 : 100)
    const head = `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`
    assert.equal((await sendRaw(gateway.port(), head + body)).body, 'ok')
    assert.equal(origin.seen[0]?.body, body)
    await until(() => processor.ended + processor.cancelled === 1 || gateway.warnings.length > 0)
    assert.equal(gateway.warnings.join().includes('external processor gets no more copies'), isLarge)
    assert.equal(bytesOf(processor.seen, 'requestBody'), isLarge ? '' : body)
  }
})

test('an observer that keeps up gets all of a body that is larger than the buffer', async (t) => {
  const processor = await useAnsweringProcessor(t, () => null)
  const origin = await useOrigin(t)
  const extProc = { backendRef: { host: processor.host }, observabilityMode: true }
  const frontend = { http: { maxBufferSize: '100' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })], { frontend }))
  const socket = connect(gateway.port(), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 300\r\n\r\n')
  let sent = ''
  for (let piece = 0; piece < 5; piece++) {
    sent += String(piece).repeat(60)
    socket.write(String(piece).repeat(60))
    await until(() => bytesOf(processor.seen, 'requestBody') === sent)
  }
  await gateway.finished(1)
  assert.equal(origin.seen[0]?.body, sent)
  assert.deepEqual(gateway.warnings, [])
})

test('a processor that is gone, broken or silent neither fails nor holds a request', async (t) => {
  const broken = await useAnsweringProcessor(t, () => Promise.reject(new Error('broken')))
  const deaf = await useProcessor(t, (call) => call.pause())
  for (const host of [`127.0.0.1:${await closedPort()}`, broken.host, deaf.host]) {
    const { ask, gateway } = await setUp(t, { host }, { messageTimeout: '100ms' })
    const body = 'x'.repeat(300_000)
    const answer = await ask({ method: 'POST', body })
    assert.deepEqual([answer.status, answer.body.length], [200, body.length + 'you said '.length])
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'Upstream')
  }
})

test('a body that would have to be kept for an observer is refused at load', () => {
  const policies = {
    extProc: {
      backendRef: { host: 'a:1' },
      observabilityMode: true,
      processingOptions: { requestBodyMode: 'Buffered' },
    },
  }
  const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)])
  const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.match(
    loaded.ok ? 'no problem' : printProblems(loaded.problems),
    /with `observabilityMode`, bodies are not buffered/,
  )
})
