import { clientFormats, type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { canonicalBody } from '../cache-key.ts'
import { type ComparableRequest, comparableRequest } from './comparable-request.ts'

function compare(body: JsonObject, maxCharacters = 1_000): ComparableRequest | string {
  const chat = clientFormats.completions.decodeRequest(body)
  assert.ok(!(chat instanceof UnsupportedField))
  return comparableRequest(chat, Buffer.from(JSON.stringify(body)), maxCharacters)
}

function restOf(body: JsonObject): string {
  const compared = compare(body)
  assert.ok(typeof compared !== 'string')
  return canonicalBody(compared.rest)
}

const chat = (content: string, more: JsonObject = {}): JsonObject => ({
  model: 'm',
  messages: [
    { role: 'system', content: 'be brief' },
    { role: 'user', content },
  ],
  ...more,
})

describe('the rest of a request', () => {
  const text = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((value) => value.trim() !== '' && !/\p{Nd}/u.test(value))
  // Values that do not occur elsewhere in the body.
  const extra = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })

  test('is the same for all texts, and differs with every other part', () => {
    fc.assert(
      fc.property(text, text, extra, extra, (one, other, members, others) => {
        const bodies = [chat(one, { extra: members as JsonObject }), chat(other, { extra: members as JsonObject })]
        const [first, second] = bodies.map((body) => compare(body))
        if (typeof first === 'string' || typeof second === 'string' || !first || !second) return
        assert.deepEqual([first.text, second.text], [one, other])
        assert.equal(canonicalBody(first.rest), canonicalBody(second.rest))
        const changed = compare(chat(one, { extra: others as JsonObject }))
        if (typeof changed === 'string') return
        const isEqual =
          canonicalBody(Buffer.from(JSON.stringify([members]))) === canonicalBody(Buffer.from(JSON.stringify([others])))
        assert.equal(canonicalBody(changed.rest) === canonicalBody(first.rest), isEqual)
      }),
    )
  })

  test('has the numbers of the text, in their order', () => {
    const rests = ['order 7', 'order 8', '7 orders', 'the order 7!', 'order 7 of 9', 'order 9 of 7', 'order 7.5'].map(
      (content) => restOf(chat(content)),
    )
    assert.equal(rests[0], rests[3])
    assert.equal(rests[0], rests[2])
    assert.equal(new Set(rests).size, 5)
    assert.notEqual(restOf(chat('on 2026-01-02')), restOf(chat('on 2026-01-03')))
    assert.notEqual(restOf(chat('room ٣')), restOf(chat('room ٤')))
  })

  test('tells where the text stood', () => {
    const turns = (...contents: string[]): Json => contents.map((content) => ({ role: 'user', content }))
    const one = restOf({ model: 'm', messages: turns('x', 'y') })
    assert.notEqual(one, restOf({ model: 'm', messages: turns('z', 'y') }))
    assert.equal(one, restOf({ messages: turns('x', 'z'), model: 'm' }))
  })
})

test('a text that is another string of the request, too, is ambiguous', () => {
  for (const content of ['user', 'm', 'be brief']) assert.equal(compare(chat(content)), 'ambiguous-text', content)
})

test('requests that an embedding does not describe are not compared', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const cases: [JsonObject, string][] = [
    [chat('hi', { functions: [{ name: 'f', parameters: {} }] }), 'tools'],
    [chat('hi', { web_search_options: {} }), 'tools'],
    [chat('hi', { plugins: [{ id: 'web' }] }), 'tools'],
    [
      {
        model: 'm',
        messages: [
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: 'c', content: 'r' },
          { role: 'user', content: 'hi' },
        ],
      },
      'tools',
    ],
    [{ model: 'm', messages: [] }, 'no-user-text'],
    [chat('\n'), 'no-user-text'],
    [chat('x'.repeat(1_001)), 'too-long'],
  ]
  for (const [body, reason] of cases) assert.equal(compare(body), reason)
})

test('a body of which a copy may lack something is not compared', () => {
  const body = clientFormats.completions.decodeRequest(chat('hi'))
  assert.ok(!(body instanceof UnsupportedField))
  const bytes = [
    '{"model":"m","a":1,"a":2,"messages":[{"content":"hi"}]}',
    '{"content":"hi","n":12345678901234567890}',
    '',
  ]
  for (const text of bytes) assert.equal(comparableRequest(body, Buffer.from(text), 100), 'unreadable', text)
  assert.equal(comparableRequest(body, Buffer.from([0xff]), 100), 'unreadable')
})
