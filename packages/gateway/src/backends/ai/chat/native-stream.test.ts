import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { type ChatEvent, clientFormats, upstreamFormats } from '@portico/chat'
import { everyCut, responseContext } from '../../../../../chat/src/testing/exchange.ts'
import type { Chunks, ResponseObserver } from './stream-body.ts'
import { NativeStream } from './native-stream.ts'

const chunk = (choice: object, usage: object | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [choice], usage })}\n\n`
const saying = (content: string): string => chunk({ index: 0, delta: { content }, finish_reason: null })
const finish = chunk({ index: 0, delta: {}, finish_reason: 'stop' })
const usage =
  'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'
const done = 'data: [DONE]\n\n'
const garbage = '\u0000data: {"never": closed\n\ný{{{\r\r\n'

/** `isFramed` says that the pieces arrive as chunks in wire format, like events over HTTP/1.1. */
function passed(stream: string, cuts: number[] = [], hidesUsage = false, isFramed = false) {
  const context = responseContext()
  const events: ChatEvent[] = []
  const outcomes: Parameters<ResponseObserver['over']>[0][] = []
  const observer: ResponseObserver = {
    requestedModel: null,
    observe: (event) => events.push(event),
    ending() {},
    over: (it) => outcomes.push(it),
  }
  const encoder = clientFormats.completions.createStreamEncoder(context)
  const work = new NativeStream(upstreamFormats.completions.createStreamDecoder(context), observer, {
    hidesUsage,
    awaitsContent: false,
    keepsLastRecord: false,
    endMarks: clientFormats.completions.endMarks,
    isEnd: null,
    tellError: (error) => encoder.event({ type: 'error', error }) + encoder.end(),
    redact: (text) => text,
    guard: null,
  })
  const bytes = Buffer.from(stream)
  const edges = [0, ...cuts, bytes.length]
  let given = ''
  for (const [at, edge] of edges.slice(1).entries()) {
    if (work.isDone) break
    const piece = bytes.subarray(edges[at], edge)
    const framed = `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`
    const dataAt = framed.indexOf('\n') + 1
    if (isFramed && work.mayPass && work.passes(framed, dataAt)) {
      work.passed(framed, dataAt)
      given += piece.toString()
    } else given += atOnce(work.chunk(piece))
  }
  if (!work.isDone) given += atOnce(work.end())
  work.over()
  return { given, events, firstError: work.firstError, outcome: outcomes[0] }
}

function atOnce(given: Chunks | Promise<Chunks>): string {
  return given instanceof Promise ? assert.fail('waits') : Buffer.concat(given).toString()
}

test('a stream passes as it is, wherever it is cut; the usage that nobody asked for is kept back', () => {
  const stream = saying('Hé') + saying('llo') + finish + usage + done
  for (const cuts of everyCut(Buffer.byteLength(stream))) {
    assert.equal(passed(stream, cuts).given, stream)
    const { given, events } = passed(stream, cuts, true)
    assert.equal(given, stream.replace(usage, ''))
    assert.equal(events.findLast((event) => event.type === 'usage')?.usage.output, 2)
  }
})

test('a record that is a chunk of its own is judged and counted as one that comes byte by byte', () => {
  const record = fc.constantFrom(
    saying('Hé'),
    saying('"usage'),
    saying('data: [DONE]'),
    `${saying('a').trimEnd()}\n\n\n`,
    `\n${saying('a')}`,
    saying('b').replaceAll('\n', '\r\n'),
    saying('b').replaceAll('\n', '\r'),
    saying('c').slice(0, -1),
    ': busy\n\n',
    'data: {"choices":[{"index":0,"delta":{"content":"z"}}],"usage" : null,"more":{"usageMetadata":{}}}\n\n',
    'data: {"choices":[],"usage":null}\n\n',
    'data: {"choices":[{"index":0,"delta":{"content":"w"}}]}\n\n',
    'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason" : "length"}]}\n\n',
    'data: {"choices":[{"index":0,"delta":{"content":"y"}}],"usage":{"prompt_tokens":9,"completion_tokens":8}}\n\n',
    'data: {"error":{"message":"too much"}}\n\n',
    'data:[DONE]\n\n',
    finish,
    usage,
    done,
    garbage,
  )
  fc.assert(
    fc.property(fc.array(record, { maxLength: 8 }), fc.boolean(), (records, hidesUsage) => {
      const parts = [saying('first'), ...records]
      const bytes = Buffer.byteLength(parts.join(''))
      let at = 0
      const edges = parts.map((part) => (at += Buffer.byteLength(part))).slice(0, -1)
      const everyByte = Array.from({ length: bytes - 1 }, (_, byte) => byte + 1)
      const whole = passed(parts.join(''), edges, hidesUsage)
      const framed = passed(parts.join(''), edges, hidesUsage, true)
      assert.deepEqual(framed, whole)
      const cut = passed(parts.join(''), everyByte, hidesUsage)
      // Records after an unreadable record may or may not be counted.
      if (whole.outcome?.fault && cut.outcome?.fault) whole.outcome.records = cut.outcome.records
      assert.deepEqual(whole, cut)
    }),
    { seed: 5, numRuns: 500 },
  )
})

test('lines may end in CR LF, and the last record without its empty line', () => {
  const stream = (saying('Hello') + finish + usage + done).replaceAll('\n', '\r\n')
  const hidden = stream.replace(usage.replaceAll('\n', '\r\n'), '')
  for (const cuts of everyCut(stream.length)) assert.equal(passed(stream, cuts, true).given, hidden)
  assert.equal(passed(stream.trimEnd()).given, stream.trimEnd())
})

test('a stream whose lines end in CR alone is one record here, and loses nothing', () => {
  const stream = (saying('Hel') + saying('lo') + finish + usage + done).replaceAll('\n', '\r')
  for (const hidesUsage of [false, true]) {
    const { given, events } = passed(stream, [], hidesUsage)
    assert.equal(given, stream)
    assert.equal(events.findLast((event) => event.type === 'usage')?.usage.output, 2)
  }
})

test('nothing leaves before a record that can be read: garbage is an error that another provider may mend', () => {
  for (const stream of [
    garbage,
    `data: ${garbage}`,
    'data: <html>\n\n',
    '<html>',
    '',
    ': busy\n\n',
    '{"choices":[]}',
    '{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}',
    '{\n  "choices": [{ "finish_reason": "stop" }]\n}\n\n',
  ]) {
    for (const hidesUsage of [false, true]) {
      const { given, firstError } = passed(stream, [], hidesUsage)
      assert.equal(firstError?.status, 502, stream)
      assert.match(given, /^data: \{"error":/, stream)
    }
  }
})

test('comments before the first record come with it', () => {
  const stream = `: busy\n\n${saying('Hello')}${finish}${done}`
  for (const cuts of everyCut(stream.length)) {
    const { given, firstError } = passed(stream, cuts)
    assert.equal(given, stream)
    assert.equal(firstError, null)
  }
})

test('a stream that is cut ends with whole records and an error', () => {
  const stream = saying('Hel') + saying('lo')
  for (let length = saying('Hel').length; length <= stream.length; length++) {
    const { given, firstError } = passed(stream.slice(0, length))
    const whole = length === stream.length ? stream : saying('Hel')
    assert.ok(given.startsWith(`${whole}data: {"error":`), given)
    assert.equal(firstError, null)
  }
})

test('the marks of an end are none in a text', () => {
  const texts = [
    '[DONE]',
    'data: [DONE]',
    '\ndata: [DONE]\n',
    'message_stop',
    'response.completed',
    '"finish_reason":"stop"',
  ]
  for (const text of texts) {
    const stream = saying(text)
    assert.ok(passed(stream).given.startsWith(`${stream}data: {"error":`), text)
    const message = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
    assert.doesNotMatch(`event: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`, clientFormats.messages.endMarks)
    const response = { type: 'response.output_text.delta', delta: text }
    assert.doesNotMatch(
      `event: ${response.type}\ndata: ${JSON.stringify(response)}\n\n`,
      clientFormats.responses.endMarks,
    )
  }
})

test('an end is one in whatever spacing it is written', () => {
  for (const record of ['data: [DONE]\n\n', 'data:[DONE]\r\n\r\n', 'id: 7\ndata: [DONE]\n\n'])
    assert.match(record, clientFormats.completions.endMarks)
  assert.match('data: {"choices" : [{"finish_reason" : "stop"}]}\n\n', clientFormats.completions.endMarks)
  assert.match('data: { "type" : "message_stop" }\n\n', clientFormats.messages.endMarks)
  assert.match('data: {"type" :\t"response.completed"}\n\n', clientFormats.responses.endMarks)
  for (const record of ['data: {"type":"message_stop"}\n\n', 'data: {"type": "error", "error": {}}\n\n'])
    assert.match(record, clientFormats.messages.endMarks)
  for (const record of ['data: {"type":"response.completed"}\n\n', 'data: {"type": "response.failed"}\n\n'])
    assert.match(record, clientFormats.responses.endMarks)
})

test("the provider's own error passes as it is", () => {
  const stream = 'data: {"error":{"message":"busy","type":"server_error"}}\n\n'
  const { given, firstError } = passed(stream)
  assert.equal(given, stream)
  assert.equal(firstError?.message, 'busy')
})

test('a record without end is given up', () => {
  const { given, firstError } = passed(`data: ${'x'.repeat(17 * 1024 * 1024)}`)
  assert.match(firstError?.message ?? '', /too long/)
  assert.match(given, /^data: \{"error":/)
})
