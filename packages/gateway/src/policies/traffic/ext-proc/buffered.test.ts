import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import {
  agree,
  answerTo,
  bodyOf,
  bytesOf,
  fieldsOf,
  headers,
  immediate,
  partsOf,
  type Process,
  useAnsweringProcessor,
} from '../../../testing/services/processor.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

const WHOLE = { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' }
const PARTIAL = { requestBodyMode: 'BufferedPartial', responseBodyMode: 'BufferedPartial' }

interface SetUp {
  options?: object
  extProc?: object
  policies?: object
  answer?: OriginHandler
  /** `maxBufferSize` */
  room?: string
}

async function setUp(t: TestContext, process: Process, { options = WHOLE, room = '1Ki', ...more }: SetUp = {}) {
  const origin = await useOrigin(t, more.answer)
  const processor = await useAnsweringProcessor(t, process)
  const extProc = { backendRef: { host: processor.host }, processingOptions: options, ...more.extProc }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { extProc, ...more.policies })], { frontend: { http: { maxBufferSize: room } } }),
  )
  return { origin, processor, gateway, ask: (sent = {}) => request(gateway.port(), sent) }
}

/** Agrees to heads, and answers bodies as it is told. */
const answering =
  (common: Record<'requestBody' | 'responseBody', Parameters<typeof answerTo>[1]>): Process =>
  (message) => {
    const part = message.request?.$case
    return part === 'requestBody' || part === 'responseBody' ? answerTo(part, common[part]) : agree(message)
  }

test('whole bodies are replaced, and their lengths are right', async (t) => {
  const process = answering({
    requestBody: { ...bodyOf('a longer question'), ...headers({ 'x-late': 'in time' }) },
    responseBody: { ...bodyOf('short'), ...headers({ 'x-late': 'too' }) },
  })
  const { origin, processor, ask } = await setUp(t, process, {
    answer: (_seen, response) => response.end('a long answer'),
  })
  const answer = await ask({ method: 'POST', body: 'question' })
  assert.deepEqual([answer.body, answer.headers['content-length'], answer.headers['x-late']], ['short', '5', 'too'])
  const [seen] = origin.seen
  assert.deepEqual(
    [seen?.body, seen?.headers['content-length'], seen?.headers['x-late']],
    ['a longer question', '17', 'in time'],
  )
  await until(() => processor.ended === 1)
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'])
  assert.equal(bytesOf(processor.seen, 'requestBody'), 'question')
  assert.equal(bytesOf(processor.seen, 'responseBody'), 'a long answer')
  for (const { request: part } of processor.seen) {
    if (part?.$case === 'requestBody' || part?.$case === 'responseBody') assert.equal(part.value.endOfStream, true)
  }
})

test('bodies stay as they are, or become empty', async (t) => {
  const clear = { bodyMutation: { mutation: { $case: 'clearBody' as const, value: true } } }
  const kept = await setUp(t, answering({ requestBody: {}, responseBody: {} }))
  assert.equal((await kept.ask({ method: 'POST', body: 'q' })).body, 'ok')
  assert.equal(kept.origin.seen[0]?.body, 'q')
  const cleared = await setUp(t, answering({ requestBody: clear, responseBody: clear }))
  const answer = await cleared.ask({ method: 'POST', body: 'q' })
  assert.deepEqual([answer.status, answer.body, answer.headers['content-length']], [200, '', '0'])
  assert.equal(cleared.origin.seen[0]?.body, '')
})

test('messages without a body have none to process', async (t) => {
  const { processor, ask } = await setUp(t, agree, { answer: (_seen, response) => response.writeHead(204).end() })
  assert.equal((await ask()).status, 204)
  assert.equal((await ask({ method: 'HEAD' })).status, 204)
  assert.deepEqual(partsOf(processor.seen), ['requestHeaders', 'responseHeaders', 'requestHeaders', 'responseHeaders'])
  for (const { request: part } of processor.seen) {
    if (part?.$case === 'requestHeaders' || part?.$case === 'responseHeaders')
      assert.equal(part.value.endOfStream, true)
  }
})

test('a body that is too large is refused, whatever the failure mode', async (t) => {
  for (const failureMode of ['FailClosed', 'FailOpen']) {
    const process = answering({ requestBody: {}, responseBody: {} })
    const { origin, ask } = await setUp(t, process, {
      extProc: { failureMode },
      answer: (_seen, response) => response.end('y'.repeat(2_000)),
    })
    assert.equal((await ask({ method: 'POST', body: 'x'.repeat(2_000) })).status, 413)
    assert.equal(origin.seen.length, 0)
    assert.equal((await ask()).status, 502)
  }
})

test('it answers once it has seen a body', async (t) => {
  const { origin, ask } = await setUp(t, (message) => {
    const part = message.request
    if (part?.$case === 'requestBody')
      return Buffer.from(part.value.body).includes('bad') ? immediate(422, 'no') : answerTo(part.$case)
    return part?.$case === 'responseBody' ? immediate(451, 'hidden') : agree(message)
  })
  const refused = await ask({ method: 'POST', body: 'bad' })
  assert.deepEqual([refused.status, refused.body, origin.seen.length], [422, 'no', 0])
  const hidden = await ask({ method: 'POST', body: 'good' })
  assert.deepEqual([hidden.status, hidden.body, origin.seen.length], [451, 'hidden', 1])
})

test('one that fails at a body that was read fails the request, or lets it pass whole', async (t) => {
  for (const broken of ['requestBody', 'responseBody']) {
    for (const [failureMode, status] of [
      ['FailClosed', 500],
      ['FailOpen', 200],
    ] as const) {
      const process: Process = (message) => {
        if (message.request?.$case === broken) throw new Error('broken')
        return message.request?.$case.endsWith('Body') === true ? answerTo(message.request.$case) : agree(message)
      }
      const { origin, ask } = await setUp(t, process, { extProc: { failureMode } })
      const answer = await ask({ method: 'POST', body: 'question' })
      assert.equal(answer.status, status, `${broken} ${failureMode}: ${answer.body}`)
      if (status === 200) assert.deepEqual([answer.body, origin.seen[0]?.body], ['ok', 'question'])
    }
  }
})

test('a piece of a stream is no answer to a whole body', async (t) => {
  const { ask } = await setUp(t, agree)
  assert.equal((await ask({ method: 'POST', body: 'x' })).status, 500)
})

test('the processor gets the beginning of a long body, and the rest follows its replacement', async (t) => {
  const process = answering({ requestBody: bodyOf('NEW'), responseBody: bodyOf('OTHER') })
  const long = (letter: string) => 'start'.padEnd(100, '.').padEnd(300_000, letter)
  const { origin, processor, ask } = await setUp(t, process, {
    options: PARTIAL,
    room: '100',
    answer: (_seen, response) => response.end(long('b')),
  })
  const answer = await ask({ method: 'POST', body: long('a') })
  assert.equal(origin.seen[0]?.body, 'NEW' + long('a').slice(100))
  assert.equal(answer.body, 'OTHER' + long('b').slice(100))
  assert.equal(bytesOf(processor.seen, 'requestBody'), long('a').slice(0, 100))
  const ends = processor.seen.flatMap(({ request: part }) =>
    part?.$case === 'requestBody' || part?.$case === 'responseBody' ? [part.value.endOfStream] : [],
  )
  assert.deepEqual(ends, [false, false])
  const short = await setUp(t, process, { options: PARTIAL, room: '100' })
  assert.equal((await short.ask({ method: 'POST', body: 'short' })).body, 'OTHER')
  assert.equal(short.origin.seen[0]?.body, 'NEW')
  const kept = await setUp(t, answering({ requestBody: {}, responseBody: {} }), { options: PARTIAL, room: '100' })
  assert.equal((await kept.ask({ method: 'POST', body: long('c') })).body, 'ok')
  assert.equal(kept.origin.seen[0]?.body, long('c'))
})

test('trailers go to the processor, whatever becomes of the body', async (t) => {
  const modes = [
    WHOLE,
    PARTIAL,
    { requestBodyMode: 'Streamed', responseBodyMode: 'Streamed' },
    { requestBodyMode: 'None', responseBodyMode: 'None' },
    { requestBodyMode: 'FullDuplexStreamed', responseBodyMode: 'FullDuplexStreamed' },
  ]
  for (const [index, options] of modes.entries()) {
    const process: Process = (message) => {
      const part = message.request?.$case
      if (part === 'requestTrailers') return answerTo(part, headers({ 'x-new': 'n', 'content-length': '1' }, ['x-old']))
      if (part === 'responseTrailers') return answerTo(part, headers({ 'x-more': 'm' }))
      return index < 3 && (part === 'requestBody' || part === 'responseBody') ? answerTo(part) : agree(message)
    }
    const { origin, processor, gateway } = await setUp(t, process, {
      options,
      answer: (_seen, response) => {
        response.writeHead(200, { trailer: 'x-sum' })
        response.write('o')
        response.addTrailers({ 'x-sum': '7' })
        response.end('k')
      },
    })
    const head =
      'POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: te, close\r\ntransfer-encoding: chunked\r\n\r\n'
    const answer = await sendRaw(gateway.port(), `${head}2\r\nab\r\n0\r\nx-old: o\r\nx-kept: k\r\n\r\n`)
    assert.equal(answer.body, 'ok', `mode ${index}`)
    assert.match(answer.text, /x-sum: 7\r\nx-more: m\r\n/, `mode ${index}`)
    assert.equal(origin.seen[0]?.body, 'ab')
    assert.deepEqual({ ...origin.seen[0]?.trailers }, { 'x-kept': 'k', 'x-new': 'n' })
    await until(() => processor.ended === 1)
    const trailers = processor.seen.find(({ request: part }) => part?.$case === 'requestTrailers')
    assert.deepEqual(fieldsOf(trailers), { 'x-old': 'o', 'x-kept': 'k' })
  }
})

test('trailers that the processor shall not get follow the body as they are', async (t) => {
  for (const mode of ['None', 'Buffered', 'BufferedPartial', 'Streamed']) {
    const bodies = { requestBodyMode: mode, responseBodyMode: mode }
    const { origin, processor, gateway } = await setUp(t, answering({ requestBody: {}, responseBody: {} }), {
      options: { ...bodies, requestTrailerMode: 'Skip', responseTrailerMode: 'Skip' },
      answer: (_seen, response) => {
        response.writeHead(200, { trailer: 'x-sum' })
        response.write('o')
        response.addTrailers({ 'x-sum': '7' })
        response.end('k')
      },
    })
    const head =
      'POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: te, close\r\ntransfer-encoding: chunked\r\n\r\n'
    const answer = await sendRaw(gateway.port(), `${head}2\r\nab\r\n0\r\nx-old: o\r\n\r\n`)
    assert.equal(answer.body, 'ok', mode)
    assert.match(answer.text, /x-sum: 7\r\n/, mode)
    assert.deepEqual([origin.seen[0]?.body, { ...origin.seen[0]?.trailers }], ['ab', { 'x-old': 'o' }], mode)
    await until(() => processor.ended === 1)
    assert.deepEqual(
      partsOf(processor.seen).filter((part) => part.endsWith('Trailers')),
      [],
      mode,
    )
  }
})

test('it changes what it gets, where it may', async (t) => {
  const override = {
    requestHeaderMode: 0,
    responseHeaderMode: 2,
    requestBodyMode: 2,
    responseBodyMode: 0,
    requestTrailerMode: 0,
    responseTrailerMode: 2,
  } as const
  const process: Process = (message) => {
    const part = message.request?.$case
    if (part === 'requestHeaders') return { ...answerTo(part), modeOverride: override }
    return part === 'requestBody' ? answerTo(part, bodyOf('new')) : agree(message)
  }
  const NONE = { requestBodyMode: 'None', responseBodyMode: 'None' }
  for (const [options, parts, body] of [
    [{ ...NONE, allowModeOverride: true }, ['requestHeaders', 'requestBody'], 'new'],
    [NONE, ['requestHeaders', 'responseHeaders'], 'old'],
  ] as const) {
    const { origin, processor, ask } = await setUp(t, process, { options })
    assert.equal((await ask({ method: 'POST', body: 'old' })).body, 'ok')
    await until(() => processor.ended === 1)
    assert.deepEqual(partsOf(processor.seen), parts)
    assert.equal(origin.seen[0]?.body, body)
  }
})

test('rules behind it see the bodies that it leaves, and those before it the bodies that it gets', async (t) => {
  const process: Process = (message) => {
    const part = message.request
    if (part?.$case !== 'requestBody' && part?.$case !== 'responseBody') return agree(message)
    return answerTo(part.$case, bodyOf(`<${Buffer.from(part.value.body).toString()}>`))
  }
  const transformation = {
    request: { body: 'string(request.body) + "!"' },
    response: { body: '"(" + string(response.body) + ")"' },
  }
  const authorization = { rules: ['string(request.body) == "question"'] }
  const { origin, ask } = await setUp(t, process, { policies: { transformation, authorization } })
  const answer = await ask({ method: 'POST', body: 'question' })
  assert.deepEqual([answer.status, origin.seen[0]?.body, answer.body], [200, '<question>!', '<(ok)>'])
})

test('a request is processed once, however often it is sent', async (t) => {
  let calls = 0
  const process = answering({ requestBody: bodyOf('new'), responseBody: {} })
  const { origin, processor, ask } = await setUp(t, process, {
    policies: { retry: { attempts: 3, codes: [503] } },
    answer: (_seen, response) => response.writeHead(++calls < 3 ? 503 : 200).end('ok'),
  })
  assert.equal((await ask({ method: 'POST', body: 'old' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['new', 'new', 'new'],
  )
  assert.equal(partsOf(processor.seen).filter((part) => part === 'requestBody').length, 1)
})
