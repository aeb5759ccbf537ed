import { fromGrounding } from '../../response/annotations.ts'
import { fromGeminiLogprobs } from '../../response/logprobs.ts'
import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { ChatEvent, FinishReason, Json, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../streams/sse-json.ts'
import { choiceCount } from './choice-count.ts'
import { errorOf } from './errors.ts'
import { decodeUsage } from './usage.ts'
import { withMaker } from '../../tools/provenance.ts'

/** Reads one response, whole or in pieces: a buffered body is a stream of one record. */
export class AnswerReader implements RecordReader {
  readonly #context: ResponseContext
  /** The candidates by their number. The first one always exists, because a blocked prompt has no candidate. */
  readonly #candidates: [Candidate, ...Candidate[]]
  readonly #choiceCount: number
  readonly #numbers: PartNumbers = { next: 0 }
  #isStarted = false
  #lastUsage = '{}'

  constructor(context: ResponseContext) {
    this.#context = context
    this.#choiceCount = choiceCount(context.request)
    this.#candidates = [new Candidate(context, this.#numbers, 0)]
  }

  record(body: JsonObject): ChatEvent[] {
    if (isObject(body.error)) return [{ type: 'error', error: errorOf(body.error, 502) }]
    const events: ChatEvent[] = []
    if (!this.#isStarted) events.push(this.#start(body))
    const blocked = textAt(objectAt(body, 'promptFeedback'), 'blockReason')
    if (blocked !== undefined) this.#candidates[0].reason = `BLOCKED_${blocked}`
    for (const candidate of objectsAt(body, 'candidates')) {
      const reader = this.#candidateAt(candidate.index ?? 0)
      if (reader !== undefined) events.push(...reader.read(candidate))
    }
    return this.#addUsage(body, events)
  }

  /** Ends the response. Empty when a candidate has no finish reason, and `otherwise` is not given. */
  end(otherwise?: string): ChatEvent[] {
    const ends = this.#candidates.map((candidate) => candidate.end(otherwise))
    const reasons = ends.flatMap(({ finish }) => finish ?? [])
    const [reason, ...others] = reasons
    if (reason === undefined || reasons.length < ends.length) return []
    const finish: ChatEvent = { type: 'finish', reason, ...(others.length > 0 && { others }) }
    return [...ends.flatMap(({ events }) => events), finish]
  }

  /** Candidates beyond the number that the client asked for are not read. */
  #candidateAt(index: Json): Candidate | undefined {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= this.#choiceCount)
      return undefined
    while (this.#candidates.length <= index) {
      this.#candidates.push(new Candidate(this.#context, this.#numbers, this.#candidates.length))
    }
    return this.#candidates[index]
  }

  #start(body: JsonObject): ChatEvent {
    this.#isStarted = true
    const id = textAt(body, 'responseId') ?? this.#context.newId('gemini-')
    return { type: 'start', id, model: textAt(body, 'modelVersion') ?? this.#context.model }
  }

  /** Adds a usage event, unless the usage repeats the last one, as in most pieces. */
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

/** Numbers the parts of all candidates of a response. */
interface PartNumbers {
  next: number
}

/** One candidate of a response. */
class Candidate {
  /** The finish reason. Some models send it with every piece, so it counts only at the end. */
  reason: string | undefined
  readonly #parts: PartsReader
  readonly #choice: { choice?: number }

  constructor(context: ResponseContext, numbers: PartNumbers, index: number) {
    this.#parts = new PartsReader(context, numbers)
    this.#choice = index === 0 ? {} : { choice: index }
  }

  read(candidate: JsonObject): ChatEvent[] {
    this.reason = textAt(candidate, 'finishReason') ?? this.reason
    const parts = objectsAt(objectAt(candidate, 'content'), 'parts')
    const events = parts.flatMap((part) => this.#parts.read(part))
    if (isObject(candidate.logprobsResult)) this.#parts.logprobs.push(...fromGeminiLogprobs(candidate.logprobsResult))
    if (isObject(candidate.groundingMetadata)) this.#parts.grounding = candidate.groundingMetadata
    return this.#numbered(events)
  }

  /** The last events, and the reason of the end when it is known. */
  end(otherwise: string | undefined): { events: ChatEvent[]; finish?: FinishReason } {
    const reason = this.reason ?? otherwise
    if (reason === undefined) return { events: [] }
    return { events: this.#numbered(this.#parts.end()), finish: finishOf(reason, this.#parts.hasCalls) }
  }

  #numbered(events: ChatEvent[]): ChatEvent[] {
    if (this.#choice.choice === undefined) return events
    return events.map((event) => (event.type === 'partStart' ? { ...event, ...this.#choice } : event))
  }
}

/** Turns the parts of a candidate into events. A text continues across pieces until another part begins. */
class PartsReader {
  hasCalls = false
  /** The sources of the response, which come with its last piece. */
  grounding: JsonObject | null = null
  /** Log probabilities of the tokens since the last text ended. */
  logprobs: JsonObject[] = []
  readonly #context: ResponseContext
  readonly #numbers: PartNumbers
  #open: { index: number; type: 'text' | 'reasoning'; signature?: string } | null = null
  /** Text of the candidate so far. */
  #text = ''
  /** Came with a text, when its thought was over. */
  #lateSignature: string | undefined

  constructor(context: ResponseContext, numbers: PartNumbers) {
    this.#context = context
    this.#numbers = numbers
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
    const index = this.#numbers.next++
    const native = { type: 'native', format: 'gemini', value } as const
    return [...this.#close(), { type: 'partStart', index, part: native }, { type: 'partEnd', index }]
  }

  /** Nothing more will come. */
  end(): ChatEvent[] {
    const events = this.#close()
    // Only clients that asked for thoughts can handle a thought without text.
    if (this.#lateSignature === undefined || this.#context.request.reasoning === null) return events
    const index = this.#numbers.next++
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
      this.#open = { index: this.#numbers.next++, type }
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
    const index = this.#numbers.next++
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
