import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest, responseContext } from '../../testing/chat-request.ts'
import type { CollectedResponse } from '../../response/collect-response.ts'
import { collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { ChatEvent, ChatRequest, JsonObject } from '../../middle.ts'
import { SseParser } from '@portico/http/sse'
import { messages } from '../messages/index.ts'
import { INPUT_SCHEMA } from '../../tools/custom-tools.ts'
import { exchanges } from './fixtures/exchanges.ts'
import { responses } from './index.ts'

function contextOf(given: Partial<ChatRequest> = {}): ResponseContext {
  return responseContext({ request: chatRequest({ format: 'responses', ...given }) })
}

const CUSTOM = [{ name: 'custom', schema: INPUT_SCHEMA, custom: {} }]

function encodeStream(events: readonly ChatEvent[], context: ResponseContext): string {
  const encoder = responses.createStreamEncoder(context)
  return events.map((event) => encoder.event(event)).join('') + encoder.end()
}

function records(stream: string): JsonObject[] {
  const parser = new SseParser()
  return [...parser.push(Buffer.from(stream)), ...parser.end()].map(({ event, data }, at) => {
    const body: JsonObject = JSON.parse(data)
    assert.equal(body.type, event)
    assert.equal(body.sequence_number, at)
    return body
  })
}

function types(stream: string): unknown[] {
  return records(stream).map(({ type }) => type)
}

const hello: ChatEvent[] = [
  { type: 'start', id: 'msg_1', model: 'claude', created: 1_700_000_001 },
  { type: 'partStart', index: 0, part: { type: 'text' } },
  { type: 'partDelta', index: 0, text: 'Hel' },
  { type: 'partDelta', index: 0, text: '' },
  { type: 'partDelta', index: 0, text: 'lo\n"' },
  { type: 'partEnd', index: 0 },
  { type: 'usage', usage: { input: 10, output: 2, cacheRead: 4 } },
  { type: 'finish', reason: 'stop' },
  { type: 'usage', usage: { output: 3, serviceTier: 'standard' } },
]

test('a text of Claude that is cut at its citations is one message, streamed and whole', () => {
  const block = (text: string, cited?: string) => ({
    type: 'text',
    text,
    ...(cited !== undefined && { citations: [{ type: 'char_location', cited_text: cited }] }),
  })
  const content = [block('The grass is '), block('green', 'grass: green'), block('.')]
  const body = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content, stop_reason: 'end_turn' }
  const context = contextOf()
  const events = messages.decodeResponse(body, context)
  assert.ok(events !== null)
  const stream = records(encodeStream(events, context))
  const texts = (output: unknown) =>
    JSON.parse(JSON.stringify(output), (name, value) =>
      name === 'content' ? value.map(({ text }: JsonObject) => text) : value,
    )
  for (const response of [objectAt(stream.at(-1) ?? {}, 'response'), responses.encodeResponse(events, context)]) {
    const [item, ...others] = objectsAt(texts(response), 'output')
    assert.deepEqual([item?.content, others], [['The grass is green.'], []])
  }
  assert.equal(stream.filter(({ type }) => type === 'response.output_item.done').length, 1)
})

test('a text comes with everything that SDKs wait for', () => {
  const all = records(encodeStream(hello, contextOf()))
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const item = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const whole = { ...part, text: 'Hello\n"' }
  const done = { ...item, status: 'completed', content: [whole] }
  const response = {
    id: 'resp_msg_1',
    object: 'response',
    created_at: 1_700_000_001,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: 'claude',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
  }
  const expected: JsonObject[] = [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...place, part },
    { type: 'response.output_text.delta', ...place, logprobs: [], delta: 'Hel' },
    { type: 'response.output_text.delta', ...place, logprobs: [], delta: 'lo\n"' },
    { type: 'response.output_text.done', ...place, text: 'Hello\n"', logprobs: [] },
    { type: 'response.content_part.done', ...place, part: whole },
    { type: 'response.output_item.done', output_index: 0, item: done },
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: [done],
        service_tier: 'standard',
        usage: {
          input_tokens: 10,
          input_tokens_details: { cached_tokens: 4 },
          output_tokens: 3,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 13,
        },
      },
    },
  ]
  assert.deepEqual(
    all,
    expected.map((event, at) => ({ ...event, sequence_number: at })),
  )
})

test('calls, free text and refusals', () => {
  const stream = encodeStream(
    [
      { type: 'start', id: '', model: '' },
      { type: 'partStart', index: 0, part: { type: 'toolCall', id: 'c0', name: 'f' } },
      { type: 'partDelta', index: 0, text: '{"a":' },
      { type: 'partStart', index: 1, part: { type: 'toolCall', id: 'c1', name: 'custom' } },
      { type: 'partDelta', index: 1, text: '{"input":"x\\n' },
      { type: 'partDelta', index: 0, text: '1}' },
      { type: 'partEnd', index: 0 },
      { type: 'partDelta', index: 1, text: 'y"}' },
      { type: 'partEnd', index: 1 },
      { type: 'partStart', index: 2, part: { type: 'toolCall', id: 'c2', name: 'g' } },
      { type: 'partEnd', index: 2 },
      { type: 'partStart', index: 3, part: { type: 'refusal' } },
      { type: 'partDelta', index: 3, text: 'No' },
      { type: 'partEnd', index: 3 },
      { type: 'finish', reason: 'toolCalls' },
    ],
    contextOf({ tools: CUSTOM }),
  )
  const all = records(stream)
  const output = objectAt(all.at(-1)!, 'response').output
  assert.deepEqual(output, [
    { id: 'fc_2', type: 'function_call', status: 'completed', call_id: 'c0', name: 'f', arguments: '{"a":1}' },
    { id: 'ctc_3', type: 'custom_tool_call', status: 'completed', call_id: 'c1', name: 'custom', input: 'x\ny' },
    { id: 'fc_4', type: 'function_call', status: 'completed', call_id: 'c2', name: 'g', arguments: '{}' },
    {
      id: 'msg_5',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No' }],
    },
  ])
  assert.deepEqual(
    all.map((event) => [textAt(event, 'type'), countAt(event, 'output_index')].join(' ').trim()),
    [
      'response.created',
      'response.in_progress',
      'response.output_item.added 0',
      'response.function_call_arguments.delta 0',
      'response.output_item.added 1',
      'response.function_call_arguments.delta 0',
      'response.function_call_arguments.done 0',
      'response.output_item.done 0',
      'response.custom_tool_call_input.delta 1',
      'response.custom_tool_call_input.done 1',
      'response.output_item.done 1',
      'response.output_item.added 2',
      'response.function_call_arguments.delta 2',
      'response.function_call_arguments.done 2',
      'response.output_item.done 2',
      'response.output_item.added 3',
      'response.content_part.added 3',
      'response.refusal.delta 3',
      'response.refusal.done 3',
      'response.content_part.done 3',
      'response.output_item.done 3',
      'response.completed',
    ],
  )
})

test('sections of one reasoning are one item', () => {
  const stream = encodeStream(
    [
      { type: 'start', id: 'resp_1', model: 'm' },
      { type: 'partStart', index: 0, part: { type: 'reasoning', id: 'rs_1', verbatim: true } },
      { type: 'partDelta', index: 0, text: 'raw' },
      { type: 'partEnd', index: 0 },
      { type: 'partStart', index: 1, part: { type: 'reasoning', id: 'rs_1' } },
      { type: 'partDelta', index: 1, text: 'a' },
      { type: 'partEnd', index: 1 },
      { type: 'partStart', index: 2, part: { type: 'reasoning', id: 'rs_1' } },
      { type: 'partDelta', index: 2, text: 'b' },
      { type: 'partEnd', index: 2, opaque: 'openai:gAAA' },
      { type: 'finish', reason: 'stop' },
    ],
    contextOf(),
  )
  const all = records(stream)
  assert.deepEqual(objectAt(all.at(-1)!, 'response').output, [
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'a' },
        { type: 'summary_text', text: 'b' },
      ],
      content: [{ type: 'reasoning_text', text: 'raw' }],
      encrypted_content: 'gAAA',
    },
  ])
  const summaries = all.filter((event) => textAt(event, 'type')?.includes('summary'))
  assert.deepEqual(
    summaries.map((event) => `${textAt(event, 'type')} ${countAt(event, 'summary_index')}`),
    [0, 1].flatMap((at) => [
      `response.reasoning_summary_part.added ${at}`,
      `response.reasoning_summary_text.delta ${at}`,
      `response.reasoning_summary_text.done ${at}`,
      `response.reasoning_summary_part.done ${at}`,
    ]),
  )
  assert.equal(all.filter(({ type }) => type === 'response.output_item.done').length, 1)
})

test('how it ended is said in the words of this format', () => {
  const ended = (reason: Extract<ChatEvent, { type: 'finish' }>['reason']) => {
    const last = records(encodeStream([{ type: 'finish', reason }], contextOf())).at(-1)!
    const { status, incomplete_details: details } = objectAt(last, 'response')
    return [last.type, status, details]
  }
  for (const reason of ['stop', 'toolCalls', 'stopSequence', 'pause'] as const) {
    assert.deepEqual(ended(reason), ['response.completed', 'completed', null])
  }
  for (const reason of ['length', 'contextWindow'] as const) {
    assert.deepEqual(ended(reason), ['response.incomplete', 'incomplete', { reason: 'max_output_tokens' }])
  }
  assert.deepEqual(ended('filtered'), ['response.incomplete', 'incomplete', { reason: 'content_filter' }])
})

test('an error ends the stream, and half a call is not said to be whole', () => {
  const stream = encodeStream(
    [
      { type: 'start', id: 'resp_1', model: 'm' },
      { type: 'partStart', index: 0, part: { type: 'toolCall', id: 'c0', name: 'f' } },
      { type: 'partDelta', index: 0, text: '{"a":' },
      { type: 'error', error: { status: 503, kind: 'overloaded', message: 'Busy', code: 'overloaded_error' } },
      { type: 'finish', reason: 'stop' },
    ],
    contextOf(),
  )
  assert.deepEqual(types(stream), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'error',
    'response.failed',
  ])
  const [error, failed] = records(stream).slice(-2)
  assert.deepEqual(error, {
    type: 'error',
    code: 'overloaded_error',
    message: 'Busy',
    param: null,
    error: { message: 'Busy', type: 'overloaded_error', param: null, code: 'overloaded_error' },
    sequence_number: 4,
  })
  const response = objectAt(failed!, 'response')
  assert.deepEqual(response.error, { code: 'overloaded_error', message: 'Busy' })
  assert.deepEqual(response.output, [])
})

test('an answer that broke off has failed', () => {
  const stream = encodeStream(hello.slice(0, 3), contextOf())
  assert.deepEqual(types(stream).slice(-2), ['error', 'response.failed'])
})

test('sources are named, also those of Completions', () => {
  const flat = { type: 'url_citation', url: 'https://example.com', title: 'E', start_index: 0, end_index: 2 }
  const { type, ...nested } = flat
  for (const annotation of [flat, { type, url_citation: nested }]) {
    const stream = encodeStream(
      [
        { type: 'partStart', index: 0, part: { type: 'text' } },
        { type: 'partDelta', index: 0, text: 'Hi' },
        { type: 'partEnd', index: 0, rest: { annotations: [annotation] } },
        { type: 'finish', reason: 'stop' },
      ],
      contextOf(),
    )
    const added = records(stream).find((event) => event.type === 'response.output_text.annotation.added')
    assert.deepEqual(added?.annotation, flat)
  }
})

test('items of other formats are not for clients of this one', () => {
  const native = (format: 'messages' | 'responses'): ChatEvent => ({
    type: 'partStart',
    index: 0,
    part: { type: 'native', format, value: { type: 'x' } },
  })
  const outputOf = (event: ChatEvent) =>
    responses.encodeResponse([event, { type: 'finish', reason: 'stop' }], contextOf()).output
  assert.deepEqual(outputOf(native('messages')), [])
  assert.deepEqual(outputOf(native('responses')), [{ type: 'x' }])
})

test('the response repeats the settings of the request, but not the instructions', () => {
  const request = responses.decodeRequest({
    model: 'm',
    input: 'x',
    instructions: 'secret',
    temperature: 0.2,
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }, { type: 'web_search' }],
    tool_choice: 'required',
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    metadata: { a: 'b' },
  })
  assert.ok('messages' in request)
  const response = responses.encodeResponse(hello, contextOf(request))
  assert.equal(response.instructions, null)
  assert.ok(!JSON.stringify(response).includes('secret'))
  assert.equal(response.temperature, 0.2)
  assert.deepEqual(response.tools, [
    { type: 'function', name: 'f', parameters: { type: 'object' } },
    { type: 'web_search' },
  ])
  assert.equal(response.tool_choice, 'required')
  assert.deepEqual(response.reasoning, { effort: 'low', summary: null })
  assert.deepEqual(response.text, { verbosity: 'low', format: { type: 'json_object' } })
  assert.deepEqual(response.metadata, { a: 'b' })
})

test('the last event of any stream holds the buffered response, and says the same', () => {
  fc.assert(
    fc.property(exchanges(), ({ body }) => {
      const given = { tools: CUSTOM }
      const events = responses.decodeResponse(body, contextOf(given))!
      const stream = encodeStream(events, contextOf(given))
      const all = records(stream)
      assert.deepEqual(
        all.at(-1)?.response,
        JSON.parse(JSON.stringify(responses.encodeResponse(events, contextOf(given)))),
      )
      const decoder = responses.createStreamDecoder(contextOf(given))
      const again = collectResponse([...decoder.push(Buffer.from(stream)), ...decoder.end()])
      assert.deepEqual(comparable(again), comparable(collectResponse(events)))
      assertItems(all)
    }),
  )
})

/** Removes the facts that a failed stream does not repeat, and normalizes arguments that are written differently. */
function comparable(folded: CollectedResponse): unknown {
  const parts = folded.parts.map((part) =>
    part.type === 'toolCall'
      ? { ...part, arguments: part.name === 'custom' ? JSON.parse(part.arguments) : part.arguments || '{}' }
      : part,
  )
  const usage = folded.usage === null ? null : { input: folded.usage.input, output: folded.usage.output }
  return { ...folded, parts, usage: folded.error === null ? usage : null }
}

/** Asserts that every item that begins also ends, and that its final form equals the item in the response. */
function assertItems(all: readonly JsonObject[]): void {
  const output = objectAt(all.at(-1)!, 'response').output
  assert.ok(Array.isArray(output))
  const ended = all.filter(({ type }) => type === 'response.output_item.done')
  const begun = all.filter(({ type }) => type === 'response.output_item.added')
  assert.equal(begun.length, ended.length)
  for (const { output_index: at, item } of ended) assert.deepEqual(output[Number(at)], item)
  for (const [at, { item }] of begun.entries()) assert.ok(isObject(item) && begun[at]?.output_index === at)
}

test('errors are said in the words of this format', () => {
  const error = { status: 429, kind: 'rateLimit', message: 'Slow down', code: 'rate_limit_exceeded' } as const
  assert.deepEqual(responses.encodeError(error), {
    status: 429,
    body: { error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' } },
  })
})
