import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest, responseContext } from '../../testing/chat-request.ts'
import type { CollectedResponse } from '../../response/collect-response.ts'
import { collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import { parseJsonObject } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { exchanges } from './fixtures/exchanges.ts'
import { responses } from './index.ts'

function fixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url))
}

function buffered(body: JsonObject, context = responseContext()): CollectedResponse {
  const events = responses.decodeResponse(body, context)
  assert.ok(events !== null)
  return collectResponse(events)
}

function streamed(chunks: Iterable<Buffer>, context: ResponseContext = responseContext()): ChatEvent[] {
  const decoder = responses.createStreamDecoder(context)
  const events: ChatEvent[] = []
  for (const chunk of chunks) events.push(...decoder.push(chunk))
  return [...events, ...decoder.end()]
}

function* bytewise(stream: Buffer): Iterable<Buffer> {
  for (let at = 0; at < stream.length; at++) yield stream.subarray(at, at + 1)
}

function sse(...events: JsonObject[]): Buffer[] {
  return events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
}

test('reasoning in sections and parallel calls', () => {
  const body = parseJsonObject(fixture('parallel-tools.json').toString())!
  const { parts, usage, finish, ...about } = buffered(body)
  assert.deepEqual(about, {
    id: 'resp_68f1c0de0a1481a1b2c3d4e5f60718290a1b2c3d4e5f6071',
    model: 'gpt-5-2025-08-07',
    created: 1763187600,
    error: null,
  })
  const id = 'rs_68f1c0df1b9c81a1a0b1c2d3e4f50617'
  assert.deepEqual(parts, [
    {
      type: 'reasoning',
      text: '**Looking up weather**\n\nThe user wants two cities, so I call the tool twice.',
      id,
    },
    {
      type: 'reasoning',
      text: '**Units**\n\nCelsius fits.',
      id,
      opaque: 'openai:gAAAAABo8cDfZ3Jlc3NlZC10aG91Z2h0cy1vZi1hLW1vZGVs',
    },
    { type: 'toolCall', id: 'call_2Zq9VbL1', name: 'get_weather', arguments: '{"city":"Zürich","unit":"c"}' },
    { type: 'toolCall', id: 'call_7HkPw0Xd', name: 'get_weather', arguments: '{"city":"Bern","unit":"c"}' },
  ])
  assert.deepEqual(usage, {
    input: 1212,
    output: 187,
    cacheRead: 1024,
    reasoning: 128,
    serviceTier: 'default',
    providerInput: 1212,
    providerTotal: 1399,
  })
  assert.deepEqual(finish, { reason: 'toolCalls' })
})

test('tools of the provider, sources and the limit', () => {
  const { parts, usage, finish } = buffered(parseJsonObject(fixture('web-search-cut.json').toString())!)
  assert.equal(parts[0]?.type, 'native')
  assert.ok(parts[1]?.type === 'text')
  assert.equal(parts[1].text, 'A portico is a porch leading to the entrance of a building 🏛️.')
  assert.deepEqual(parts[1].rest, {
    annotations: [
      {
        type: 'url_citation',
        start_index: 0,
        end_index: 9,
        url: 'https://example.org/portico',
        title: 'Portico',
      },
    ],
    item: { phase: 'final_answer' },
  })
  assert.equal(usage?.cacheWrite, 256)
  assert.deepEqual(finish, { reason: 'length' })
})

test('free text of a custom tool is its only argument', () => {
  const { parts, finish } = buffered(parseJsonObject(fixture('custom-tool-refusal.json').toString())!)
  assert.ok(parts[0]?.type === 'toolCall')
  assert.deepEqual(JSON.parse(parts[0].arguments), {
    input: '*** Begin Patch\n*** Update File: a "b".txt\n@@\n-x\\y\n+z\t\n*** End Patch',
  })
  assert.deepEqual(parts[1], { type: 'refusal', text: "I can't help with the rest." })
  assert.deepEqual(finish, { reason: 'toolCalls' })
})

/** A quick run cuts at fewer places. */
const STEP = process.env['PROPERTIES'] === 'full' ? 1 : 7

for (const name of ['parallel-tools', 'web-search-cut', 'custom-tool-refusal']) {
  test(`${name}: streamed it is the same, wherever it is cut`, () => {
    const stream = fixture(`${name}.sse`)
    const whole = buffered(parseJsonObject(fixture(`${name}.json`).toString())!)
    assert.deepEqual(collectResponse(streamed([stream])), whole)
    assert.deepEqual(collectResponse(streamed(bytewise(stream))), whole)
    for (let at = 1; at < stream.length; at += STEP) {
      assert.deepEqual(collectResponse(streamed([stream.subarray(0, at), stream.subarray(at)])), whole)
    }
  })
}

test('any answer is the same, streamed and whole', () => {
  const context = () => responseContext({ request: chatRequest({ format: 'responses' }) })
  fc.assert(
    fc.property(exchanges(), fc.nat(), ({ body, stream }, cut) => {
      const whole = withParsedArguments(buffered(body, context()))
      const at = cut % (stream.length + 1)
      const events = streamed([stream.subarray(0, at), stream.subarray(at)], context())
      assert.deepEqual(withParsedArguments(collectResponse(events)), whole)
    }),
  )
})

/** Parses the arguments: split surrogate pairs are escaped one by one, which is different text but the same JSON. */
function withParsedArguments(folded: CollectedResponse): unknown {
  const parts = folded.parts.map((part) =>
    part.type === 'toolCall' && part.name === 'custom' ? { ...part, arguments: JSON.parse(part.arguments) } : part,
  )
  return { ...folded, parts }
}

test('a server that sends only the end has said everything', () => {
  const response = {
    id: 'resp_1',
    model: 'm',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  }
  const { parts, usage } = collectResponse(streamed(sse({ type: 'response.completed', response })))
  assert.deepEqual(parts, [{ type: 'text', text: 'Hi' }])
  assert.equal(usage?.output, 2)
})

test('names of tools are those of the client', () => {
  const item = { type: 'function_call', call_id: 'c', name: 'a_b', arguments: '{}' }
  const context = responseContext({ toolNames: new Map([['a_b', 'a.b']]) })
  const { parts } = buffered({ output: [item], status: 'completed' }, context)
  assert.deepEqual(parts, [{ type: 'toolCall', id: 'c', name: 'a.b', arguments: '{}' }])
})

test('empty reasoning is for clients of this format alone', () => {
  const body = { output: [{ type: 'reasoning', id: 'rs_1', summary: [] }], status: 'completed' }
  assert.deepEqual(buffered(body).parts, [])
  const own = responseContext({ request: chatRequest({ format: 'responses' }) })
  assert.deepEqual(buffered(body, own).parts, [{ type: 'reasoning', text: '', id: 'rs_1' }])
})

test('how it ended', () => {
  const end = (given: JsonObject) => buffered({ output: [], ...given })
  assert.equal(end({ status: 'completed' }).finish?.reason, 'stop')
  const incomplete = (reason: string) => end({ status: 'incomplete', incomplete_details: { reason } }).finish?.reason
  assert.equal(incomplete('max_output_tokens'), 'length')
  assert.equal(incomplete('max_tokens'), 'length')
  assert.equal(incomplete('content_filter'), 'filtered')
  assert.equal(incomplete('context_length'), 'contextWindow')
  const failed = end({ status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' } }).error
  assert.deepEqual(failed, { status: 429, kind: 'rateLimit', message: 'Slow down', code: 'rate_limit_exceeded' })
  assert.equal(end({ status: 'queued' }).error?.status, 502)
  assert.equal(end({ status: 'cancelled' }).error?.status, 502)
})

test('errors inside a stream, in both of their forms', () => {
  const flat = { type: 'error', code: 'server_error', message: 'Oh no', param: null, sequence_number: 3 }
  assert.deepEqual(collectResponse(streamed(sse(flat))).error, {
    status: 502,
    kind: 'api',
    message: 'Oh no',
    code: 'server_error',
  })
  const nested = { type: 'error', error: { type: 'invalid_request_error', code: 'bad', message: 'No', param: 'input' } }
  assert.deepEqual(collectResponse(streamed(sse(nested))).error, {
    status: 400,
    kind: 'invalid',
    message: 'No',
    code: 'bad',
    param: 'input',
  })
  const failed = { type: 'response.failed', response: { id: 'r', error: { code: 'server_error', message: 'Oh no' } } }
  assert.equal(collectResponse(streamed(sse(failed))).error?.message, 'Oh no')
})

test('a stream that breaks off ends with an error, and only one', () => {
  const stream = fixture('parallel-tools.sse')
  const end = stream.indexOf('event: response.completed')
  for (const chunk of [Buffer.alloc(0), stream.subarray(0, 10), stream.subarray(0, end), Buffer.from('data: {]\n\n')]) {
    const events = streamed([chunk])
    assert.equal(events.filter(({ type }) => type === 'error').length, 1)
    assert.equal(events.at(-1)?.type, 'error')
  }
})

test('a body of another format is not decoded', () => {
  assert.equal(responses.decodeResponse({ choices: [] }, responseContext()), null)
  assert.equal(responses.decodeResponse({}, responseContext()), null)
  const events = responses.decodeResponse({ error: { message: 'No' } }, responseContext())
  assert.equal(events?.[0]?.type, 'error')
})

test('hostile bytes are errors, never exceptions', () => {
  const types = [
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.content_part.added',
    'response.content_part.done',
    'response.output_text.delta',
    'response.reasoning_summary_text.delta',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.completed',
    'error',
  ]
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'custom_tool_call', 'x'),
      content: fc.jsonValue(),
      summary: fc.jsonValue(),
      arguments: fc.jsonValue(),
      name: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const event = fc.record(
    {
      type: fc.constantFrom(...types),
      output_index: fc.oneof(fc.nat(3), fc.jsonValue()),
      content_index: fc.oneof(fc.nat(3), fc.jsonValue()),
      summary_index: fc.jsonValue(),
      delta: fc.jsonValue(),
      item: fc.oneof(item, fc.jsonValue()),
      part: fc.oneof(fc.record({ type: fc.constantFrom('output_text', 'refusal', 'reasoning_text') }), fc.jsonValue()),
      response: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  )
  fc.assert(
    fc.property(fc.array(event), fc.uint8Array(), (events, noise) => {
      const chunks = events.map((each) => Buffer.from(`data: ${JSON.stringify(each)}\n\n`))
      const decoded = streamed([...chunks, Buffer.from(noise)])
      assert.ok(['finish', 'error'].includes(decoded.at(-1)!.type))
      collectResponse(decoded)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), (chunks) => void streamed(chunks.map((chunk) => Buffer.from(chunk)))),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(item), (body, output) => {
      const given = JSON.parse(JSON.stringify({ ...body, output }))
      responses.decodeResponse(given, responseContext())
    }),
  )
})

test('errors of the provider keep their status and words', () => {
  const body = {
    error: { message: 'No such model', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  }
  assert.deepEqual(responses.decodeError(404, Buffer.from(JSON.stringify(body))), {
    status: 404,
    kind: 'notFound',
    message: 'No such model',
    code: 'model_not_found',
    param: 'model',
  })
})
