import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { AnswerFacts, UpstreamFormat } from '../format.ts'
import { type Json, type JsonObject, UnsupportedField } from '../middle.ts'
import { passesThrough } from '../request/passes-through.ts'
import { collectResponse } from '../response/collect-response.ts'
import { responseContext } from '../testing/exchange.ts'
import { completions } from './completions/index.ts'
import { messages } from './messages/index.ts'

const formats = [completions, messages]
const ALL_QUIRKS = new Set(['noReasoningHistory', 'bytesOnly', 'noOutputFormat', 'noJsonSchema'])

/**
 * The object with up to two of these members replaced: by a value of the right type, by another value, or by nothing.
 */
function around(base: JsonObject, members: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  const odd = fc.constantFrom<Json | undefined>(undefined, null, '', 0, false, [], {}, 'x', ['x'], [null])
  const change = fc.oneof(
    ...Object.entries(members).map(([name, value]) =>
      fc.oneof({ weight: 5, arbitrary: value }, { weight: 2, arbitrary: odd }).map((made) => [name, made] as const),
    ),
  )
  return fc.array(change, { maxLength: 2 }).map((changes) => {
    const changed = new Map<string, Json | undefined>([...Object.entries(base), ...changes])
    return Object.fromEntries([...changed].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  })
}

function oneOf(...values: Json[]): fc.Arbitrary<Json> {
  return fc.constantFrom<Json>(...values)
}

const texts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Json>({ type: 'text', text: 'a' }) },
    { weight: 1, arbitrary: oneOf({ type: 'thinking', thinking: 'h', signature: 's' }, { type: 'tool_use', id: 'i' }) },
    { weight: 1, arbitrary: oneOf({ type: 'image_url', image_url: { url: 'https://a/b' } }, { type: 'image' }, 'a') },
  ),
  { maxLength: 3 },
)
const content = fc.oneof(oneOf('Hello', ''), texts)
const message = around(
  { role: 'user', content: 'Hello' },
  {
    role: oneOf('user', 'assistant', 'system', 'developer', 'tool', 'function'),
    content,
    reasoning_content: oneOf('h'),
    reasoning_signature: oneOf('google:s', 's'),
    tool_calls: oneOf([{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]),
    name: oneOf('n'),
  },
)
const schema = { type: 'json_schema', json_schema: { name: 's', schema: {} }, schema: {} }
const request = around(
  { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  {
    messages: fc.array(message, { maxLength: 3 }),
    system: oneOf('s'),
    response_format: oneOf(schema, { type: 'text' }),
    thinking: oneOf({ type: 'enabled', budget_tokens: 1 }),
    output_config: oneOf({ format: schema }),
    output_format: oneOf(schema),
    temperature: oneOf(1, 'hot'),
    stream: oneOf(true, false, 'yes'),
  },
)

const count = oneOf(0, 1, 17, 12_345_678_901_234, -1, 1.5, 1e300, '3')
const usage = around(
  { prompt_tokens: 3, completion_tokens: 4, input_tokens: 5, output_tokens: 6 },
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: around({}, { cached_tokens: count, audio_tokens: count }),
    completion_tokens_details: around({}, { reasoning_tokens: count }),
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens_details: around({}, { thinking_tokens: count }),
    service_tier: oneOf('standard'),
  },
)
const choice = around(
  { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
  {
    index: oneOf(0, 1),
    message,
    usage,
    finish_reason: oneOf('stop', 'length', 'eos', 'tool_calls', 'content_filter', 'unheard of'),
    stop_reason: oneOf('\n'),
  },
)
const plainAnswer = {
  id: 'id-1',
  model: 'm-2',
  choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
  content: [{ type: 'text', text: 'Hi' }],
  usage: { prompt_tokens: 3, completion_tokens: 4, input_tokens: 5, output_tokens: 6 },
}
const answer = around(plainAnswer, {
  id: oneOf('id-1', ''),
  model: oneOf('m-2', ''),
  choices: fc.array(choice, { minLength: 1, maxLength: 2 }),
  content: texts,
  usage,
  x_groq: around({}, { usage }),
  service_tier: oneOf('flex'),
  error: oneOf({ message: 'bad' }),
  stop_reason: oneOf('end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'unheard of'),
  stop_sequence: oneOf('\n'),
})

for (const format of formats) {
  test(`${format.name}: a request that is plain passes, whatever the provider`, () => {
    const isPlain = (body: JsonObject) => format.isPlain?.(body) === true
    hasEnough(request, isPlain)
    fc.assert(
      fc.property(request, (body) => {
        if (!isPlain(body)) return
        const decoded = format.decodeRequest(body)
        // Requests that cannot be decoded are forwarded unchanged.
        if (decoded instanceof UnsupportedField) return
        assert.ok(passesThrough(decoded, ALL_QUIRKS))
        assert.equal(decoded.stream, body.stream === true)
      }),
      { numRuns: 3_000 },
    )
  })

  test(`${format.name}: what is read of a plain answer is what its events say`, () => {
    hasEnough(answer, (body) => (format.plainFacts?.(body) ?? null) !== null)
    fc.assert(
      fc.property(answer, (body) => {
        const facts = format.plainFacts?.(body) ?? null
        if (facts === null) return
        assert.deepEqual(facts, factsOf(format, body))
      }),
      { numRuns: 3_000 },
    )
  })
}

/**
 * Asserts that enough sampled bodies are plain, without which the property tests nothing. The sample size is fixed,
 * independent of the number of runs.
 */
function hasEnough(bodies: fc.Arbitrary<JsonObject>, isPlain: (body: JsonObject) => boolean): void {
  const plain = fc.sample(bodies, { numRuns: 1_000, seed: 1 }).filter(isPlain)
  assert.ok(plain.length > 100, `only ${plain.length} of 1000 were plain`)
}

function factsOf(format: UpstreamFormat, body: JsonObject): AnswerFacts {
  const events = format.decodeResponse(body, responseContext())
  assert.ok(events !== null && events.every(({ type }) => type !== 'error'))
  const { id, model, usage, finish } = collectResponse(events)
  return { id, model, usage, finish: finish?.reason ?? assert.fail('the response has no end') }
}

test('calls, errors and answers without a name are left to the whole way', () => {
  const plain = {
    id: 'a',
    model: 'm',
    choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }
  assert.equal(completions.plainFacts?.(plain)?.usage?.output, 2)
  assert.equal(completions.plainFacts?.({ ...plain, error: { message: 'no' } }), null)
  assert.equal(completions.plainFacts?.({ ...plain, id: '' }), null)
  assert.equal(completions.plainFacts?.({ ...plain, choices: [] }), null)
  const called = { message: { content: '', tool_calls: [{ id: 'c', function: { name: 'f' } }] } }
  assert.equal(completions.plainFacts?.({ ...plain, choices: [called] }), null)
  const blocks = { id: 'a', model: 'm', content: [{ type: 'text', text: 'Hi' }], usage: { output_tokens: 2 } }
  assert.equal(messages.plainFacts?.(blocks)?.usage?.output, 2)
  assert.equal(messages.plainFacts?.({ ...blocks, content: [{ type: 'tool_use' }] }), null)
})
