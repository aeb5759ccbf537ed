import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LlmRecord } from '../../records/llm-record.ts'
import { RealtimeUsage } from './usage.ts'

function session(events: readonly (object | string)[]) {
  const facts = new LlmRecord()
  const charged: number[] = []
  const usage = new RealtimeUsage(facts, (tokens) => charged.push(tokens))
  for (const event of events) usage.text(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)))
  return { facts, charged, usage }
}

const created = { type: 'response.created', response: { id: 'resp_1' } }
const delta = { type: 'response.output_audio_transcript.delta', delta: 'hello' }
const done = (usage: object | null) => ({ type: 'response.done', response: { id: 'resp_1', usage } })
const reported = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: { text_tokens: 119, audio_tokens: 13, image_tokens: 0, cached_tokens: 64 },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
}

test('responses of a session add up, and are told as they come', () => {
  const { facts, charged } = session([created, delta, done(reported), created, done({ ...reported, output_tokens: 1 })])
  assert.deepEqual(facts.usage, {
    input: 264,
    output: 122,
    cacheRead: 128,
    inputAudio: 26,
    inputImage: 0,
    outputAudio: 182,
    providerInput: 264,
    providerTotal: 506,
  })
  assert.deepEqual(charged, [253, 133])
  assert.equal(facts.isEstimated, false)
})

test('transcriptions count where they are counted in tokens', () => {
  const type = 'conversation.item.input_audio_transcription.completed'
  const { charged } = session([
    { type, transcript: 'hi', usage: { type: 'tokens', total_tokens: 22, input_tokens: 13, output_tokens: 9 } },
    { type, transcript: 'hi', usage: { type: 'duration', seconds: 3 } },
  ])
  assert.deepEqual(charged, [22])
})

test('the session names the model', () => {
  assert.equal(
    session([{ type: 'session.created', session: { model: 'gpt-realtime' } }]).facts.responseModel,
    'gpt-realtime',
  )
  const switched = session([
    { type: 'session.created', session: { model: 'a' } },
    { type: 'session.updated', session: {} },
  ])
  assert.equal(switched.facts.responseModel, 'a')
})

test('a response that reports nothing, or never ends, counts as its events', () => {
  const { facts, charged, usage } = session([created, delta, delta, done(null), created, delta])
  assert.deepEqual([facts.usage.output, facts.isEstimated, charged], [2, true, [2]])
  usage.over()
  assert.deepEqual([facts.usage.output, charged], [3, [2, 1]])
})

test('a session that ends between responses is no estimate', () => {
  const { facts, usage } = session([created, done(reported)])
  usage.over()
  assert.equal(facts.isEstimated, false)
})

test('a message that cannot be read makes it one', () => {
  for (const how of ['skipped', 'lost'] as const) {
    const { facts, usage } = session([])
    usage[how]()
    assert.equal(facts.isEstimated, true)
  }
})

test('malformed or foreign events are not counted', () => {
  const { facts } = session([
    '"response.done"',
    '{"type":"response.done"',
    '{"type":"response.done","response":7}',
    { type: 'response.output_text.delta', delta: '{"type":"response.done","response":{"usage":{"output_tokens":9}}}' },
    { type: 'other', item: '"response.done"', response: { usage: { output_tokens: 5 } } },
    done({ input_tokens: -4, output_tokens: '7', total_tokens: null }),
  ])
  assert.equal(facts.totalTokens, 0)
})

test('whatever a provider sends, tokens are counted up and nothing is thrown', () => {
  const number = fc.oneof(fc.nat(1_000), fc.constantFrom(-1, null, 'x', Number.MAX_VALUE, {}))
  const usage = fc.record({ input_tokens: number, output_tokens: number, input_token_details: number })
  const event = fc.record({
    type: fc.constantFrom('response.created', 'response.done', 'session.created', 'response.output_text.delta', 'x'),
    response: fc.oneof(fc.record({ usage: fc.oneof(usage, fc.constant(null)) }), fc.string()),
  })
  const text = fc.oneof(
    event.map((value) => JSON.stringify(value)),
    fc.string().map((value) => `"response.done"${value}`),
  )
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const { facts, charged, usage: reader } = session(texts)
      reader.over()
      assert.ok(charged.every((tokens) => tokens > 0))
      assert.equal(
        charged.reduce((sum, tokens) => sum + tokens, 0),
        facts.totalTokens,
      )
    }),
    { seed: 1, numRuns: 500 },
  )
})
