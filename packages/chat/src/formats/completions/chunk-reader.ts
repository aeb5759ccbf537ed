import type { ResponseContext, StreamDecoder } from '../../format.ts'
import { countAt, isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { ChatEvent, FinishReason, JsonObject, StartedPart } from '../../middle.ts'
import { fromClientOf } from '../../tools/provenance.ts'
import { type RecordReader, SseJsonDecoder } from '../../streams/sse-json.ts'
import { CallReader } from './call-reader.ts'
import { errorOfBody } from './errors.ts'
import { partOfDetail } from './reasoning-fields.ts'
import { usageOf } from './usage.ts'

export function createStreamDecoder(context: ResponseContext): StreamDecoder {
  return new SseJsonDecoder(new ChunkReader(context))
}

type TextKind = 'text' | 'refusal' | 'reasoning'

interface OpenText {
  kind: TextKind
  index: number
  signature?: string
  annotations?: JsonObject[]
}

/**
 * Turns the chunks of one response into events. A buffered response is read as a single chunk, so that both paths
 * agree. Only the first choice is read. `finish` waits for the end of the stream, because usage comes after the finish
 * reason.
 */
export class ChunkReader implements RecordReader {
  readonly #context: ResponseContext
  readonly #calls: CallReader
  readonly #events: ChatEvent[] = []
  #partCount = 0
  #hasStarted = false
  /** The open text part. At most one text is open at a time; tool calls stay open until the end. */
  #open: OpenText | null = null
  #finishWord: string | null = null
  #stopSequence: string | undefined
  #hasPlainReasoning = false

  constructor(context: ResponseContext) {
    this.#context = context
    this.#calls = new CallReader(
      context,
      (part) => this.#startPart(part),
      (event) => this.#events.push(event),
    )
  }

  record(body: JsonObject): ChatEvent[] {
    const first = objectsAt(body, 'choices').find((choice) => (choice.index ?? 0) === 0)
    return this.#readBody(body, first, first === undefined ? NO_DELTA : objectAt(first, 'delta'))
  }

  /** Reads a buffered response: one chunk with everything. */
  whole(body: JsonObject, choice: JsonObject | undefined): ChatEvent[] {
    const events = this.#readBody(body, choice, choice === undefined ? NO_DELTA : wholeDelta(choice))
    if (events.at(-1)?.type !== 'error') events.push(...this.done())
    return events
  }

  #readBody(body: JsonObject, choice: JsonObject | undefined, delta: JsonObject): ChatEvent[] {
    const error = errorOfBody(body)
    if (error !== null) return [...this.#flush(), { type: 'error', error }]
    if (!this.#hasStarted) this.#start(body)
    if (choice !== undefined) this.#readChoice(choice, delta)
    const usage = usageOf(body)
    if (usage !== null) this.#events.push({ type: 'usage', usage })
    return this.#flush()
  }

  /** Handles `[DONE]`: the response has finished, even without a finish reason. */
  done(): ChatEvent[] {
    if (this.#hasStarted) this.#finish(this.#finishWord ?? 'stop')
    return this.#flush()
  }

  end(): ChatEvent[] {
    if (this.#finishWord !== null) this.#finish(this.#finishWord)
    return this.#flush()
  }

  #start(body: JsonObject): void {
    this.#hasStarted = true
    const created = countAt(body, 'created')
    const id = textAt(body, 'id') || this.#context.newId('chatcmpl-')
    const model = textAt(body, 'model') || this.#context.model
    this.#events.push({ type: 'start', id, model, ...(created !== undefined && { created }) })
  }

  #startPart(part: StartedPart): number {
    this.#closeText()
    const index = this.#partCount++
    this.#events.push({ type: 'partStart', index, part })
    return index
  }

  #closeText(): void {
    if (this.#open === null) return
    const { index, signature, annotations } = this.#open
    this.#open = null
    this.#events.push({
      type: 'partEnd',
      index,
      ...(signature !== undefined && { signature }),
      ...(annotations !== undefined && { rest: { annotations } }),
    })
  }

  #openText(kind: TextKind): OpenText {
    if (this.#open?.kind === kind) return this.#open
    const open: OpenText = { kind, index: this.#startPart({ type: kind }) }
    this.#open = open
    return open
  }

  #addText(kind: TextKind, text: string): void {
    if (text === '') return
    const { index } = this.#openText(kind)
    this.#events.push({ type: 'partDelta', index, text })
  }

  #readChoice(choice: JsonObject, delta: JsonObject): void {
    this.#readDelta(delta)
    const reason = textAt(choice, 'finish_reason')
    if (reason === undefined) return
    this.#finishWord = reason
    this.#stopSequence = textAt(choice, 'stop_reason')
    this.#closeText()
    this.#calls.close()
  }

  #readDelta(delta: JsonObject): void {
    const reasoning = textAt(delta, 'reasoning_content') ?? textAt(delta, 'reasoning') ?? ''
    if (reasoning !== '') this.#hasPlainReasoning = true
    this.#addText('reasoning', reasoning)
    this.#readDetails(delta)
    this.#readContent(delta)
    this.#addText('refusal', textAt(delta, 'refusal') ?? '')
    // `index` only tells client libraries where to put the annotation, so the gateway drops it.
    const annotations = objectsAt(delta, 'annotations').map(({ index: _index, ...annotation }) => annotation)
    const open = this.#open
    if (annotations.length > 0 && open?.kind === 'text') {
      open.annotations = [...(open.annotations ?? []), ...annotations]
    }
    for (const call of objectsAt(delta, 'tool_calls')) this.#calls.read(call)
    const legacy = delta.function_call
    if (isObject(legacy)) this.#calls.read({ index: 0, function: legacy })
  }

  /** Reads encrypted reasoning, and the signatures of reasoning text. */
  #readDetails(delta: JsonObject): void {
    for (const part of objectsAt(delta, 'reasoning_details').flatMap(partOfDetail)) {
      const { text, signature, opaque, id } = part
      if (opaque !== undefined) {
        const index = this.#startPart({ type: 'reasoning', opaque, ...(id !== undefined && { id }) })
        this.#events.push({ type: 'partEnd', index })
        continue
      }
      if (!this.#hasPlainReasoning) this.#addText('reasoning', text)
      if (signature === undefined) continue
      this.#openText('reasoning').signature = signature
      this.#closeText()
    }
    const signature = textAt(delta, 'reasoning_signature')
    const open = this.#open
    if (signature !== undefined && open?.kind === 'reasoning') open.signature = fromClientOf('anthropic', signature)
  }

  #readContent(delta: JsonObject): void {
    if (typeof delta.content === 'string') this.#addText('text', delta.content)
    for (const piece of objectsAt(delta, 'content')) {
      if (piece.type === 'text') this.#addText('text', textAt(piece, 'text') ?? '')
      for (const thought of objectsAt(piece, 'thinking')) this.#addText('reasoning', textAt(thought, 'text') ?? '')
    }
  }

  #finish(word: string): void {
    this.#closeText()
    this.#calls.close()
    const reason = decodeFinish(word, this.#calls.count > 0)
    const stopSequence = this.#stopSequence
    const isSequence = reason === 'stop' && stopSequence !== undefined
    this.#events.push(
      isSequence ? { type: 'finish', reason: 'stopSequence', stopSequence } : { type: 'finish', reason },
    )
  }

  #flush(): ChatEvent[] {
    return this.#events.splice(0)
  }
}

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  const [choice] = objectsAt(body, 'choices')
  if (choice === undefined && errorOfBody(body) === null) return null
  return new ChunkReader(context).whole(body, choice)
}

/** The finish reason of a response in this format. */
export function decodeFinish(word: string, hasCalls: boolean): FinishReason {
  const reason = REASONS.get(word) ?? 'stop'
  // A forced tool, and some servers always, end with `stop`.
  return reason === 'stop' && hasCalls ? 'toolCalls' : reason
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'contextWindow'],
  ['tool_calls', 'toolCalls'],
  ['function_call', 'toolCalls'],
  ['content_filter', 'filtered'],
])

const NO_DELTA: JsonObject = {}

/** The message of a buffered response as a delta. Its tool calls get indexes in list order. */
function wholeDelta(choice: JsonObject): JsonObject {
  const message = objectAt(choice, 'message')
  // Most messages have only text.
  if (message.tool_calls === undefined && message.reasoning_details === undefined) return message
  const calls = objectsAt(message, 'tool_calls').map((call, index) => ({ ...call, index }))
  // `reasoning_details` repeat the plain reasoning text, so the plain text is dropped.
  const hasDetails = objectsAt(message, 'reasoning_details').some((detail) => partOfDetail(detail).length > 0)
  const { reasoning: _reasoning, reasoning_content: _content, ...others } = message
  return { ...(hasDetails ? others : message), tool_calls: calls }
}
