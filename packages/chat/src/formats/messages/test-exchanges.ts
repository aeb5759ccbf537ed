import * as fc from 'fast-check'
import { textAt } from '@portico/http/json'
import type { JsonObject } from '../../middle.ts'
import { sseRecord } from '@portico/http/sse'
import type { Exchange } from '../../testing/exchange.ts'
import { id, name, split, text } from '../completions/test-exchanges.ts'

interface Block {
  whole: JsonObject
  start: JsonObject
  deltas: (pieces: number) => JsonObject[]
}

/** Whole exchanges with this vendor: the same response buffered, and streamed in any pieces. */
export const exchange: fc.Arbitrary<Exchange> = fc
  .record({
    head: fc.record({ id: id(), model: name() }),
    blocks: fc.array(fc.oneof(textBlock(), thinkingBlock(), redactedBlock(), toolBlock(), nativeBlock()), {
      maxLength: 5,
    }),
    stop: fc.constantFrom(
      ['end_turn', null],
      ['max_tokens', null],
      ['tool_use', null],
      ['refusal', null],
      ['pause_turn', null],
      ['model_context_window_exceeded', null],
      ['stop_sequence', 'END'],
    ),
    usage: usage(),
    early: fc.nat({ max: 5 }),
    pieces: fc.integer({ min: 1, max: 5 }),
    pings: fc.boolean(),
  })
  .map(({ head, blocks, stop: [reason, sequence], usage, early, pieces, pings }) => {
    const message = { ...head, type: 'message', role: 'assistant' }
    const stop = { stop_reason: reason, stop_sequence: sequence ?? null }
    const startUsage = { ...usage, output_tokens: Math.min(early, usage.output_tokens) }
    const events: JsonObject[] = [
      { type: 'message_start', message: { ...message, content: [], usage: startUsage } },
      ...(pings ? [PING] : []),
      ...blocks.flatMap((block, index): JsonObject[] => [
        { type: 'content_block_start', index, content_block: block.start },
        ...block.deltas(pieces).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: stop, usage: { output_tokens: usage.output_tokens } },
      { type: 'message_stop' },
    ]
    const stream = events.map((event) => sseRecord(JSON.stringify(event), textAt(event, 'type')))
    const body: JsonObject = { ...message, content: blocks.map(({ whole }) => whole), ...stop, usage }
    return { body, stream: Buffer.from(stream.join('')) }
  })

function textBlock(): fc.Arbitrary<Block> {
  return fc.record({ value: text(), cited: fc.array(text(), { maxLength: 2 }) }).map(({ value, cited }) => {
    const citations = cited.map((cited_text) => ({ type: 'char_location', cited_text }))
    return {
      whole: { type: 'text', text: value, ...(citations.length > 0 && { citations }) },
      start: { type: 'text', text: '' },
      deltas: (pieces) => [
        ...split(value, pieces).map((piece) => ({ type: 'text_delta', text: piece })),
        ...citations.map((citation) => ({ type: 'citations_delta', citation })),
      ],
    }
  })
}

function thinkingBlock(): fc.Arbitrary<Block> {
  return fc
    .record({ thinking: fc.option(text()), signature: fc.base64String({ minLength: 4 }) })
    .map(({ thinking, signature }): Block => ({
      whole: { type: 'thinking', thinking: thinking ?? '', signature },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: (pieces) => [
        ...split(thinking, pieces).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        ...split(signature, 2).map((piece) => ({ type: 'signature_delta', signature: piece })),
      ],
    }))
}

function redactedBlock(): fc.Arbitrary<Block> {
  return fc.base64String({ minLength: 4 }).map((data): Block => {
    const block = { type: 'redacted_thinking', data }
    return { whole: block, start: block, deltas: () => [] }
  })
}

function toolBlock(): fc.Arbitrary<Block> {
  const input = fc.dictionary(name(), fc.jsonValue({ maxDepth: 2 }))
  return fc.record({ id: id(), name: name(), input }).map(({ id, name, input }): Block => {
    // The input is parsed from JSON, because JSON cannot express every value, such as -0.
    const text = JSON.stringify(input)
    return {
      whole: { type: 'tool_use', id, name, input: JSON.parse(text) as JsonObject },
      start: { type: 'tool_use', id, name, input: {} },
      deltas: (pieces) =>
        text === '{}' ? [] : split(text, pieces).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    }
  })
}

function nativeBlock(): fc.Arbitrary<Block> {
  return fc.record({ id: id(), query: text(), isUse: fc.boolean() }).map(({ id, query, isUse }): Block => {
    const result = { type: 'web_search_tool_result', tool_use_id: id, content: [{ title: query }] }
    if (!isUse) return { whole: result, start: result, deltas: () => [] }
    const use = { type: 'server_tool_use', id, name: 'web_search', input: { query } }
    return {
      whole: use,
      start: { ...use, input: {} },
      deltas: (pieces) =>
        split(JSON.stringify({ query }), pieces).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    }
  })
}

function usage(): fc.Arbitrary<{
  [field in 'input_tokens' | 'output_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens']: number
}> {
  const count = fc.nat({ max: 100_000 })
  return fc.record({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
}

const PING: JsonObject = { type: 'ping' }
