import type { ResponseContext, StreamDecoder } from '../../format.ts'
import { countAt, isObject, objectAt, textAt, parseExactJson, parseExactObject, put } from '@portico/http/json'
import type { ChatError, ChatEvent, FinishReason, Json, JsonObject, StartedPart, Usage } from '../../middle.ts'
import { type RecordReader, SseJsonDecoder } from '../../streams/sse-json.ts'
import { errorOfBody } from './errors.ts'
import { withMaker } from '../../tools/provenance.ts'

/** A tool call may arrive whole, with an input object whose long ids must not be rounded. */
export function createStreamDecoder(context: ResponseContext): StreamDecoder {
  return new SseJsonDecoder(new EventReader(context), parseExactObject)
}

/**
 * Reads the events of one streamed response. A buffered response is read as the equal events, so that both paths agree.
 */
export class EventReader implements RecordReader {
  readonly #context: ResponseContext
  readonly #blocks = new Map<number, BlockReader>()
  #partCount = 0
  #lastType: string | undefined
  #usage: OwnUsage = {}
  #stopReason: string | null = null
  #stopSequence: string | undefined

  constructor(context: ResponseContext) {
    this.#context = context
  }

  record(body: JsonObject, event: string): ChatEvent[] {
    const index = countAt(body, 'index') ?? 0
    switch (textAt(body, 'type') ?? event) {
      case 'message_start':
        return this.#start(objectAt(body, 'message'))
      case 'content_block_start':
        return this.#startBlock(index, objectAt(body, 'content_block'))
      case 'content_block_delta':
        return this.#blocks.get(index)?.delta(objectAt(body, 'delta')) ?? []
      case 'content_block_stop': {
        const events = this.#blocks.get(index)?.end() ?? []
        this.#blocks.delete(index)
        return events
      }
      case 'message_delta': {
        this.#noteStop(objectAt(body, 'delta'))
        return this.#readUsage(body)
      }
      case 'message_stop':
        return this.#finish()
      case 'error':
        return [{ type: 'error', error: errorOfBody(body) ?? UNNAMED_ERROR }]
      default:
        // `ping`, and event types of later versions.
        return []
    }
  }

  /** Ends the stream; it is complete when the stop reason has come. */
  end(): ChatEvent[] {
    return this.#stopReason === null ? [] : this.#finish()
  }

  /** Reads a buffered response: the same events without the records in between. */
  whole(message: JsonObject, content: readonly Json[]): ChatEvent[] {
    const events = [this.#started(message)]
    for (const [index, block] of content.filter(isObject).entries()) {
      events.push(...this.#startBlock(index, block), ...(this.#blocks.get(index)?.end() ?? []))
      this.#blocks.delete(index)
    }
    this.#noteStop(message)
    events.push(...this.#readUsage(message), ...this.#finish())
    return events
  }

  #noteStop(delta: JsonObject): void {
    this.#stopReason = textAt(delta, 'stop_reason') ?? this.#stopReason
    this.#stopSequence = textAt(delta, 'stop_sequence') ?? this.#stopSequence
  }

  #started(message: JsonObject): ChatEvent {
    const id = textAt(message, 'id') || this.#context.newId('msg_')
    const model = textAt(message, 'model') || this.#context.model
    return { type: 'start', id, model }
  }

  #start(message: JsonObject): ChatEvent[] {
    return [this.#started(message), ...this.#readUsage(message)]
  }

  #startBlock(index: number, begun: JsonObject): ChatEvent[] {
    const before = this.#blocks.get(index)?.end() ?? []
    const isAfterText = this.#lastType === 'text'
    this.#lastType = textAt(begun, 'type')
    const block = createBlockReader(begun, this.#context, { nextPart: () => this.#partCount++, isAfterText })
    this.#blocks.set(index, block)
    return [...before, ...block.start()]
  }

  #readUsage(body: JsonObject): ChatEvent[] {
    if (!isObject(body.usage)) return []
    this.#usage = addReport(this.#usage, body.usage)
    const known = usageOf(this.#usage)
    return known === null ? [] : [{ type: 'usage', usage: known }]
  }

  #finish(): ChatEvent[] {
    const reason = decodeFinish(this.#stopReason ?? 'end_turn')
    const sequence = this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }
    const closed = [...this.#blocks.values()].flatMap((block) => block.end())
    this.#blocks.clear()
    return [...closed, { type: 'finish', reason, ...sequence }]
  }
}

export function decodeFinish(word: string): FinishReason {
  return REASONS.get(word) ?? 'stop'
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stopSequence'],
  ['tool_use', 'toolCalls'],
  ['refusal', 'filtered'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'contextWindow'],
])

const UNNAMED_ERROR: ChatError = { status: 502, kind: 'api', message: 'the provider answered with an error' }

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (!Array.isArray(body.content)) {
    const error = errorOfBody(body)
    return error === null ? null : [{ type: 'error', error }]
  }
  return new EventReader(context).whole(body, body.content)
}

/** Reads one content block, from its start to its stop. */
interface BlockReader {
  start(): ChatEvent[]
  delta(delta: JsonObject): ChatEvent[]
  end(): ChatEvent[]
}

/** `createBlockReader` creates the reader for a block; `isAfterText` says that the previous block was a text. */
function createBlockReader(
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

/** Counts of this format: its `input` excludes tokens read from and written to the cache. */
export type OwnUsage = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'serviceTier'>

/** Counts of one stream up to now: `before`, and a record's `usage`. */
export function addReport(before: OwnUsage, usage: JsonObject): OwnUsage {
  const report: OwnUsage = {}
  put(report, 'input', countAt(usage, 'input_tokens'))
  put(report, 'output', countAt(usage, 'output_tokens'))
  put(report, 'cacheRead', countAt(usage, 'cache_read_input_tokens'))
  put(report, 'cacheWrite', countAt(usage, 'cache_creation_input_tokens'))
  put(report, 'reasoning', countAt(objectAt(usage, 'output_tokens_details'), 'thinking_tokens'))
  put(report, 'serviceTier', textAt(usage, 'service_tier'))
  return mergeReports(before, report)
}

/**
 * Counts after a later report of the same stream. Reports are totals, so the last report of each class counts, and a class
 * that it leaves out keeps its count: vLLM begins with all tokens as `input`, and ends with most of them as `cacheRead`.
 * Some servers end with zeros: a report without a single input token says nothing of the input, and one without output
 * tokens says nothing of the output.
 */
export function mergeReports(before: OwnUsage, report: OwnUsage): OwnUsage {
  const merged: OwnUsage = { ...before, ...report }
  const inputTokens = (report.input ?? 0) + (report.cacheRead ?? 0) + (report.cacheWrite ?? 0)
  if (inputTokens === 0) for (const name of INPUT_CLASSES) put(merged, name, before[name])
  if ((report.output ?? 0) === 0) for (const name of OUTPUT_CLASSES) put(merged, name, before[name])
  return merged
}

const INPUT_CLASSES = ['input', 'cacheRead', 'cacheWrite'] as const
const OUTPUT_CLASSES = ['output', 'reasoning'] as const

/** Null when nothing was reported. */
export function usageOf(own: OwnUsage): Usage | null {
  const { input, output } = own
  if (input === undefined && output === undefined) return null
  const usage: Usage = { ...own }
  if (input === undefined) return usage
  usage.input = input + (own.cacheRead ?? 0) + (own.cacheWrite ?? 0)
  usage.providerInput = input
  if (output !== undefined) usage.providerTotal = input + output
  return usage
}

export function encodeUsage(usage: Usage): JsonObject {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage
  const encoded: JsonObject = {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  }
  if (usage.reasoning !== undefined) encoded.output_tokens_details = { thinking_tokens: usage.reasoning }
  put(encoded, 'service_tier', usage.serviceTier)
  return encoded
}
