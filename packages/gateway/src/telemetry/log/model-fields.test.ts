import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LlmRecord } from '../../records/llm-record.ts'
import { modelCall, streamedChat } from '../../testing/model-call.ts'
import { modelJson, modelText } from './access-log.ts'

test('a streamed chat shows its models, tokens and times', () => {
  assert.equal(
    modelText(streamedChat(), 1000),
    ' gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-test' +
      ' gen_ai.response.model=gpt-test-2026 gen_ai.usage.input_tokens=70 gen_ai.usage.output_tokens=30' +
      ' gen_ai.usage.cache_read.input_tokens=20 gen_ai.usage.cache_creation.input_tokens=5' +
      ' gen_ai.usage.reasoning_tokens=10 portico.ai.time_to_first_token=250ms portico.ai.time_per_output_token=20ms',
  )
})

test('json keeps numbers and truth values', () => {
  const call = streamedChat({ usage: { input: 7, outputAudio: 0 }, isEstimated: true, firstTokenAt: 1000.06 })
  assert.deepEqual(JSON.parse(`{${modelJson(call, 1000).slice(1)}}`), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-test',
    'gen_ai.response.model': 'gpt-test-2026',
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_audio_tokens': 0,
    'gen_ai.usage.estimated': true,
    'portico.ai.time_to_first_token': '0.1ms',
  })
})

test('unknown fields are left out', () => {
  assert.equal(modelText(new LlmRecord(), 0), '')
  assert.equal(modelJson(new LlmRecord(), 0), '')
})

test('an answer that came at once has no times of tokens', () => {
  assert.doesNotMatch(modelText(streamedChat({ streaming: false }), 1000), /time_/)
})

test('models can neither forge a field nor make a line long', () => {
  fc.assert(
    fc.property(modelCall, (call) => {
      const text = modelText(call, 1000)
      assert.doesNotMatch(text, /[\0-\x1f\x7f-\x9f\u2028\u2029\u202e]/)
      const fields = JSON.parse(`{${modelJson(call, 1000).slice(1)}}`) as Record<string, unknown>
      assert.equal(fields['gen_ai.request.model'] ?? '', call.requestModel)
      const names = [...text.matchAll(/ ([^ =]+)=(?:"(?:[^"\\]|\\.)*"|[^ "]*)/g)].map((pair) => pair[1])
      assert.deepEqual(names, Object.keys(fields))
    }),
    { seed: 13, numRuns: 300 },
  )
  const long = modelText(streamedChat({ requestModel: 'x'.repeat(1e6), responseModel: '"'.repeat(1e6) }), 1000)
  assert.ok(long.length < 2000, String(long.length))
})
