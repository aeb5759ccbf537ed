import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FormatName, Part, Reasoning } from '../middle.ts'
import { passesThrough } from './passes-through.ts'
import { request } from '../testing/exchange.ts'

const NONE = new Set<string>()
const call: Part = { type: 'toolCall', id: 'call_1', name: 'f', arguments: '{}' }

function passes(format: FormatName, parts: Part[], reasoning: Reasoning | null = null, quirks = NONE): boolean {
  return passesThrough(request({ messages: [{ role: 'assistant', parts }], reasoning }, format), quirks)
}

test("reasoning and calls of the format's own vendor pass unchanged", () => {
  const text = 'Hm'
  assert.ok(passes('completions', [{ type: 'text', text }, call]))
  assert.ok(passes('messages', [{ type: 'reasoning', text, signature: 'anthropic:E' }, call]))
  assert.ok(passes('messages', [{ type: 'reasoning', text: '', opaque: 'anthropic:E' }, call]))
  assert.ok(passes('responses', [{ type: 'reasoning', text, id: 'rs_1', opaque: 'openai:g' }, call]))
  assert.ok(passes('responses', [{ type: 'reasoning', text: '', opaque: 'openai:g' }]))
  assert.ok(passes('responses', [{ type: 'reasoning', text, id: 'rs_1' }]))
})

test('reasoning and calls of another vendor do not pass', () => {
  const text = 'Hm'
  for (const format of ['completions', 'messages', 'responses'] as const) {
    assert.ok(!passes(format, [{ type: 'reasoning', text, signature: 'google:C' }]), format)
    assert.ok(!passes(format, [{ type: 'reasoning', text: '', opaque: 'amazon:C' }]), format)
    assert.ok(!passes(format, [{ ...call, signature: 'google:C' }]), format)
  }
  assert.ok(!passes('messages', [{ type: 'reasoning', text: '', opaque: 'openai:g', id: 'rs_1' }]))
  assert.ok(!passes('responses', [{ type: 'reasoning', text, signature: 'anthropic:E' }]))
})

test('unsigned reasoning belongs to a vendor that signs nothing', () => {
  const unsigned: Part = { type: 'reasoning', text: 'Hm' }
  assert.ok(!passes('messages', [unsigned]))
  assert.ok(!passes('responses', [unsigned]))
  assert.ok(passes('completions', [unsigned]), 'servers of this format sign nothing, and some want it back')
  assert.ok(!passes('completions', [unsigned], null, new Set(['noReasoningHistory'])))
})

test('thinking that must begin the turn is not asked for where another vendor began it', () => {
  const enabled = { budget: 1024, rest: { thinking: { type: 'enabled', budget_tokens: 1024 } } }
  const adaptive = { rest: { thinking: { type: 'adaptive' } } }
  assert.ok(!passes('messages', [call], enabled))
  assert.ok(passes('messages', [{ type: 'reasoning', text: 'Hm', signature: 'anthropic:E' }, call], enabled))
  assert.ok(passes('messages', [{ type: 'text', text: 'Hm' }], enabled))
  assert.ok(passes('messages', [call], adaptive))
  assert.ok(passes('messages', [call]))
})

test('images and files that are elsewhere do not go to who takes bytes only', () => {
  const remote: Part = { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } }
  const stored: Part = { type: 'file', source: { kind: 'id', id: 'file_1' } }
  const inline: Part = { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' } }
  const result: Part = { type: 'toolResult', id: 'call_1', parts: [remote], isError: false }
  const bytesOnly = new Set(['bytesOnly'])
  for (const part of [remote, stored, result]) {
    assert.ok(passes('messages', [part]))
    assert.ok(!passes('messages', [part], null, bytesOnly))
  }
  assert.ok(passes('messages', [inline], null, bytesOnly))
})

test('a schema goes on only to models that know it', () => {
  const output = { kind: 'schema', name: 'n', schema: {} } as const
  assert.ok(passesThrough(request({ output }, 'messages'), NONE))
  assert.ok(!passesThrough(request({ output }, 'messages'), new Set(['noOutputFormat'])))
  assert.ok(!passesThrough(request({ output }), new Set(['noJsonSchema'])))
  assert.ok(passesThrough(request({}, 'messages'), new Set(['noOutputFormat'])))
})
