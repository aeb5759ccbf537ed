import { fromGrounding } from '../../annotations.ts'
import { fromGeminiLogprobs } from '../../logprobs.ts'
import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../sse-json.ts'
import { errorOf } from './errors.ts'
import { decodeUsage } from './usage.ts'
import { withMaker } from '../../provenance.ts'

/** One answer, whole or in pieces: a buffered body is a stream of one record. */
export class AnswerReader implements RecordReader {
  readonly #context: ResponseContext
  readonly #parts: PartsReader
  #isStarted = false
  #lastUsage = '{}'
  /** Some models say it with every piece, so it counts only once there are no more. */
  #reason: string | null = null

  constructor(context: ResponseContext) {
    this.#context = context
    this.#parts = new PartsReader(context)
  }

  record(body: JsonObject): ChatEvent[] {
    if (isObject(body.error)) return [{ type: 'error', error: errorOf(body.error, 502) }]
    const candidate = objectsAt(body, 'candidates').find(({ index }) => index === undefined || index === 0) ?? {}
    const blocked = textAt(objectAt(body, 'promptFeedback'), 'blockReason')
    this.#reason = textAt(candidate, 'finishReason') ?? (blocked === undefined ? this.#reason : `BLOCKED_${blocked}`)
    const events: ChatEvent[] = []
    if (!this.#isStarted) events.push(this.#start(body))
    for (const part of objectsAt(objectAt(candidate, 'content'), 'parts')) events.push(...this.#parts.read(part))
    if (isObject(candidate.logprobsResult)) this.#parts.logprobs.push(...fromGeminiLogprobs(candidate.logprobsResult))
    if (isObject(candidate.groundingMetadata)) this.#parts.grounding = candidate.groundingMetadata
    return this.#addUsage(body, events)
  }

  /** Nothing more will come. Empty when no piece said why, and `otherwise` does not either. */
  end(otherwise?: string): ChatEvent[] {
    const reason = this.#reason ?? otherwise
    if (reason === undefined) return []
    return [...this.#parts.end(), { type: 'finish', reason: finishOf(reason, this.#parts.hasCalls) }]
  }

  #start(body: JsonObject): ChatEvent {
    this.#isStarted = true
    const id = textAt(body, 'responseId') ?? this.#context.newId('gemini-')
    return { type: 'start', id, model: textAt(body, 'modelVersion') ?? this.#context.model }
  }

  /** Most pieces repeat what was said before. */
  #addUsage(body: JsonObject, events: ChatEvent[]): ChatEvent[] {
    const usage = decodeUsage(objectAt(body, 'usageMetadata'))
    const text = JSON.stringify(usage)
    if (text === '{}' || text === this.#lastUsage) return events
    this.#lastUsage = text
    events.push({ type: 'usage', usage })
    return events
  }
}

function finishOf(reason: string, hasCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (FILTERED.has(reason) || /^(?:BLOCKED|IMAGE)_/.test(reason)) return 'filtered'
  return hasCalls ? 'toolCalls' : 'stop'
}

const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
])

/** Turns the parts of an answer into events. A text goes on until something else comes, in however many pieces. */
class PartsReader {
  hasCalls = false
  /** The sources of the answer; they come with its last piece. */
  grounding: JsonObject | null = null
  /** Log probabilities of the tokens since the last text ended. */
  logprobs: JsonObject[] = []
  readonly #context: ResponseContext
  #partCount = 0
  #open: { index: number; type: 'text' | 'reasoning'; signature?: string } | null = null
  /** Text of the response so far. */
  #text = ''
  /** Came with a text, when its thought was over. */
  #lateSignature: string | undefined

  constructor(context: ResponseContext) {
    this.#context = context
  }

  read(part: JsonObject): ChatEvent[] {
    if (isObject(part.functionCall)) return this.#readCall(part, part.functionCall)
    const text = textAt(part, 'text')
    if (text !== undefined) return this.#readText(part, text)
    const { thoughtSignature, ...value } = part
    if (Object.keys(value).length === 0) {
      if (typeof thoughtSignature === 'string') this.#lateSignature = thoughtSignature
      return []
    }
    const index = this.#partCount++
    const native = { type: 'native', format: 'gemini', value } as const
    return [...this.#close(), { type: 'partStart', index, part: native }, { type: 'partEnd', index }]
  }

  /** Nothing more will come. */
  end(): ChatEvent[] {
    const events = this.#close()
    // Only clients that asked for thoughts know what to do with one that has no text.
    if (this.#lateSignature === undefined || this.#context.request.reasoning === null) return events
    const index = this.#partCount++
    const signature = withMaker('google', this.#lateSignature)
    return [...events, { type: 'partStart', index, part: { type: 'reasoning' } }, { type: 'partEnd', index, signature }]
  }

  #readText(part: JsonObject, text: string): ChatEvent[] {
    const type = part.thought === true ? 'reasoning' : 'text'
    const signature = textAt(part, 'thoughtSignature')
    const events: ChatEvent[] = []
    if (this.#open !== null && this.#open.type !== type) events.push(...this.#close(signature))
    else if (type === 'text') this.#lateSignature = signature ?? this.#lateSignature
    if (this.#open === null && text !== '') {
      this.#open = { index: this.#partCount++, type }
      events.push({ type: 'partStart', index: this.#open.index, part: { type } })
    }
    if (this.#open === null) return events
    if (text !== '') events.push({ type: 'partDelta', index: this.#open.index, text })
    if (type === 'text') this.#text += text
    if (type === 'reasoning' && signature !== undefined) this.#open.signature = signature
    return events
  }

  #readCall(part: JsonObject, call: JsonObject): ChatEvent[] {
    this.hasCalls = true
    const name = textAt(call, 'name') ?? ''
    const signature = textAt(part, 'thoughtSignature')
    const id = textAt(call, 'id') ?? this.#context.newId('call_')
    const signed = signature === undefined ? {} : { signature: withMaker('google', signature) }
    const started = { type: 'toolCall', id, name: this.#context.toolNames.get(name) ?? name, ...signed } as const
    const index = this.#partCount++
    return [
      ...this.#close(),
      { type: 'partStart', index, part: started },
      { type: 'partDelta', index, text: JSON.stringify(objectAt(call, 'args')) },
      { type: 'partEnd', index },
    ]
  }

  /** Takes the annotations and log probabilities that came with the text; null if there are none. */
  #restOfText(): JsonObject | null {
    if (this.grounding === null && this.logprobs.length === 0) return null
    const annotations = this.grounding === null ? [] : fromGrounding(this.grounding, this.#text)
    const logprobs = this.logprobs
    this.grounding = null
    this.logprobs = []
    return { ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }
  }

  #close(signature?: string): ChatEvent[] {
    const open = this.#open
    if (open === null) return []
    this.#open = null
    const signed = open.type === 'reasoning' ? (signature ?? open.signature) : undefined
    const end: ChatEvent = { type: 'partEnd', index: open.index }
    if (signed !== undefined) end.signature = withMaker('google', signed)
    const rest = open.type === 'text' ? this.#restOfText() : null
    if (rest !== null) end.rest = rest
    return [end]
  }
}
