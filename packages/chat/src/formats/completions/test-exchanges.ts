import * as fc from 'fast-check'
import type { JsonObject } from '../../middle.ts'
import type { Exchange } from '../../testing/exchange.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

/** Whole exchanges with servers of this format: the same response buffered, and streamed in any pieces. */
export const exchange: fc.Arbitrary<Exchange> = fc
  .record({
    reasoning: fc.option(fc.record({ name: fc.constantFrom('reasoning', 'reasoning_content'), text: text() })),
    content: fc.option(text()),
    refusal: fc.option(text()),
    calls: fc.array(
      fc.record({ id: id(), name: name(), input: fc.dictionary(name(), fc.jsonValue({ maxDepth: 2 })) }),
      { maxLength: 3 },
    ),
    finish: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls'),
    usage: fc.option(usage()),
    usageAt: fc.constantFrom('own chunk', 'last choice', 'every chunk'),
    pieces: fc.integer({ min: 1, max: 5 }),
    end: fc.constantFrom('data: [DONE]\n\n', 'data: [DONE]', ''),
    newline: fc.constantFrom('\n', '\r\n'),
    head: fc.record({ id: id(), created: fc.nat(), model: name() }),
  })
  .map(({ reasoning, content, refusal, calls, finish, usage, usageAt, pieces, end, newline, head }) => {
    const encodedCalls = calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const message: JsonObject = {
      role: 'assistant',
      content,
      refusal,
      ...(reasoning !== null && { [reasoning.name]: reasoning.text }),
      ...(encodedCalls.length > 0 && { tool_calls: encodedCalls }),
    }
    const body: JsonObject = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      ...(usage !== null && { usage }),
    }
    const deltas: JsonObject[] = [
      { role: 'assistant', content: '' },
      ...split(reasoning?.text, pieces).map((piece) => ({ [reasoning!.name]: piece })),
      ...split(content, pieces).map((piece) => ({ content: piece })),
      ...split(refusal, pieces).map((piece) => ({ refusal: piece })),
      ...encodedCalls.flatMap((call, index) => callDeltas(call, index, pieces)),
    ]
    const chunks: JsonObject[] = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }))
    chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: finish }] })
    if (usage !== null && usageAt === 'own chunk') chunks.push({ choices: [], usage })
    if (usage !== null && usageAt === 'last choice') chunks.at(-1)!.usage = usage
    if (usage !== null && usageAt === 'every chunk') for (const chunk of chunks) chunk.usage = usage
    const records = chunks.map((chunk) => {
      const whole = { ...head, object: 'chat.completion.chunk', ...chunk }
      return `data: ${JSON.stringify(whole)}${newline}${newline}`
    })
    return { body, stream: Buffer.from(records.join('') + end) }
  })

interface Call {
  id: string
  type: string
  function: { name: string; arguments: string }
}

function callDeltas(call: Call, index: number, pieces: number): JsonObject[] {
  const { name, arguments: text } = call.function
  return [
    { tool_calls: [{ index, id: call.id, type: call.type, function: { name, arguments: '' } }] },
    ...split(text, pieces).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]
}

function usage(): fc.Arbitrary<JsonObject> {
  const count = fc.nat({ max: 100_000 })
  return fc
    .record({ prompt: count, completion: count, cached: count, reasoning: count })
    .map(({ prompt, completion, cached, reasoning }) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: Math.min(cached, prompt) },
      completion_tokens_details: { reasoning_tokens: Math.min(reasoning, completion) },
    }))
}

/** Pieces may cut a surrogate pair in two, as servers do. */
export function split(text: string | null | undefined, pieces: number): string[] {
  if (text === null || text === undefined) return []
  const size = Math.max(1, Math.ceil(text.length / pieces))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))
}

export function text(): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 }).map((value) => value.toWellFormed())
}

export function name(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/)
}

export function id(): fc.Arbitrary<string> {
  return fc.stringMatching(/^[a-z]{2,5}_[A-Za-z0-9]{4,12}$/)
}
