import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test, type TestContext } from 'node:test'
import { bytesOption } from '../../../testing/services/authorizer.ts'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import {
  agree,
  answerTo,
  bodyOf,
  bytesOf,
  complete,
  edits,
  fieldsOf,
  immediate,
  partsOf,
  piece,
  type Process,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/services/processor.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import type { ProcessingRequest } from '../../../protos/envoy/service/ext_proc/v3/external_processor.ts'

const STREAMED = { processingOptions: { requestBodyMode: 'Streamed', responseBodyMode: 'Streamed' } }

async function setUp(t: TestContext, process: Process, more: { extProc?: object; answer?: OriginHandler } = {}) {
  const origin = await useOrigin(t, more.answer)
  const processor = await useAnsweringProcessor(t, process)
  const extProc = { backendRef: { host: processor.host }, ...more.extProc }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  return { origin, processor, gateway, ask: (sent = {}) => request(gateway.port(), sent) }
}

/** Answers each part; pieces of bodies as `change` says, null keeps a piece as it is. */
const answering =
  (change: (text: string) => string | null): Process =>
  ({ request: part }) => {
    if (part === undefined) return null
    if (part.$case !== 'requestBody' && part.$case !== 'responseBody') return answerTo(part.$case)
    const changed = change(Buffer.from(part.value.body).toString())
    return answerTo(part.$case, changed === null ? {} : bodyOf(changed))
  }

const echo: OriginHandler = (seen, response) => response.end(`you said ${seen.body}`)

test('each streamed piece goes on as the processor answers it: changed, dropped or as it is', async (t) => {
  for (const [change, sent, got] of [
    [() => null, 'hello', 'you said hello'],
    [(text: string) => text.toUpperCase(), 'HELLO', 'YOU SAID HELLO'],
  ] as const) {
    const { origin, processor, ask } = await setUp(t, answering(change), { extProc: STREAMED, answer: echo })
    const answer = await ask({ method: 'POST', body: 'hello' })
    assert.deepEqual([origin.seen[0]?.body, answer.body], [sent, got])
    assert.equal(bytesOf(processor.seen, 'requestBody'), 'hello')
    assert.equal(processor.seen[0]?.protocolConfig?.requestBodyMode, 1)
  }
  const { ask } = await setUp(
    t,
    ({ request: part }) =>
      answerTo(
        part?.$case ?? 'requestHeaders',
        part?.$case === 'responseBody' ? { bodyMutation: { mutation: { $case: 'clearBody', value: true } } } : {},
      ),
    { extProc: STREAMED, answer: echo },
  )
  const cleared = await ask()
  assert.deepEqual([cleared.status, cleared.body], [200, ''])
})

test('a long streamed body passes in order, whole, both ways', async (t) => {
  const { origin, ask } = await setUp(
    t,
    answering(() => null),
    { extProc: STREAMED, answer: echo },
  )
  const body = Array.from({ length: 60_000 }, (_, index) => `${index};`).join('')
  assert.equal((await ask({ method: 'POST', body })).body, `you said ${body}`)
  assert.equal(origin.seen[0]?.body, body)
})

test('with FailOpen, pieces that wait for an answer go on as they are when the processor fails', async (t) => {
  for (const failureMode of ['FailOpen', 'FailClosed']) {
    const { origin, ask } = await setUp(
      t,
      (message) => {
        if (message.request?.$case === 'requestBody') throw new Error('broken')
        return answering(() => null)(message)
      },
      { extProc: { ...STREAMED, failureMode }, answer: echo },
    )
    const answer = await ask({ method: 'POST', body: 'hello' })
    assert.equal(answer.status, failureMode === 'FailOpen' ? 200 : 500)
    if (failureMode === 'FailOpen') assert.equal(origin.seen[0]?.body, 'hello')
  }
})

test('an answer at the first piece of a response is the answer, and so is a failure', async (t) => {
  const modes = [{}, STREAMED]
  for (const extProc of modes) {
    for (const [path, status, body] of [
      ['/refused', 451, 'hidden'],
      ['/broken', 500, 'ext_proc failed: the call to the processor failed'],
    ] as const) {
      let asked = ''
      const { gateway, ask } = await setUp(
        t,
        (message) => {
          asked = fieldsOf(message)[':path'] ?? asked
          if (message.request?.$case !== 'responseBody')
            return extProc === STREAMED ? answering(() => null)(message) : agree(message)
          if (asked === '/broken') throw new Error('broken')
          return immediate(451, 'hidden')
        },
        { extProc },
      )
      const answer = await ask({ path })
      assert.deepEqual([answer.status, answer.body], [status, body])
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.reason, 'ExtProc')
    }
  }
})

test('a response head without a body yet does not wait for the processor', async (t) => {
  let finish = (): void => {}
  const { gateway } = await setUp(t, agree, {
    answer: (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      finish = () => response.end('data: 1\n\n')
    },
  })
  const [response] = (await once(get({ port: gateway.port(), host: '127.0.0.1' }), 'response')) as [IncomingMessage]
  finish()
  assert.equal(Buffer.concat((await response.toArray()) as Buffer[]).toString(), 'data: 1\n\n')
})

test('CONTINUE_AND_REPLACE is the last word on a body: with a new one, and without', async (t) => {
  const options = (mode: string) => ({ processingOptions: { requestBodyMode: mode, responseBodyMode: mode } })
  for (const mode of ['None', 'Buffered', 'Streamed']) {
    const { origin, processor, ask } = await setUp(
      t,
      ({ request: part }) => answerTo(part?.$case ?? 'requestHeaders', { status: 1 }),
      { extProc: options(mode), answer: echo },
    )
    const answer = await ask({ method: 'POST', body: 'hello' })
    assert.deepEqual([origin.seen[0]?.body, answer.body], ['hello', 'you said hello'])
    assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'responseHeaders'])
  }
  for (const mode of ['None', 'Buffered', 'Streamed', 'FullDuplexStreamed']) {
    const { origin, ask } = await setUp(
      t,
      (message) => {
        const part = message.request?.$case
        if (part !== 'requestHeaders' && part !== 'responseHeaders') return agree(message)
        return answerTo(part, { status: 1, ...bodyOf(part === 'requestHeaders' ? 'new question' : 'new answer') })
      },
      { extProc: options(mode) },
    )
    const answer = await ask({ method: 'POST', body: 'hello' })
    assert.deepEqual([origin.seen[0]?.body, answer.body], ['new question', 'new answer'], mode)
  }
})

test('bytes of a header value stay as they are, UTF-8 or not', async (t) => {
  const { origin, ask } = await setUp(
    t,
    ({ request: part }) =>
      answerTo(
        part?.$case ?? 'requestHeaders',
        edits(bytesOption('x-name', [0x5a, 0xe9]), bytesOption('x-utf8', [0xc3, 0xab])),
      ),
    { extProc: { processingOptions: { requestBodyMode: 'None', responseBodyMode: 'None' } } },
  )
  const answer = await ask()
  assert.deepEqual([answer.headers['x-name'], answer.headers['x-utf8']], ['Z\xe9', '\xc3\xab'])
  assert.deepEqual([origin.seen[0]?.headers['x-name'], origin.seen[0]?.headers['x-utf8']], ['Z\xe9', '\xc3\xab'])
})

test('the processor may ask for more time, once for each message, up to what the config allows', async (t) => {
  for (const [maxMessageTimeout, asked, passes] of [
    ['30s', [30_000], true],
    // The first request counts: the second would let the request wait for a minute.
    ['60s', [1_100, 60_000], false],
    ['10s', [30_000], false],
    [undefined, [30_000], false],
  ] as const) {
    const processor = await useProcessor(t, (call) => {
      call.on('data', ({ request: part }: ProcessingRequest) => {
        for (const ms of asked) {
          const overrideMessageTimeout = { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 }
          // Other fields of such a message do not count.
          call.write(complete({ ...answerTo('responseTrailers'), overrideMessageTimeout }))
        }
        if (passes) setTimeout(() => call.write(complete(answerTo(part?.$case ?? 'requestHeaders'))), 1_500)
      })
    })
    const origin = await useOrigin(t)
    const processingOptions = { requestBodyMode: 'None', responseBodyMode: 'None', responseHeaderMode: 'Skip' }
    const limits = { messageTimeout: '1s', ...(maxMessageTimeout !== undefined && { maxMessageTimeout }) }
    const extProc = { backendRef: { host: processor.host }, processingOptions, ...limits }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
    assert.equal((await request(gateway.port())).status, passes ? 200 : 500)
  }
})

test('a processor that answers pieces with streamed_response where each wants one answer has failed', async (t) => {
  const { ask } = await setUp(
    t,
    (message) =>
      message.request?.$case === 'requestBody'
        ? piece('requestBody', Buffer.from('x'), true)
        : answering(() => null)(message),
    { extProc: STREAMED },
  )
  const answer = await ask({ method: 'POST', body: 'x' })
  assert.equal(answer.status, 500)
})
