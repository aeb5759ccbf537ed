import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest, responseContext } from '../../testing/chat-request.ts'
import { type CollectedResponse, collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { gemini } from './index.ts'

function decodeBody(body: JsonObject, context: ResponseContext = responseContext()): ChatEvent[] {
  const events = gemini.decodeResponse(body, context)
  assert.ok(events)
  return events
}

function decodeStream(chunks: Buffer[], context: ResponseContext = responseContext()): ChatEvent[] {
  const decoder = gemini.createStreamDecoder(context)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

function streamOf(...records: JsonObject[]): Buffer {
  return Buffer.from(records.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`).join(''))
}

function answer(parts: JsonObject[], finishReason?: string): JsonObject {
  return { candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }] }
}

function fixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url))
}

const recorded: CollectedResponse = {
  id: 'zPkhaZ2nHPKmz7IP',
  model: 'gemini-3-flash-preview',
  parts: [
    { type: 'reasoning', text: '**Checking the Weather**\n\nThe user wants two cities.' },
    {
      type: 'toolCall',
      id: 'a1b2c3',
      name: 'get_weather',
      arguments: '{"city":"Zürich"}',
      signature: 'google:Cr8BAdHtim9vkT4=',
    },
    { type: 'toolCall', id: 'd4e5f6', name: 'get_weather', arguments: '{"city":"Wien"}' },
  ],
  usage: { input: 94, output: 79, cacheRead: 64, reasoning: 48, providerInput: 94, providerTotal: 173 },
  finish: { reason: 'toolCalls' },
  error: null,
}

test('a recorded exchange is the same streamed and whole', () => {
  assert.deepEqual(collectResponse(decodeBody(JSON.parse(fixture('tool-calls.json').toString()))), recorded)
  assert.deepEqual(collectResponse(decodeStream([fixture('tool-calls.sse')])), recorded)
})

test('a recorded stream may be cut at every byte', () => {
  const bytes = fixture('tool-calls.sse')
  const whole = decodeStream([bytes])
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(decodeStream([bytes.subarray(0, cut), bytes.subarray(cut)]), whole)
  }
})

test('usage is told as it grows, and the reason to stop comes last', () => {
  const types = decodeStream([fixture('tool-calls.sse')]).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'usage').length, 4)
  assert.equal(types.indexOf('finish'), types.length - 1)
})

test('a reason to stop with every piece does not end the answer', () => {
  const bytes = streamOf(answer([{ text: 'a' }], 'STOP'), answer([{ text: 'b' }], 'STOP'))
  assert.deepEqual(collectResponse(decodeStream([bytes])).parts, [{ type: 'text', text: 'ab' }])
})

test('integers in arguments are told as they came, streamed too', () => {
  fc.assert(
    fc.property(fc.bigInt(), (id) => {
      const args = `{"id":${id},"list":[${id}]}`
      const call = JSON.stringify(answer([{ functionCall: { name: 'f', args: { ARGS: 1 } } }], 'STOP'))
      const bytes = Buffer.from(`data: ${call.replace('{"ARGS":1}', args)}\r\n\r\n`)
      const [part] = collectResponse(decodeStream([bytes])).parts
      assert.equal(part?.type === 'toolCall' && part.arguments, args)
    }),
  )
})

test('names and ids of calls are mapped back', () => {
  const context = responseContext({ toolNames: new Map([['mcp_now', 'mcp/now']]) })
  const { parts } = collectResponse(decodeBody(answer([{ functionCall: { name: 'mcp_now' } }], 'STOP'), context))
  assert.deepEqual(parts, [{ type: 'toolCall', id: 'call_2', name: 'mcp/now', arguments: '{}' }])
})

test('the signature of a text goes to the thought before it', () => {
  const body = answer(
    [
      { text: 'hm', thought: true },
      { text: 'yes', thoughtSignature: 'AAEC' },
    ],
    'STOP',
  )
  assert.deepEqual(collectResponse(decodeBody(body)).parts, [
    { type: 'reasoning', text: 'hm', signature: 'google:AAEC' },
    { type: 'text', text: 'yes' },
  ])
})

test('a signature without a thought is kept for clients that asked for thoughts', () => {
  const body = answer([{ text: 'yes' }, { text: '', thoughtSignature: 'AAEC' }], 'STOP')
  assert.deepEqual(collectResponse(decodeBody(body)).parts, [{ type: 'text', text: 'yes' }])
  const context = responseContext({ request: chatRequest({ reasoning: { effort: 'low' } }) })
  assert.deepEqual(collectResponse(decodeBody(body, context)).parts, [
    { type: 'text', text: 'yes' },
    { type: 'reasoning', text: '', signature: 'google:AAEC' },
  ])
})

test('parts that only Gemini has are kept whole', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAEC' } }
  assert.deepEqual(collectResponse(decodeBody(answer([{ text: 'Here:' }, image], 'STOP'))).parts, [
    { type: 'text', text: 'Here:' },
    { type: 'native', format: 'gemini', value: image },
  ])
})

test('every reason to stop has its word', () => {
  const reason = (name: string, parts: JsonObject[] = []) =>
    collectResponse(decodeBody(answer(parts, name))).finish?.reason
  assert.equal(reason('STOP'), 'stop')
  assert.equal(reason('STOP', [{ functionCall: { name: 'a' } }]), 'toolCalls')
  assert.equal(reason('MAX_TOKENS', [{ functionCall: { name: 'a' } }]), 'length')
  for (const name of ['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII']) {
    assert.equal(reason(name), 'filtered')
  }
  for (const name of ['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'IMAGE_SAFETY', 'IMAGE_OTHER']) {
    assert.equal(reason(name), 'filtered')
  }
  assert.equal(reason('OTHER'), 'stop')
  assert.equal(reason('SOMETHING_NEW'), 'stop')
})

test('a blocked prompt is filtered', () => {
  const body = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } }
  const whole = collectResponse(decodeBody(body))
  assert.deepEqual(whole.finish, { reason: 'filtered' })
  assert.deepEqual(whole.usage, { input: 7, output: 0, providerInput: 7, providerTotal: 7 })
  assert.deepEqual(collectResponse(decodeStream([streamOf(body)])), whole)
})

test('tokens of other kinds are counted apart', () => {
  const body = {
    ...answer([], 'STOP'),
    usageMetadata: {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 10,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 5,
      totalTokenCount: 135,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 30 },
        { modality: 'AUDIO', tokenCount: 50 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
    },
  }
  assert.deepEqual(collectResponse(decodeBody(body)).usage, {
    input: 110,
    output: 25,
    reasoning: 5,
    inputAudio: 50,
    inputImage: 20,
    outputAudio: 20,
    providerInput: 100,
    providerTotal: 135,
  })
})

test('only the first candidate is read', () => {
  const candidates: JsonObject[] = [
    { index: 1, content: { parts: [{ text: 'other' }] } },
    { index: 0, content: { parts: [{ text: 'first' }] }, finishReason: 'STOP' },
  ]
  assert.deepEqual(collectResponse(decodeBody({ candidates })).parts, [{ type: 'text', text: 'first' }])
})

test('a body of another format is none', () => {
  assert.equal(gemini.decodeResponse({ choices: [] }, responseContext()), null)
})

test('a stream that breaks off ends with an error', () => {
  for (const bytes of [
    Buffer.alloc(0),
    streamOf(answer([{ text: 'a' }])),
    Buffer.from('data: {"candi'),
    Buffer.from('data: [1]\n\n'),
  ]) {
    const events = decodeStream([bytes])
    assert.equal(events.at(-1)?.type, 'error')
    assert.equal(events.filter(({ type }) => type === 'error' || type === 'finish').length, 1)
  }
})

test('an error inside a stream is told with its own status', () => {
  const bytes = streamOf(answer([{ text: 'a' }]), {
    error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
  })
  assert.deepEqual(decodeStream([bytes]).at(-1), {
    type: 'error',
    error: { status: 503, kind: 'overloaded', message: 'The model is overloaded.', code: 'UNAVAILABLE' },
  })
})

test('errors keep their status, message and word', () => {
  const body = (status: string) => Buffer.from(JSON.stringify({ error: { code: 400, message: 'no', status } }))
  const kinds = {
    INVALID_ARGUMENT: 'invalid',
    FAILED_PRECONDITION: 'invalid',
    NOT_FOUND: 'notFound',
    PERMISSION_DENIED: 'permission',
    UNAUTHENTICATED: 'authentication',
    RESOURCE_EXHAUSTED: 'rateLimit',
    UNAVAILABLE: 'overloaded',
    DEADLINE_EXCEEDED: 'timeout',
  }
  for (const [code, kind] of Object.entries(kinds)) {
    assert.deepEqual(gemini.decodeError(418, body(code)), { status: 418, kind, message: 'no', code })
  }
  const list = Buffer.from('[{"error":{"code":429,"message":"slow down"}}]')
  assert.deepEqual(gemini.decodeError(429, list), { status: 429, kind: 'rateLimit', message: 'slow down' })
  assert.deepEqual(gemini.decodeError(500, Buffer.from('<html>')), {
    status: 500,
    kind: 'api',
    message: 'the provider answered with status 500',
  })
})

test('any exchange is the same streamed, cut anywhere, and whole', () => {
  fc.assert(
    fc.property(exchanges, fc.array(fc.nat(), { maxLength: 6 }), ({ body, records }, cuts) => {
      const whole = collectResponse(decodeBody(body))
      assert.equal(whole.error, null)
      const bytes = streamOf(...records)
      assert.deepEqual(collectResponse(decodeStream(cutAt(bytes, cuts))), whole)
    }),
    { numRuns: 200 },
  )
})

test('hostile records give one error or one end, and never throw', () => {
  const records = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
      fc.jsonValue({ maxDepth: 2 }).map((value) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)),
      hostileRecords.map((value) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)),
    ),
  )
  fc.assert(
    fc.property(records, (chunks) => {
      const ends = decodeStream(chunks).filter(({ type }) => type === 'error' || type === 'finish')
      assert.equal(ends.length, 1)
    }),
  )
  fc.assert(fc.property(hostileRecords, (body) => gemini.decodeResponse(body, responseContext()) !== undefined))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => gemini.decodeError(500, Buffer.from(bytes)).status === 500))
})

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const pieces = fc.oneof(
  fc.record({ thought: fc.boolean(), texts: fc.array(texts, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    call: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 })),
    id: fc.option(texts, { nil: undefined }),
  }),
)
const counts = fc.record({
  promptTokenCount: fc.nat(999),
  candidatesTokenCount: fc.nat(999),
  totalTokenCount: fc.nat(1999),
})

/** A body, and the same answer as records: texts in pieces, usage with any of them. */
const exchanges = fc
  .record({
    pieces: fc.array(pieces, { maxLength: 5 }),
    usage: counts,
    early: counts,
    finish: fc.constantFrom('STOP', 'MAX_TOKENS'),
  })
  .map(({ pieces, usage, early, finish }) => {
    const ids = { responseId: 'r1', modelVersion: 'gemini-x' }
    const parts: JsonObject[] = []
    const records: JsonObject[] = [{ ...answer([]), usageMetadata: early, ...ids }]
    for (const piece of pieces) {
      if ('call' in piece) {
        const args = JSON.parse(JSON.stringify(piece.call))
        const part = { functionCall: { name: 'a', args, ...(piece.id !== undefined && { id: piece.id }) } }
        parts.push(part)
        records.push(answer([part]))
        continue
      }
      const thought: JsonObject = piece.thought ? { thought: true } : {}
      parts.push({ text: piece.texts.join(''), ...thought })
      for (const text of piece.texts) records.push(answer([{ text, ...thought }]))
    }
    records.push({ ...answer([], finish), usageMetadata: usage })
    return { body: { ...answer(parts, finish), usageMetadata: usage, ...ids }, records }
  })

const hostileRecords: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('candidates', 'usageMetadata', 'promptFeedback', 'error', 'responseId', 'modelVersion'),
  fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(
      fc.record({
        content: fc.record({
          parts: fc.array(
            fc.oneof(
              fc.jsonValue({ maxDepth: 2 }),
              fc.record({ functionCall: fc.jsonValue({ maxDepth: 2 }), text: fc.jsonValue({ maxDepth: 2 }) }),
            ),
          ),
        }),
        finishReason: fc.jsonValue({ maxDepth: 2 }),
      }),
    ),
  ) as fc.Arbitrary<JsonObject>,
)
