import { isObject, parseExactJson, textAt } from '@portico/http/json'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, Json, JsonObject, StartedPart } from '../../middle.ts'
import { withMaker } from '../../tools/provenance.ts'

/** Reads one content block, from its start to its stop. */
export interface BlockReader {
  start(): ChatEvent[]
  delta(delta: JsonObject): ChatEvent[]
  end(): ChatEvent[]
}

/** `createBlockReader` creates the reader for a block; `isAfterText` says that the previous block was a text. */
export function createBlockReader(
  block: JsonObject,
  context: ResponseContext,
  { nextPart, isAfterText }: { nextPart: () => number; isAfterText: boolean },
): BlockReader {
  switch (textAt(block, 'type')) {
    case 'text':
      return textBlock(block, nextPart(), isAfterText ? { type: 'text', continues: true } : { type: 'text' })
    case 'thinking':
      return thinkingBlock(block, nextPart())
    case 'redacted_thinking':
      return redactedBlock(block, nextPart())
    case 'tool_use':
      return toolBlock(block, context, nextPart())
    case undefined:
    default:
      return nativeBlock(block, nextPart)
  }
}

function textBlock(block: JsonObject, index: number, part: StartedPart): BlockReader {
  const citations: Json[] = Array.isArray(block.citations) ? [...block.citations] : []
  return {
    start: () => [started(index, part), ...text(index, block.text)],
    delta(delta) {
      if (delta.type === 'citations_delta' && isObject(delta.citation)) citations.push(delta.citation)
      return delta.type === 'text_delta' ? text(index, delta.text) : []
    },
    end: () => [{ type: 'partEnd', index, ...(citations.length > 0 && { rest: { citations } }) }],
  }
}

function thinkingBlock(block: JsonObject, index: number): BlockReader {
  let signature = textAt(block, 'signature') ?? ''
  return {
    start: () => [started(index, { type: 'reasoning' }), ...text(index, block.thinking)],
    delta(delta) {
      if (delta.type === 'signature_delta') signature += textAt(delta, 'signature') ?? ''
      return delta.type === 'thinking_delta' ? text(index, delta.thinking) : []
    },
    end: () => [{ type: 'partEnd', index, ...(signature !== '' && { signature: withMaker('anthropic', signature) }) }],
  }
}

function redactedBlock(block: JsonObject, index: number): BlockReader {
  const opaque = withMaker('anthropic', textAt(block, 'data') ?? '')
  return {
    start: () => [started(index, { type: 'reasoning', opaque })],
    delta: () => [],
    end: () => [{ type: 'partEnd', index }],
  }
}

function toolBlock(block: JsonObject, context: ResponseContext, index: number): BlockReader {
  const name = textAt(block, 'name') ?? ''
  const id = textAt(block, 'id') || context.newId('toolu_')
  let isEmpty = true
  return {
    start: () => [started(index, { type: 'toolCall', id, name: context.toolNames.get(name) ?? name })],
    delta(delta) {
      if (delta.type !== 'input_json_delta') return []
      const pieces = text(index, delta.partial_json)
      if (pieces.length > 0) isEmpty = false
      return pieces
    },
    // Without deltas the input is the one in the start event, as in a buffered response.
    end: () => [...(isEmpty ? text(index, JSON.stringify(block.input ?? {})) : []), { type: 'partEnd', index }],
  }
}

/** Passes on whole a block that only this format has, such as a search that the provider ran. */
function nativeBlock(block: JsonObject, nextPart: () => number): BlockReader {
  let input = ''
  return {
    start: () => [],
    delta(delta) {
      if (delta.type === 'input_json_delta') input += textAt(delta, 'partial_json') ?? ''
      return []
    },
    end() {
      const index = nextPart()
      const parsed = input === '' ? undefined : parseExactJson(input)
      const value = parsed === undefined ? block : { ...block, input: parsed }
      return [started(index, { type: 'native', format: 'messages', value }), { type: 'partEnd', index }]
    },
  }
}

function started(index: number, part: StartedPart): ChatEvent {
  return { type: 'partStart', index, part }
}

function text(index: number, value: Json | undefined): ChatEvent[] {
  return typeof value === 'string' && value !== '' ? [{ type: 'partDelta', index, text: value }] : []
}
