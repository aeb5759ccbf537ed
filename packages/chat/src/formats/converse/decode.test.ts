import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { responseContext } from '../../testing/chat-request.ts'
import { eventMessage, eventStreamMessage, exceptionMessage, textHeader } from '../../testing/event-stream-message.ts'
import { type CollectedResponse, collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { converse } from './index.ts'

function decodeBody(body: JsonObject, context: ResponseContext = responseContext()): ChatEvent[] {
  const events = converse.decodeResponse(body, context)
  assert.ok(events)
  return events
}

function decodeStream(chunks: Buffer[], context: ResponseContext = responseContext()): ChatEvent[] {
  const decoder = converse.createStreamDecoder(context)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

type StreamEvent = [type: string, payload: JsonObject]

function streamOf(events: StreamEvent[]): Buffer {
  return Buffer.concat(events.map(([type, payload]) => eventMessage(type, payload)))
}

function answer(content: JsonObject[], stopReason = 'end_turn', more: JsonObject = {}): JsonObject {
  return { output: { message: { role: 'assistant', content } }, stopReason, ...more }
}

const usage = {
  inputTokens: 30,
  outputTokens: 40,
  totalTokens: 570,
  cacheReadInputTokens: 400,
  cacheWriteInputTokens: 100,
}

/** As Bedrock sends it, padding included. */
const recorded: StreamEvent[] = [
  ['messageStart', { role: 'assistant', p: 'abcdef' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Two ' } }, p: 'ab' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'cities.' } }, p: 'ab' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'EqoBCkgIARAB' } }, p: 'a' }],
  ['contentBlockStop', { contentBlockIndex: 0, p: 'abcd' }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Züri' }, p: 'abcdefgh' }],
  ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'ch?' }, p: 'abc' }],
  ['contentBlockStop', { contentBlockIndex: 1, p: 'abcd' }],
  ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { name: 'get_weather', toolUseId: 'tooluse_1' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"city":' } } }],
  ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '"Wien"}' } } }],
  ['contentBlockStop', { contentBlockIndex: 2 }],
  ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { name: 'get_time', toolUseId: 'tooluse_2' } } }],
  ['contentBlockStop', { contentBlockIndex: 3 }],
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage, metrics: { latencyMs: 1200 } }],
]

const whole = answer(
  [
    { reasoningContent: { reasoningText: { text: 'Two cities.', signature: 'EqoBCkgIARAB' } } },
    { text: 'Zürich?' },
    { toolUse: { toolUseId: 'tooluse_1', name: 'get_weather', input: { city: 'Wien' } } },
    { toolUse: { toolUseId: 'tooluse_2', name: 'get_time', input: {} } },
  ],
  'tool_use',
  { usage, metrics: { latencyMs: 1200 } },
)

const expected: CollectedResponse = {
  id: 'bedrock-1',
  model: 'model',
  parts: [
    { type: 'reasoning', text: 'Two cities.', signature: 'anthropic:EqoBCkgIARAB' },
    { type: 'text', text: 'Zürich?' },
    { type: 'toolCall', id: 'tooluse_1', name: 'get_weather', arguments: '{"city":"Wien"}' },
    { type: 'toolCall', id: 'tooluse_2', name: 'get_time', arguments: '{}' },
  ],
  usage: { input: 530, output: 40, cacheRead: 400, cacheWrite: 100, providerInput: 30, providerTotal: 570 },
  finish: { reason: 'toolCalls' },
  error: null,
}

test('an exchange is the same streamed and whole', () => {
  assert.deepEqual(collectResponse(decodeBody(whole)), expected)
  assert.deepEqual(collectResponse(decodeStream([streamOf(recorded)])), expected)
})

test('a stream may be cut at every byte', () => {
  const bytes = streamOf(recorded)
  const events = decodeStream([bytes])
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(decodeStream([bytes.subarray(0, cut), bytes.subarray(cut)]), events)
  }
})

test('usage comes before the end, and the end comes last', () => {
  const types = decodeStream([streamOf(recorded)]).map(({ type }) => type)
  assert.deepEqual(types.slice(-2), ['usage', 'finish'])
})

test('names of tools are mapped back', () => {
  const context = responseContext({ toolNames: new Map([['get_time', 'mcp/time']]) })
  const call = { toolUse: { toolUseId: 'a', name: 'get_time', input: { large: 1 } } }
  assert.deepEqual(collectResponse(decodeBody(answer([call], 'tool_use'), context)).parts, [
    { type: 'toolCall', id: 'a', name: 'mcp/time', arguments: '{"large":1}' },
  ])
})

test('sealed reasoning stays reasoning, also in pieces', () => {
  const parts = [{ type: 'reasoning', text: '', opaque: 'amazon:AAECAwQF' }]
  assert.deepEqual(
    collectResponse(decodeBody(answer([{ reasoningContent: { redactedContent: 'AAECAwQF' } }]))).parts,
    parts,
  )
  const pieces: StreamEvent[] = ['AAE=', 'AgMEBQ=='].map((redactedContent) => [
    'contentBlockDelta',
    { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent } } },
  ])
  const events = decodeStream([streamOf([...pieces, ['messageStop', { stopReason: 'end_turn' }]])])
  assert.deepEqual(collectResponse(events).parts, parts)
})

test('a text with citations is a text', () => {
  const cited = { citationsContent: { content: [{ text: 'a' }, { text: 'b' }], citations: [{}] } }
  assert.deepEqual(collectResponse(decodeBody(answer([cited]))).parts, [{ type: 'text', text: 'ab' }])
})

test('every reason to stop has its word', () => {
  const reason = (stopReason: string, more: JsonObject = {}) =>
    collectResponse(decodeBody(answer([], stopReason, more))).finish
  assert.deepEqual(reason('end_turn'), { reason: 'stop' })
  assert.deepEqual(reason('max_tokens'), { reason: 'length' })
  assert.deepEqual(reason('tool_use'), { reason: 'toolCalls' })
  assert.deepEqual(reason('model_context_window_exceeded'), { reason: 'contextWindow' })
  assert.deepEqual(reason('content_filtered'), { reason: 'filtered' })
  assert.deepEqual(reason('guardrail_intervened'), { reason: 'filtered' })
  assert.deepEqual(reason('something_new'), { reason: 'stop' })
  assert.deepEqual(reason('stop_sequence', { additionalModelResponseFields: { stop_sequence: 'END' } }), {
    reason: 'stopSequence',
    stopSequence: 'END',
  })
  const stop = { stopReason: 'stop_sequence', additionalModelResponseFields: { delta: { stop_sequence: 'END' } } }
  assert.deepEqual(collectResponse(decodeStream([streamOf([['messageStop', stop]])])).finish, {
    reason: 'stopSequence',
    stopSequence: 'END',
  })
})

test('a body of another format is none', () => {
  assert.equal(converse.decodeResponse({ choices: [] }, responseContext()), null)
  assert.equal(converse.decodeResponse({ output: [] }, responseContext()), null)
})

test('exceptions inside a stream keep their name, message and status', () => {
  const before = streamOf(recorded.slice(0, 3))
  const statuses = {
    throttlingException: [429, 'rateLimit'],
    validationException: [400, 'invalid'],
    internalServerException: [500, 'api'],
    modelStreamErrorException: [424, 'api'],
    serviceUnavailableException: [503, 'overloaded'],
    somethingNewException: [502, 'api'],
  } as const
  for (const [code, [status, kind]] of Object.entries(statuses)) {
    const events = decodeStream([before, exceptionMessage(code, { message: 'Too many tokens' }), streamOf(recorded)])
    assert.deepEqual(events.at(-1), { type: 'error', error: { status, kind, message: 'Too many tokens', code } })
    assert.equal(events.filter(({ type }) => type === 'error').length, 1)
  }
})

test('an error of the transport is told by its headers', () => {
  const headers = [
    textHeader(':message-type', 'error'),
    textHeader(':error-code', 'InternalError'),
    textHeader(':error-message', 'An internal server error occurred'),
  ]
  assert.deepEqual(decodeStream([eventStreamMessage(Buffer.concat(headers), Buffer.alloc(0))]), [
    {
      type: 'error',
      error: { status: 502, kind: 'api', message: 'An internal server error occurred', code: 'InternalError' },
    },
  ])
})

test('a stream that breaks off, or is none, ends with one error', () => {
  const bytes = streamOf(recorded)
  const damaged = Buffer.from(bytes)
  damaged.writeUInt8(damaged.readUInt8(200) ^ 1, 200)
  const noJson = eventStreamMessage(
    Buffer.concat([textHeader(':message-type', 'event'), textHeader(':event-type', 'messageStart')]),
    Buffer.from('{'),
  )
  for (const broken of [
    Buffer.alloc(0),
    bytes.subarray(0, -1),
    streamOf(recorded.slice(0, 5)),
    damaged,
    noJson,
    Buffer.from('{"message":"no event stream"}'),
  ]) {
    const events = decodeStream([broken])
    assert.equal(events.at(-1)?.type, 'error')
    assert.equal(events.filter(({ type }) => type === 'error' || type === 'finish').length, 1)
  }
})

test('errors keep their status and message', () => {
  const error = (status: number, body: unknown) => converse.decodeError(status, Buffer.from(JSON.stringify(body)))
  assert.deepEqual(error(400, { message: 'no' }), { status: 400, kind: 'invalid', message: 'no' })
  assert.deepEqual(error(403, { Message: 'no' }), { status: 403, kind: 'permission', message: 'no' })
  assert.deepEqual(error(429, { __type: 'com.amazon.coral#ThrottlingException', message: 'slow' }), {
    status: 429,
    kind: 'rateLimit',
    message: 'slow',
    code: 'ThrottlingException',
  })
  assert.deepEqual(error(424, { message: 'model' }), { status: 424, kind: 'api', message: 'model' })
  assert.equal(error(503, { other: 1 }).message, 'the provider answered with status 503')
})

test('any exchange is the same streamed, cut anywhere, and whole', () => {
  fc.assert(
    fc.property(exchanges, fc.array(fc.nat(), { maxLength: 6 }), ({ body, events }, cuts) => {
      const folded = collectResponse(decodeBody(body))
      assert.equal(folded.error, null)
      assert.deepEqual(collectResponse(decodeStream(cutAt(streamOf(events), cuts))), folded)
    }),
    { numRuns: 200 },
  )
})

test('hostile events give one error or one end, and never throw', () => {
  const message = fc
    .tuple(fc.constantFrom(...TYPES, 'other'), hostilePayloads)
    .map(([type, payload]) => eventMessage(type, payload))
  const chunks = fc.array(
    fc.oneof(
      { weight: 9, arbitrary: message },
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    ),
  )
  fc.assert(
    fc.property(chunks, (list) => {
      const ends = decodeStream(list).filter(({ type }) => type === 'error' || type === 'finish')
      assert.equal(ends.length, 1)
    }),
  )
  fc.assert(fc.property(hostilePayloads, (body) => converse.decodeResponse(body, responseContext()) !== undefined))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => converse.decodeError(500, Buffer.from(bytes)).status === 500))
})

const TYPES = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
const contents = fc.oneof(
  fc.record({ text: pieces }),
  fc.record({ reasoning: pieces, signature: fc.option(fc.base64String({ minLength: 4 }), { nil: undefined }) }),
  fc.record({ call: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 })), cut: fc.nat(20) }),
  fc.record({ redacted: fc.base64String({ minLength: 4 }) }),
)

/** A body, and the same answer as events, with texts and arguments in pieces. */
const exchanges = fc
  .record({
    contents: fc.array(contents, { maxLength: 5 }),
    input: fc.nat(999),
    output: fc.nat(999),
    isLong: fc.boolean(),
  })
  .map(({ contents, input, output, isLong }) => {
    const blocks: JsonObject[] = []
    const events: StreamEvent[] = [['messageStart', { role: 'assistant' }]]
    for (const [contentBlockIndex, content] of contents.entries()) {
      const delta = (value: JsonObject) => events.push(['contentBlockDelta', { contentBlockIndex, delta: value }])
      if ('text' in content) {
        blocks.push({ text: content.text.join('') })
        for (const text of content.text) delta({ text })
      } else if ('reasoning' in content) {
        const signature: JsonObject = content.signature === undefined ? {} : { signature: content.signature }
        blocks.push({ reasoningContent: { reasoningText: { text: content.reasoning.join(''), ...signature } } })
        for (const text of content.reasoning) delta({ reasoningContent: { text } })
        if (content.signature !== undefined) delta({ reasoningContent: signature })
      } else if ('redacted' in content) {
        blocks.push({ reasoningContent: { redactedContent: content.redacted } })
        delta({ reasoningContent: { redactedContent: content.redacted } })
      } else {
        const call: JsonObject = { toolUseId: `tooluse_${contentBlockIndex}`, name: 'a' }
        const text = JSON.stringify(content.call)
        blocks.push({ toolUse: { ...call, input: JSON.parse(text) } })
        events.push(['contentBlockStart', { contentBlockIndex, start: { toolUse: call } }])
        if (text !== '{}')
          for (const input of [text.slice(0, content.cut), text.slice(content.cut)]) delta({ toolUse: { input } })
      }
      events.push(['contentBlockStop', { contentBlockIndex }])
    }
    const stopReason = isLong ? 'max_tokens' : 'end_turn'
    const counts = { usage: { inputTokens: input, outputTokens: output, totalTokens: input + output } }
    events.push(['messageStop', { stopReason }], ['metadata', counts])
    return { body: answer(blocks, stopReason, counts), events }
  })

const hostilePayloads: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('contentBlockIndex', 'delta', 'start', 'stopReason', 'usage', 'output'),
  fc.oneof(
    fc.nat(3),
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(
      fc.constantFrom('text', 'toolUse', 'reasoningContent', 'message', 'input', 'content', 'redactedContent'),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  ) as fc.Arbitrary<JsonObject>,
)
