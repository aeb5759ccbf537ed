import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type ChatRequest, collectResponse, type Json, type Message, type Tool } from '@portico/chat'
import { chatRequest } from '../../../../chat/src/testing/chat-request.ts'
import { MARK, type MockAnswer, mockProvider } from './answer.ts'
import { exampleOf } from './example.ts'
import type { MockConfig } from '../../llm/providers/mock/schema.ts'

const plain: MockConfig = {
  model: 'mock',
  latency: 0,
  failures: { rateLimited: 0, unavailable: 0, brokenStreams: 0 },
}

function answered(request: ChatRequest, config: Partial<MockConfig> = {}, random = 0.5) {
  const answer = answerTo(request, config, random)
  assert.equal(answer.kind, 'answered')
  if (answer.kind !== 'answered') throw new Error('unreachable')
  return { ...answer, folded: collectResponse(answer.events.map(({ event }) => event)) }
}

function answerTo(request: ChatRequest, config: Partial<MockConfig> = {}, random = 0.5): MockAnswer {
  let ids = 0
  return mockProvider(
    { ...plain, ...config },
    { random: () => random, newId: (prefix) => `${prefix}${++ids}` },
  )(request)
}

function said(text: string): Message[] {
  return [{ role: 'user', parts: [{ type: 'text', text }] }]
}

function textOf(request: ChatRequest, config: Partial<MockConfig> = {}): string {
  return answered(request, config)
    .folded.parts.map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
}

const weather: Tool = {
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] },
}

test('it says that it is a mock, and what was said to it', () => {
  const text = textOf(chatRequest({ messages: said('hello there') }))
  assert.ok(text.startsWith(MARK))
  assert.ok(text.endsWith('You said: hello there'))
})

test('a text of the config bears the mark too', () => {
  assert.equal(textOf(chatRequest(), { text: 'Good day.' }), `${MARK} Good day.`)
})

test('words are its tokens: those it read, and those it said', () => {
  const request = chatRequest({ system: [{ type: 'text', text: 'be brief' }], messages: said('one two three') })
  const { usage } = answered(request, { text: 'four five' }).folded
  assert.deepEqual(usage, { input: 5, output: 3, providerInput: 5, providerTotal: 8 })
})

test('a limit of tokens ends the answer', () => {
  const { folded } = answered(chatRequest({ sampling: { maxTokens: 2 } }), { text: 'one two three' })
  assert.equal(folded.finish?.reason, 'length')
  assert.equal(folded.usage?.output, 2)
})

test('latency comes before the first event, and the rate of tokens between the others', () => {
  const { events } = answered(chatRequest(), { latency: 250, tokensPerSecond: 20, text: 'a b' })
  assert.deepEqual(
    events.filter(({ afterMs }) => afterMs > 0).map(({ afterMs, event }) => [event.type, afterMs]),
    [['start', 250], ...Array.from({ length: 3 }, () => ['partDelta', 50])],
  )
})

test('reasoning is shown when it is asked for', () => {
  const { folded } = answered(chatRequest({ reasoning: { effort: 'low' } }))
  assert.deepEqual(
    folded.parts.map(({ type }) => type),
    ['reasoning', 'text'],
  )
  assert.ok((folded.usage?.reasoning ?? 0) > 0)
})

test('a tool is called when it must be, or when the message names it', () => {
  const tools = [weather, { ...weather, name: 'get_time' }]
  const calls = (given: Partial<ChatRequest>): string[] =>
    answered(chatRequest({ tools, ...given })).folded.parts.flatMap((part) =>
      part.type === 'toolCall' ? [`${part.name} ${part.arguments}`] : [],
    )
  assert.deepEqual(calls({ messages: said('hello') }), [])
  assert.deepEqual(calls({ toolChoice: { kind: 'required' } }), ['get_weather {"city":"mock"}'])
  assert.deepEqual(calls({ toolChoice: { kind: 'tool', name: 'get_time' } }), ['get_time {"city":"mock"}'])
  assert.equal(calls({ messages: said('use get_weather and get_time') }).length, 2)
  assert.deepEqual(calls({ messages: said('use get_weather'), toolChoice: { kind: 'none' } }), [])
})

test('with results it answers in words', () => {
  const messages: Message[] = [
    ...said('use get_weather'),
    { role: 'assistant', parts: [{ type: 'toolCall', id: '1', name: 'get_weather', arguments: '{}' }] },
    { role: 'user', parts: [{ type: 'toolResult', id: '1', parts: [{ type: 'text', text: '21' }], isError: false }] },
  ]
  const { folded } = answered(chatRequest({ tools: [weather], messages }))
  assert.deepEqual([folded.finish?.reason, folded.parts[0]?.type], ['stop', 'text'])
})

test('structured answers fit the schema', () => {
  const output = { kind: 'schema', name: 'place', schema: weather.schema } as const
  assert.deepEqual(JSON.parse(textOf(chatRequest({ output }))), { city: 'mock' })
})

test('failures are drawn in their order', () => {
  const failures = { rateLimited: 10, retryAfter: 1500, unavailable: 20, brokenStreams: 30 }
  const kind = (random: number): string => {
    const answer = answerTo(chatRequest({ stream: true }), { failures }, random)
    return answer.kind === 'failed' ? String(answer.error.status) : answer.isCut ? 'cut' : 'whole'
  }
  assert.deepEqual([0.09, 0.1, 0.29, 0.3, 0.59, 0.6].map(kind), ['429', '503', '503', 'cut', 'cut', 'whole'])
})

test('a stream that breaks off has said something, and has not finished', () => {
  const failures = { ...plain.failures, brokenStreams: 100 }
  const { folded, isCut } = answered(chatRequest({ stream: true }), { failures })
  assert.ok(isCut)
  assert.equal(folded.finish, null)
  assert.equal(folded.parts.length, 1)
  assert.equal(answered(chatRequest(), { failures }).isCut, false)
})

test('any schema of a client gives some value', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...WORDS), fc.jsonValue()), (schema) => {
      JSON.stringify(exampleOf(schema as { [word: string]: Json }))
    }),
  )
})

const WORDS = ['type', 'properties', 'required', 'items', 'enum', 'anyOf', 'oneOf', 'minItems', 'minimum', 'const']
