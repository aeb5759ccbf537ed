import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@portico/chat'
import { asksForUsage, completionsEdits } from './native-edits.ts'

const none: ReadonlySet<string> = new Set()

function edits(body: JsonObject, ...quirks: string[]): Record<string, unknown> {
  return Object.fromEntries(completionsEdits(body, new Set(quirks)))
}

test('usage of a stream is asked for, whatever the client wants', () => {
  assert.deepEqual(edits({ stream: true }), { stream_options: { include_usage: true } })
  assert.deepEqual(edits({ stream: true, stream_options: { include_usage: false, x: 1 } }), {
    stream_options: { include_usage: true, x: 1 },
  })
  assert.deepEqual(edits({ stream: true, stream_options: null }), { stream_options: { include_usage: true } })
  assert.deepEqual(edits({ stream: true, stream_options: { include_usage: true } }), {})
  assert.deepEqual(edits({ stream: false }), {})
  assert.deepEqual(edits({ stream: true }, 'noStreamOptions'), {})
  assert.ok(asksForUsage({ stream_options: { include_usage: true } }))
  assert.ok(!asksForUsage({ stream_options: { include_usage: false } }))
  assert.ok(!asksForUsage({}))
})

test('the limit has the name that the model knows', () => {
  assert.deepEqual(edits({ max_tokens: 5 }, 'completionTokens'), { max_tokens: undefined, max_completion_tokens: 5 })
  assert.deepEqual(edits({ max_tokens: 5, max_completion_tokens: 7 }, 'completionTokens'), {
    max_tokens: undefined,
    max_completion_tokens: 7,
  })
  assert.deepEqual(edits({ max_completion_tokens: 7 }, 'completionTokens'), {})
  assert.equal(completionsEdits({ max_tokens: 5 }, none).size, 0)
})
