import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest, responseContext } from '../../testing/chat-request.ts'
import type { AnswerPart } from '../../response/collect-response.ts'
import type { UpstreamFormat } from '../../format.ts'
import { objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, ChatRequest, JsonObject, Loss, Part } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { gemini } from '../gemini/index.ts'
import { messages } from '../messages/index.ts'
import { INPUT_SCHEMA } from '../../tools/custom-tools.ts'
import { responses } from './index.ts'

/** Sends the response back as the next request, as SDKs do. */
function nextTurn(events: readonly ChatEvent[], given: Partial<ChatRequest> = {}): ChatRequest {
  const request = chatRequest({ format: 'responses', ...given })
  const { output } = responses.encodeResponse(events, responseContext({ request }))
  assert.ok(Array.isArray(output))
  const next = responses.decodeRequest({ model: 'm', input: ['Hi', ...output].map(asItem) })
  assert.ok(!(next instanceof UnsupportedField))
  return next
}

function asItem(item: JsonObject[string]): JsonObject[string] {
  return typeof item === 'string' ? { role: 'user', content: item } : item
}

function eventsOf(parts: readonly AnswerPart[]): ChatEvent[] {
  return [
    { type: 'start', id: 'x', model: 'm' },
    ...parts.flatMap((part, index): ChatEvent[] => {
      if (part.type === 'toolCall') {
        const { arguments: text, ...started } = part
        return [
          { type: 'partStart', index, part: started },
          { type: 'partDelta', index, text },
          { type: 'partEnd', index },
        ]
      }
      if (part.type !== 'reasoning') return []
      const { text, signature, opaque, ...started } = part
      return [
        { type: 'partStart', index, part: started },
        { type: 'partDelta', index, text },
        {
          type: 'partEnd',
          index,
          ...(signature !== undefined && { signature }),
          ...(opaque !== undefined && { opaque }),
        },
      ]
    }),
    { type: 'finish', reason: 'stop' },
  ]
}

function answered(parts: readonly AnswerPart[], given: Partial<ChatRequest> = {}): Part[] {
  return nextTurn(eventsOf(parts), given).messages.at(-1)?.parts ?? []
}

function encodeFor(format: UpstreamFormat, request: ChatRequest): { body: JsonObject; losses: Loss[] } {
  const losses: Loss[] = []
  const body = format.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, losses)
  assert.ok(!(body instanceof UnsupportedField), body instanceof UnsupportedField ? body.message : '')
  return { body, losses }
}

test('signed and redacted reasoning of another vendor comes back as it was', () => {
  const parts: AnswerPart[] = [
    { type: 'reasoning', text: 'Hm', signature: 'anthropic:EqQBCg==' },
    { type: 'reasoning', text: '', opaque: 'anthropic:zzz' },
    { type: 'toolCall', id: 'toolu_1', name: 'f', arguments: '{"a":1}' },
  ]
  assert.deepEqual(
    answered(parts).map((part) => ({ ...part, rest: undefined })),
    parts.map((part) => ({ ...part, rest: undefined })),
  )
  const { body } = encodeFor(messages, nextTurn(eventsOf(parts)))
  const turns = body.messages
  assert.ok(Array.isArray(turns))
  assert.deepEqual((turns.at(-1) as JsonObject).content, [
    { type: 'thinking', thinking: 'Hm', signature: 'EqQBCg==' },
    { type: 'redacted_thinking', data: 'zzz' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
  ])
})

test('reasoning without a signature is not taken for an item that the provider keeps', () => {
  const parts = answered([{ type: 'reasoning', text: 'Hm' }])
  assert.deepEqual(parts, [{ type: 'reasoning', text: 'Hm' }])
  const { body, losses } = encodeFor(responses, nextTurn(eventsOf([{ type: 'reasoning', text: 'Hm' }])))
  assert.deepEqual(body.input, [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }])
  assert.deepEqual(
    losses.map(({ path }) => path),
    ['input[].reasoning'],
  )
})

test('encrypted reasoning of one vendor is not sent to another', () => {
  const own = nextTurn(eventsOf([{ type: 'reasoning', text: 'Hm', id: 'rs_1', opaque: 'openai:gAAA' }]))
  assert.ok(!JSON.stringify(encodeFor(messages, own).body).includes('gAAA'))
  assert.ok(JSON.stringify(encodeFor(responses, own).body).includes('"encrypted_content":"gAAA"'))
  const foreign = nextTurn(eventsOf([{ type: 'reasoning', text: 'Hm', signature: 'anthropic:EqQB' }]))
  assert.ok(!JSON.stringify(encodeFor(responses, foreign).body).includes('EqQB'))
})

test('the signature of a call comes back in its id', () => {
  const call: AnswerPart = { type: 'toolCall', id: 'c1', name: 'f', arguments: '{}', signature: 'google:AAEC' }
  const request = nextTurn(eventsOf([call]))
  const part = request.messages.at(-1)?.parts[0]
  assert.ok(part?.type === 'toolCall')
  assert.equal(part.id, 'c1')
  assert.equal(part.signature, 'google:AAEC')
  assert.ok(JSON.stringify(encodeFor(gemini, request).body).includes('"thoughtSignature":"AAEC"'))
})

test('free text is an object for other vendors, and free text again for the client', () => {
  const tools = [{ name: 'patch', schema: INPUT_SCHEMA, custom: {} }]
  const call: AnswerPart = { type: 'toolCall', id: 'c1', name: 'patch', arguments: '{ "input": "a\\nb" }' }
  const request = nextTurn(eventsOf([call]), { tools })
  const part = request.messages.at(-1)?.parts[0]
  assert.ok(part?.type === 'toolCall')
  assert.equal(part.custom, true)
  assert.equal(part.arguments, '{"input":"a\\nb"}')
  assert.ok(JSON.stringify(encodeFor(messages, request).body).includes('"input":{"input":"a\\nb"}'))
})

test('a stream of Messages is one of this format, and its thinking comes back', () => {
  const events: JsonObject[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_01',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        usage: { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQB' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Looking' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a": 1}' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  const context = () => responseContext({ request: chatRequest({ format: 'responses' }) })
  const decoder = messages.createStreamDecoder(context())
  const stream = events.map((event) => `event: ${textAt(event, 'type')}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const encoder = responses.createStreamEncoder(context())
  const decoded = [...decoder.push(Buffer.from(stream)), ...decoder.end()]
  const written = decoded.map((event) => encoder.event(event)).join('') + encoder.end()
  const [, last] = /event: response.completed\ndata: (.*)\n\n$/.exec(written) ?? []
  const response = objectAt(JSON.parse(last ?? '{}') as JsonObject, 'response')
  assert.deepEqual(response.usage, {
    input_tokens: 25,
    input_tokens_details: { cached_tokens: 20 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 34,
  })
  const { body } = encodeFor(messages, nextTurn(decoded))
  assert.deepEqual((body.messages as JsonObject[]).at(-1)?.content, [
    { type: 'thinking', thinking: 'Hm', signature: 'EqQB' },
    { type: 'text', text: 'Looking' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
  ])
})

test('sealed reasoning comes back through clients of other formats', () => {
  const parts: AnswerPart[] = [
    { type: 'reasoning', text: 'One', id: 'rs_1' },
    { type: 'reasoning', text: 'Two', id: 'rs_1', opaque: 'openai:gAAA' },
  ]
  const answer = messages.encodeResponse(
    eventsOf(parts),
    responseContext({ request: chatRequest({ format: 'messages' }) }),
  )
  const next = messages.decodeRequest({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: answer.content ?? [] },
    ],
  })
  assert.ok(!(next instanceof UnsupportedField))
  const { body, losses } = encodeFor(responses, next)
  // Some endpoints check the encrypted content against the id of its item.
  assert.deepEqual((body.input as JsonObject[]).at(-1), {
    id: 'rs_1',
    type: 'reasoning',
    summary: ['One', 'Two'].map((text) => ({ type: 'summary_text', text })),
    encrypted_content: 'gAAA',
  })
  assert.deepEqual(losses, [])
})

test('a reference to stored state is refused by name at other providers', () => {
  const request = responses.decodeRequest({ model: 'm', input: 'Hi', previous_response_id: 'resp_1' })
  assert.ok(!(request instanceof UnsupportedField))
  const refused = messages.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
  assert.ok(refused instanceof UnsupportedField)
  assert.equal(refused.field, 'previous_response_id')
  assert.equal(encodeFor(responses, request).body.previous_response_id, 'resp_1')
})

test('any reasoning and any call come back through a client of this format', () => {
  const sealed = fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  const reasoning = fc.record(
    {
      text: fc.string(),
      signature: sealed.map((data) => `anthropic:${data}`),
      opaque: sealed.map((data) => `google:${data}`),
    },
    { requiredKeys: ['text'] },
  )
  const call = fc.record(
    {
      id: fc.stringMatching(/^[A-Za-z0-9-]{1,40}$/),
      name: fc.string(),
      arguments: fc.json(),
      signature: sealed.map((data) => `google:${data}`),
    },
    { requiredKeys: ['id', 'name', 'arguments'] },
  )
  const part = fc.oneof(
    reasoning.map((given) => ({ type: 'reasoning' as const, ...given })),
    call.map((given) => ({ type: 'toolCall' as const, ...given })),
  )
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const bare = answered(parts).map((back) => {
        assert.ok(back.type === 'reasoning' || back.type === 'toolCall')
        return back.type === 'toolCall' ? { ...back, rest: undefined } : back
      })
      assert.deepEqual(
        bare,
        parts.map((given) => (given.type === 'toolCall' ? { ...given, rest: undefined } : given)),
      )
    }),
  )
})

test('repeating what one got loses nothing', () => {
  const parts: AnswerPart[] = [
    { type: 'reasoning', text: 'Hm', signature: 'anthropic:EqQB' },
    { type: 'toolCall', id: 'toolu_1', name: 'f', arguments: '{}' },
  ]
  const request = {
    ...nextTurn(eventsOf(parts)),
    sampling: { maxTokens: 9 },
    rest: { include: ['reasoning.encrypted_content'] },
  }
  assert.deepEqual(encodeFor(messages, request).losses, [])
})
