import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { eventMessage } from '../testing/event-stream-message.ts'
import { DetectedAnswer, type DetectedCall, DetectedRequest } from './detect.ts'

const AWS = { 'content-type': 'application/vnd.amazon.eventstream' }
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

function newCall(): DetectedCall {
  return { requestModel: '', responseModel: '', streaming: false, usage: {}, isEstimated: false }
}

function answered(body: Buffer | string, headers: Record<string, string> = {}, size = 1 << 20, limit = 1 << 20) {
  const facts = newCall()
  const answer = new DetectedAnswer(facts, (name) => headers[name] ?? null, limit)
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += size) answer.chunk(bytes.subarray(at, at + size))
  answer.over(true)
  return facts
}

const events = (...records: object[]) => records.map((record) => `data: ${JSON.stringify(record)}\n\n`).join('')
const chunk = (record: object) =>
  eventMessage('chunk', { bytes: Buffer.from(JSON.stringify(record)).toString('base64') })

const claude = [
  {
    type: 'message_start',
    message: {
      model: 'claude',
      usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 6, output_tokens: 1 },
    },
  },
  { type: 'content_block_delta', delta: { text: 'hi' } },
  { type: 'message_delta', usage: { output_tokens: 8 } },
  { type: 'message_stop' },
]
const metrics = { inputTokenCount: 10, outputTokenCount: 8, cacheReadInputTokenCount: 4, cacheWriteInputTokenCount: 6 }
const converse = {
  inputTokens: 10,
  outputTokens: 8,
  cacheReadInputTokens: 4,
  cacheWriteInputTokens: 6,
  totalTokens: 28,
}
const chat = {
  prompt_tokens: 20,
  completion_tokens: 8,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 },
}
const responses = {
  input_tokens: 20,
  output_tokens: 8,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 },
}
const gemini = { promptTokenCount: 20, candidatesTokenCount: 5, thoughtsTokenCount: 3, cachedContentTokenCount: 4 }

/**
 * All responses report the same usage: 20 in, of which 4 were read from the cache and (except for Gemini) 6 written to
 * it, and 8 out.
 */
const answers: [name: string, body: Buffer | string, headers: Record<string, string>, model: string][] = [
  ['Chat Completions', JSON.stringify({ model: 'm', usage: chat }), {}, 'm'],
  ['Chat Completions, streamed', events({ model: 'm', choices: [] }, { choices: [], usage: chat }), SSE, 'm'],
  ['Responses', JSON.stringify({ model: 'm', usage: responses }), {}, 'm'],
  ['Responses, streamed', events({ type: 'response.completed', response: { model: 'm', usage: responses } }), SSE, 'm'],
  [
    'Messages',
    JSON.stringify({ ...claude[0]!.message, usage: { ...claude[0]!.message!.usage, output_tokens: 8 } }),
    {},
    'claude',
  ],
  ['Messages, streamed', events(...claude), SSE, 'claude'],
  ['Gemini', JSON.stringify({ modelVersion: 'g', usageMetadata: gemini }), {}, 'g'],
  ['Gemini, streamed', events({ modelVersion: 'g' }, { usageMetadata: gemini }), SSE, 'g'],
  ['Gemini, streamed as a list', JSON.stringify([{ modelVersion: 'g' }, { usageMetadata: gemini }]), {}, 'g'],
  ['Converse', JSON.stringify({ output: {}, usage: converse }), {}, ''],
  [
    'Converse, streamed',
    Buffer.concat([eventMessage('messageStart', { role: 'a' }), eventMessage('metadata', { usage: converse })]),
    AWS,
    '',
  ],
  ['Claude on Bedrock, streamed', Buffer.concat(claude.map(chunk)), AWS, 'claude'],
  [
    'another model on Bedrock, streamed',
    Buffer.concat([chunk({ generation: 'hi' }), chunk({ 'amazon-bedrock-invocationMetrics': metrics })]),
    AWS,
    '',
  ],
  ['Nova on Bedrock, streamed', Buffer.concat([chunk({ metadata: { usage: converse } })]), AWS, ''],
  [
    'another model on Bedrock',
    JSON.stringify({ generation: 'hi' }),
    {
      'x-amzn-bedrock-input-token-count': '10',
      'x-amzn-bedrock-output-token-count': '8',
      'x-amzn-bedrock-cache-read-input-token-count': '4',
      'x-amzn-bedrock-cache-write-input-token-count': '6',
    },
    '',
  ],
]

for (const [name, body, headers, model] of answers) {
  test(`${name}: usage is read, however the bytes are cut, also where no type is named`, () => {
    for (const given of [headers, { ...headers, 'content-type': '' }]) {
      for (const size of [1, 7, 1 << 20]) {
        const { usage, responseModel, streaming } = answered(body, given, size)
        const { input, output, cacheRead, cacheWrite = 6 } = usage
        assert.deepEqual(
          { input, output, cacheRead, cacheWrite },
          { input: 20, output: 8, cacheRead: 4, cacheWrite: 6 },
        )
        assert.equal(responseModel, model)
        assert.equal(streaming, name.includes('streamed') && !name.includes('list'))
      }
    }
  })
}

test('usage is found at the end of a response that is too large to buffer', () => {
  const image = JSON.stringify({ data: [{ b64_json: 'x'.repeat(5000) }], usage: { ...responses, total_tokens: 28 } })
  const { usage } = answered(image, {}, 100, 1000)
  assert.deepEqual([usage.input, usage.output], [20, 8])
})

test('a stream of any length is read to its end', () => {
  const delta = events({ choices: [{ delta: { content: 'x'.repeat(1000) } }] })
  const end = `${events({ choices: [], usage: chat })}data: [DONE]\n\n`
  const { usage } = answered(delta.repeat(100) + end, SSE, 999, 10_000)
  assert.deepEqual([usage.input, usage.output], [20, 8])
})

test('a stream that breaks off is charged for the received records', () => {
  const facts = newCall()
  const answer = new DetectedAnswer(facts, (name) => SSE[name as keyof typeof SSE] ?? null, 1000)
  answer.chunk(Buffer.from(events(...claude.slice(0, 2), ...Array.from({ length: 30 }, () => claude[1]!))))
  answer.over(false)
  assert.deepEqual([facts.usage.input, facts.usage.output, facts.isEstimated], [20, 32, true])
})

test('no bytes are too odd', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom({}, AWS, SSE), (bytes, headers) => {
      const { usage } = answered(Buffer.from(bytes), headers, 5, 50)
      assert.deepEqual(usage, {})
    }),
    { seed: 41, numRuns: 300 },
  )
  fc.assert(
    fc.property(fc.json(), (text) => void answered(`{"usage":${text},"response":${text}}`)),
    { seed: 42, numRuns: 300 },
  )
})

function asked(path: string, body: string, contentType: string | null = 'application/json', limit = 1000) {
  const facts = newCall()
  const request = new DetectedRequest(facts, { path, contentType }, limit)
  if (request.isDone) return facts
  for (let at = 0; at < body.length; at += 9) request.chunk(Buffer.from(body.slice(at, at + 9)))
  request.over()
  return facts
}

test('the model of a request is in its path, its body or its form', () => {
  const model = (...given: Parameters<typeof asked>) => asked(...given).requestModel
  assert.equal(model('/model/us.anthropic.claude-v1%3A0/converse-stream', '{}'), 'us.anthropic.claude-v1:0')
  assert.equal(model('/v1beta/models/gemini-2.5-pro:streamGenerateContent', '{}'), 'gemini-2.5-pro')
  assert.equal(model('/openai/deployments/mine/chat/completions', '{}'), 'mine')
  assert.equal(model('/model/%E0%A4%A/converse', '{"model":"m"}'), 'm')
  assert.equal(model('/v1/images/generations', '{"prompt":"p","model":"gpt-image-1"}'), 'gpt-image-1')
  const form = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n'
  assert.equal(model('/v1/audio/transcriptions', form, 'multipart/form-data; boundary=b'), 'whisper-1')
  const large = `{"stream": true, "model" : "m", "input": "${'x'.repeat(2000)}"}`
  assert.equal(model('/v1/x', large), 'm')
  for (const odd of ['', '[]', '{"model":5}', '{"input":{"model":"no"}', 'model=m'])
    assert.equal(model('/v1/x', odd), '')
})

test('whether a stream is asked for is known before it comes', () => {
  assert.equal(asked('/v1/x', '{"model":"m","stream":true}').streaming, true)
  assert.equal(asked('/v1/x', '{"model":"m","stream":"yes"}').streaming, false)
})
