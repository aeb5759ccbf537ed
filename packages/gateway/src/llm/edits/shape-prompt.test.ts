import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatRequest, Message, Part } from '@portico/chat'
import { enrichPrompt, markCaching } from './shape-prompt.ts'

const text = (value: string): Part & { type: 'text' } => ({ type: 'text', text: value })
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })

function request(more: Partial<ChatRequest> = {}): ChatRequest {
  return {
    format: 'completions',
    model: 'm',
    system: [text('client')],
    messages: [user(text('hi'))],
    tools: [],
    toolChoice: null,
    parallelTools: null,
    sampling: {},
    reasoning: null,
    output: { kind: 'text' },
    stream: false,
    user: null,
    rest: {},
    ...more,
  }
}

const prompt = {
  prepend: [
    { role: 'system' as const, content: 'first' },
    { role: 'user' as const, content: 'example' },
    { role: 'assistant' as const, content: 'answer' },
  ],
  append: [
    { role: 'developer' as const, content: 'last' },
    { role: 'user' as const, content: 'bye' },
  ],
}

test('messages of the config stand around those of the client', () => {
  const { system, messages } = enrichPrompt(request(), prompt)
  assert.deepEqual(system, [text('first'), text('client')])
  assert.deepEqual(messages, [
    user(text('example')),
    assistant(text('answer')),
    user(text('hi')),
    { role: 'system', parts: [text('last')] },
    user(text('bye')),
  ])
})

test('all instructions go into the system field when the format has one', () => {
  const { system, messages } = enrichPrompt(request({ format: 'messages' }), prompt)
  assert.deepEqual(system, [text('first'), text('client'), text('last')])
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'user'],
  )
})

test('without configured messages the same request is returned', () => {
  const plain = request()
  assert.equal(enrichPrompt(plain, {}), plain)
})

const config = { cacheSystem: true, cacheMessages: true, cacheTools: false, minTokens: 10, cacheMessageOffset: 0 }
const mark = { type: 'ephemeral' }
const words = (count: number) => text(Array.from({ length: count }, () => 'w').join(' '))

/** Which turns are marked, as `message.part`. */
function marked(made: ChatRequest): string[] {
  return made.messages.flatMap(({ parts }, at) =>
    parts.flatMap((part, index) => ('cache' in part && part.cache !== undefined ? [`${at}.${index}`] : [])),
  )
}

test('instructions are cached when they are long enough', () => {
  const made = (count: number) =>
    markCaching(request({ system: [words(count), words(1)] }), config).system.map(({ cache }) => cache)
  assert.deepEqual(made(7), [undefined, mark])
  assert.deepEqual(made(6), [undefined, undefined])
  assert.deepEqual(markCaching(request({ system: [words(50)] }), { ...config, cacheSystem: false }).system, [words(50)])
  assert.deepEqual(markCaching(request({ system: [] }), { ...config, minTokens: 0 }).system, [])
})

test('the conversation is cached up to the last turn but one, or an earlier one', () => {
  const messages = [
    user(text('1')),
    assistant(text('2')),
    user(text('3')),
    user(text('4'), text('5')),
    assistant(text('6')),
  ]
  const at = (cacheMessageOffset: number) =>
    marked(markCaching(request({ messages }), { ...config, cacheMessageOffset }))
  assert.deepEqual(at(0), ['3.1'])
  assert.deepEqual(at(1), ['1.0'])
  assert.deepEqual(at(9), ['0.0'])
  assert.deepEqual(marked(markCaching(request({ messages: [user(text('1'))] }), config)), [])
  assert.deepEqual(marked(markCaching(request({ messages }), { ...config, cacheMessages: false })), [])
})

test('only parts that can carry a mark get one', () => {
  const result: Part = { type: 'toolResult', id: 'c', parts: [], isError: false }
  const reasoning: Part = { type: 'reasoning', text: 'r' }
  const messages = [user(text('1'), text(' ')), { role: 'system' as const, parts: [text('s')] }, assistant(text('2'))]
  assert.deepEqual(marked(markCaching(request({ messages }), config)), ['0.0'])
  assert.deepEqual(
    marked(markCaching(request({ messages: [user(result, reasoning), assistant(text('2'))] }), config)),
    ['0.0'],
  )
  assert.deepEqual(marked(markCaching(request({ messages: [user(reasoning), assistant(text('2'))] }), config)), [])
})

test('tools are cached when the config says so, and marks of the client stay', () => {
  const tools = [
    { name: 'a', schema: {} },
    { name: 'b', schema: {}, cache: { type: 'ephemeral', ttl: '1h' } },
  ]
  assert.deepEqual(markCaching(request({ tools }), config).tools, tools)
  assert.deepEqual(markCaching(request({ tools }), { ...config, cacheTools: true }).tools, tools)
  const [only] = markCaching(request({ tools: tools.slice(0, 1) }), { ...config, cacheTools: true }).tools
  assert.deepEqual(only?.cache, mark)
})

test('clients of the Messages format mark themselves, and nothing is changed in place', () => {
  const messages = request({ format: 'messages', system: [words(50)] })
  assert.equal(markCaching(messages, config), messages)
  const original = request({ system: [words(50)], messages: [user(text('1')), assistant(text('2'))] })
  const before = structuredClone(original)
  markCaching(original, config)
  enrichPrompt(original, prompt)
  assert.deepEqual(original, before)
})
