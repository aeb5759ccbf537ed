import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientFormats, upstreamFormats } from '@portico/chat'
import { responseContext } from '../../../chat/src/testing/exchange.ts'
import { LlmRecord } from './llm-record.ts'

test('a whole response is recorded like its events', () => {
  const body = {
    id: 'chatcmpl-1',
    model: 'gpt-4.1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }
  const [read, whole] = [new LlmRecord(), new LlmRecord()]
  for (const event of upstreamFormats.completions.decodeResponse(body, responseContext()) ?? [])
    read.observe(event, () => 0)
  whole.observeWhole(clientFormats.completions.plainFacts?.(body) ?? assert.fail('the response is not plain'))
  assert.deepEqual([read.responseId, read.finishReason, read.usage.output], ['chatcmpl-1', 'stop', 4])
  // `firstTokenAt` has no meaning for a whole response.
  whole.firstTokenAt = read.firstTokenAt
  assert.deepEqual(whole, read)
})
