import type { StreamDecoder, StreamEncoder } from '../../llm/format.ts'
import { brokenStream } from '../../llm/chat-error.ts'
import type { ChatError, ChatEvent, FormatName } from '../../llm/middle.ts'
import { whenSettled } from '../../llm/guards/settled.ts'
import type { StreamGuard } from '../../llm/guards/stream-window.ts'
import type { BodyWork, Given } from './held-body.ts'

/** What becomes of the events of a response, whichever way it is read. */
export interface ResponseObserver {
  observe(event: ChatEvent): void
  /** `records` counts what came: an estimate of tokens where the stream broke off. */
  over(outcome: { whole: boolean; records: number }): void
}

/** A stream in the client's format, made of one in the provider's. */
export class TranslatedWork implements BodyWork {
  isDone = false
  /** Set when an error came before anything was sent. */
  firstError: ChatError | null = null
  readonly #decoder: StreamDecoder
  readonly #encoder: StreamEncoder
  readonly #guard: StreamGuard | null
  readonly #observer: ResponseObserver
  #held = ''
  #hasContent = false
  #isFinished = false
  #records = 0

  constructor(decoder: StreamDecoder, encoder: StreamEncoder, guard: StreamGuard | null, observer: ResponseObserver) {
    this.#decoder = decoder
    this.#encoder = encoder
    this.#guard = guard
    this.#observer = observer
  }

  chunk(chunk: Buffer): Given | Promise<Given> {
    const events = this.#read(this.#decoder.push(chunk))
    return this.#guard === null
      ? this.#encode(events)
      : whenSettled(this.#guard.push(events), (seen) => this.#encode(seen))
  }

  end(): Given | Promise<Given> {
    const events = this.#read(this.#decoder.end())
    if (this.#guard === null) return this.#finish(events)
    const guard = this.#guard
    return whenSettled(guard.push(events), (seen) =>
      whenSettled(guard.end(), (rest) => this.#finish([...seen, ...rest])),
    )
  }

  /** The client is told in its own format: a cut stream would look like one that ended. */
  broken(): Given | Promise<Given> {
    return this.end()
  }

  over(): void {
    this.#observer.over({ whole: this.#isFinished, records: this.#records })
  }

  #read(events: readonly ChatEvent[]): readonly ChatEvent[] {
    for (const event of events) {
      this.#observer.observe(event)
      if (event.type === 'error' && !this.#hasContent) this.firstError = event.error
      if (event.type === 'partDelta') this.#records++
      if (event.type === 'finish') this.#isFinished = true
      if (event.type !== 'start' && event.type !== 'usage') this.#hasContent = true
    }
    return events
  }

  #finish(events: readonly ChatEvent[]): Given {
    const given = this.#encode(events)
    if (this.isDone) return given
    this.#held += this.#encoder.end()
    this.#hasContent = true
    return [...given, ...this.#flush()]
  }

  #encode(events: readonly ChatEvent[]): Given {
    for (const event of events) {
      this.#held += this.#encoder.event(event)
      if (event.type !== 'error') continue
      // Whatever the provider says after an error, nobody reads it.
      this.isDone = true
      this.#held += this.#encoder.end()
      break
    }
    return this.#flush()
  }

  /** Nothing leaves before it is known that the stream has begun well. */
  #flush(): Given {
    if (!this.#hasContent || this.#held === '') return NOTHING
    const bytes = Buffer.from(this.#held)
    this.#held = ''
    return [bytes]
  }
}

export interface NativeOptions {
  /** Keeps back the record that only reports usage: the client did not ask for it. */
  hidesUsage: boolean
  /** What stands in the record that says that the answer is complete. */
  endMarks: readonly string[]
  /** An error as the client reads it inside a stream. */
  tellError: (error: ChatError) => string
}

/** By the format of the stream. */
export const END_MARKS: Readonly<Record<FormatName, readonly string[]>> = {
  completions: ['[DONE]', '"finish_reason":"', '"finish_reason": "'],
  messages: ['"message_stop"', '"type":"error"'],
  responses: ['"response.completed"', '"response.incomplete"', '"response.failed"', '"type":"error"'],
  gemini: [],
  converse: [],
}

/** A stream that passes byte for byte; only the records up to the first token, and those of usage and errors, are read. */
export class NativeWork implements BodyWork {
  readonly isDone = false
  /** Set when the first record is an error. */
  firstError: ChatError | null = null
  readonly #decoder: StreamDecoder
  readonly #observer: ResponseObserver
  readonly #hidesUsage: boolean
  readonly #options: NativeOptions
  #isFinished = false
  /** The provider has said itself what is wrong. */
  #hasError = false
  /** A record whose end has not come. */
  #held: Buffer = EMPTY
  #records = 0
  #hasToken = false

  constructor(decoder: StreamDecoder, observer: ResponseObserver, options: NativeOptions) {
    this.#decoder = decoder
    this.#observer = observer
    this.#hidesUsage = options.hidesUsage
    this.#options = options
  }

  /** Whole records only, where one of them may have to be kept back. */
  chunk(chunk: Buffer): Given {
    const given: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(EMPTY_LINE); end !== -1; end = chunk.indexOf(EMPTY_LINE, start)) {
      const part = chunk.subarray(start, end + 2)
      const record = this.#held.length === 0 ? part : Buffer.concat([this.#held, part])
      this.#held = EMPTY
      start = end + 2
      if (this.#read(record) && this.#hidesUsage) given.push(record)
    }
    if (start < chunk.length) {
      // The chunk may be a view of a buffer that the next read fills again.
      this.#held = Buffer.concat([this.#held, chunk.subarray(start)])
    }
    return this.#hidesUsage ? given : [chunk]
  }

  end(): Given {
    const rest = this.#held
    const isShown = rest.length > 0 && this.#read(Buffer.concat([rest, RECORD_END]))
    const given = this.#hidesUsage && isShown ? [rest] : NOTHING
    return this.#isFinished || this.#hasError
      ? given
      : [...given, ...this.#breakOff('the stream of the provider ended too early')]
  }

  broken(cause: Error): Given {
    return this.#breakOff(cause.message)
  }

  over(): void {
    this.#observer.over({ whole: this.#isFinished, records: this.#records })
  }

  /** The client is told in its own format: a cut stream would look like one that ended. */
  #breakOff(why: string): Given {
    const error = brokenStream(why)
    if (this.#records === 0) this.firstError = error
    return [Buffer.from(this.#options.tellError(error))]
  }

  /** Whether the client gets it. */
  #read(record: Buffer): boolean {
    this.#records++
    if (!this.#isFinished) this.#isFinished = this.#options.endMarks.some((mark) => record.includes(mark))
    if (this.#hasToken && !MARKS.some((mark) => record.includes(mark))) return true
    for (const event of this.#decoder.push(record)) {
      if (event.type === 'error') {
        this.#hasError = true
        if (this.#records === 1) this.firstError = event.error
      }
      if (event.type === 'partDelta') this.#hasToken = true
      this.#observer.observe(event)
    }
    return !(record.includes('"usage"') && NO_CHOICES.test(record.toString('latin1')))
  }
}

const NOTHING: Given = []
const EMPTY = Buffer.alloc(0)
const EMPTY_LINE = '\n\n'
const RECORD_END = Buffer.from('\n\n')
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/
/** Usage of every format, under whatever name, and errors. */
const MARKS = ['"usage', '"error"']
