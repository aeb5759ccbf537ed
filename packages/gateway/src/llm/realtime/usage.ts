import type { LlmRecord } from '../../records/llm-record.ts'
import { countAt, objectAt, parseJsonObject, textAt } from '@portico/http/json'
import type { JsonObject } from '@portico/chat'
import type { MessageReader } from './messages.ts'

/**
 * The usage of a Realtime session: the sum over its responses and transcriptions, each of which reports usage when
 * done. Only events that contain a relevant marker are parsed.
 */
export class RealtimeUsage implements MessageReader {
  readonly #facts: LlmRecord
  readonly #used: (tokens: number) => void
  /** Responses that have begun and are not done. */
  #open = 0
  /** Content events since the last response began or ended. */
  #pieces = 0

  /** `used` is called with the tokens of each report. */
  constructor(facts: LlmRecord, used: (tokens: number) => void) {
    this.#facts = facts
    this.#used = used
  }

  text(bytes: Buffer): void {
    if (!MARKS.some((mark) => bytes.includes(mark))) {
      if (this.#open > 0 && bytes.includes('.delta"')) this.#pieces++
      return
    }
    const event = parseJsonObject(bytes.toString('utf8'))
    if (event !== null) this.#read(event)
  }

  skipped(): void {
    this.#facts.isEstimated = true
  }

  lost(): void {
    this.#facts.isEstimated = true
  }

  /** Ends the session. An unfinished response is charged about one token per content event. */
  over(): void {
    if (this.#open > 0) this.#estimate()
  }

  #read(event: JsonObject): void {
    switch (textAt(event, 'type') ?? '') {
      case 'session.created':
      case 'session.updated':
        this.#facts.responseModel = textAt(objectAt(event, 'session'), 'model') ?? this.#facts.responseModel
        return
      case 'response.created':
        this.#open++
        return
      case 'response.done':
        return this.#responseDone(objectAt(objectAt(event, 'response'), 'usage'))
      case 'conversation.item.input_audio_transcription.completed':
        return this.#add(objectAt(event, 'usage'))
    }
  }

  #responseDone(usage: JsonObject): void {
    // A canceled response may report no usage.
    if (countAt(usage, 'output_tokens') === undefined) this.#estimate()
    this.#add(usage)
    this.#open = Math.max(0, this.#open - 1)
    this.#pieces = 0
  }

  #estimate(): void {
    this.#facts.isEstimated = true
    this.#add({ output_tokens: this.#pieces })
    this.#pieces = 0
  }

  #add(reported: JsonObject): void {
    const { usage, totalTokens } = this.#facts
    for (const [name, details, field] of COUNTS) {
      const count = countAt(details === null ? reported : objectAt(reported, details), field)
      if (count !== undefined) usage[name] = (usage[name] ?? 0) + count
    }
    const used = this.#facts.totalTokens - totalTokens
    if (used > 0) this.#used(used)
  }
}

/** The counts of a usage report. Transcriptions billed by seconds have none of them. */
const COUNTS = [
  ['input', null, 'input_tokens'],
  ['output', null, 'output_tokens'],
  ['cacheRead', 'input_token_details', 'cached_tokens'],
  ['inputAudio', 'input_token_details', 'audio_tokens'],
  ['inputImage', 'input_token_details', 'image_tokens'],
  ['outputAudio', 'output_token_details', 'audio_tokens'],
  ['reasoning', 'output_token_details', 'reasoning_tokens'],
  ['providerInput', null, 'input_tokens'],
  ['providerTotal', null, 'total_tokens'],
] as const
const MARKS = [
  '"response.done"',
  '"response.created"',
  '"session.created"',
  '"session.updated"',
  '_audio_transcription.completed"',
]
