import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest } from '../testing/chat-request.ts'
import { type NameRule, nameTools } from './tool-names.ts'

const rule: NameRule = { valid: /^[A-Za-z_][\w-]{0,63}$/, invalid: /[^\w-]/g, maxLength: 64 }

function named(...names: string[]): { theirs: string[]; back: Map<string, string> } {
  const back = new Map<string, string>()
  const request = chatRequest({ tools: names.map((name) => ({ name, schema: {} })) })
  const map = nameTools(request, rule, back)
  return { theirs: names.map((name) => map.get(name) ?? ''), back }
}

test('names that a provider takes stay as they are', () => {
  const { theirs, back } = named('weather', 'get_time-2')
  assert.deepEqual(theirs, ['weather', 'get_time-2'])
  assert.equal(back.size, 0)
})

test('other characters become underscores', () => {
  assert.deepEqual(named('mcp.weather/now', '2nd', '').theirs, ['mcp_weather_now', '_2nd', '_'])
})

test('long names are cut and told apart by a hash of the whole', () => {
  const long = 'x'.repeat(80)
  const [one = '', other = ''] = named(`${long}1`, `${long}2`).theirs
  assert.match(one, /^x{57}_[0-9a-f]{6}$/)
  assert.notEqual(one, other)
})

test('a changed name never takes the place of a real one', () => {
  const { theirs, back } = named('a.b', 'a_b', 'a:b')
  assert.equal(theirs[1], 'a_b')
  assert.match(theirs[0] ?? '', /^a_b_[0-9a-f]{6}$/)
  assert.deepEqual([...back.values()], ['a.b', 'a:b'])
})

test('names in the history and in the choice are changed too', () => {
  const request = chatRequest({
    messages: [
      { role: 'assistant', parts: [{ type: 'toolCall', id: '1', name: 'a.b', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'toolResult', id: '1', name: 'c.d', parts: [], isError: false }] },
    ],
    toolChoice: { kind: 'tool', name: 'e.f' },
  })
  assert.deepEqual([...nameTools(request, rule, new Map()).values()].toSorted(), ['a_b', 'c_d', 'e_f'])
})

test('any names come out valid, different from each other, and can be mapped back', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(fc.string(), fc.string({ minLength: 60, maxLength: 80 }))), (names) => {
      const { theirs, back } = named(...names)
      for (const name of theirs) assert.match(name, rule.valid)
      assert.equal(new Set(theirs).size, names.length)
      assert.deepEqual(
        theirs.map((name) => back.get(name) ?? name),
        names,
      )
    }),
  )
})
