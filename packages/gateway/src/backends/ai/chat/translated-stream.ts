import {
  brokenStream,
  type ChatError,
  type ChatEvent,
  type StreamDecoder,
  type StreamEncoder,
  type StreamFault,
  streamFault,
} from '@portico/chat'
import type { EventGuard } from '../../../llm/guards/stream/event-guard.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import {
  type Chunks,
  type DetectedFault,
  encodeStreamError,
  faultOf,
  isContent,
  type ResponseObserver,
  type StreamGuard,
  type StreamParts,
  type StreamWork,
  type TellError,
} from './stream-body.ts'

/** Creates the work on a stream of another format than the client's. */
export function translateStream(
  observer: ResponseObserver,
  { prepared, guards, format, context, guardContext, redact }: StreamParts,
): { work: StreamWork; guard: StreamGuard | null } {
  const encoder = format.createStreamEncoder(context)
  const guard = guards?.eventStream(guardContext) ?? null
  const tellError = (error: ChatError): string => encodeStreamError(error, encoder, redact)
  const decoder = prepared.upstream.createStreamDecoder(context)
  return { work: new TranslatedStream(decoder, observer, { encoder, tellError, guard }), guard }
}

/** Translates a stream from the provider's format to the client's. */
class TranslatedStream implements StreamWork {
  isDone = false
  /** Set when an error came before any bytes were sent. */
  firstError: ChatError | null = null
  /** The provider's first fault, before or after the stream began; null while there is none. */
  fault: StreamFault | null = null
  readonly #decoder: StreamDecoder
  readonly #observer: ResponseObserver
  readonly #encoder: StreamEncoder
  readonly #tellError: TellError
  readonly #guard: EventGuard | null
  #held = ''
  #hasContent = false
  #isFinished = false
  /** Whether usage was reported after the last part of the response. */
  #hasFinalUsage = false
  #records = 0

  constructor(
    decoder: StreamDecoder,
    observer: ResponseObserver,
    { encoder, tellError, guard }: { encoder: StreamEncoder; tellError: TellError; guard: EventGuard | null },
  ) {
    this.#decoder = decoder
    this.#observer = observer
    this.#encoder = encoder
    this.#tellError = tellError
    this.#guard = guard
  }

  chunk(chunk: Buffer): Chunks | Promise<Chunks> {
    const events = this.#read(this.#decoder.push(chunk), 'stream_unreadable')
    return this.#guard === null
      ? this.#encode(events)
      : nowOrLater(this.#guard.push(events), (seen) => this.#encode(seen))
  }

  end(): Chunks | Promise<Chunks> {
    return this.#endWith(this.#read(this.#decoder.end(), 'stream_incomplete'))
  }

  #endWith(events: readonly ChatEvent[]): Chunks | Promise<Chunks> {
    if (this.#guard === null) return this.#finish(events)
    const guard = this.#guard
    return nowOrLater(guard.push(events), (seen) => nowOrLater(guard.end(), (rest) => this.#finish([...seen, ...rest])))
  }

  /** The client gets an error in its own format, because a truncated stream would look complete. */
  broken(cause: Error): Chunks | Promise<Chunks> {
    if (this.#isFinished || this.fault !== null) return this.end()
    return this.#endWith(this.#read([{ type: 'error', error: brokenStream(cause.message) }], faultOf(cause)))
  }

  over(): void {
    if (this.firstError !== null) return
    const whole = this.#isFinished || (this.fault?.code === 'stream_error' && this.#hasFinalUsage)
    this.#observer.over({ whole, records: this.#records, fault: this.fault })
  }

  #read(events: readonly ChatEvent[], code: DetectedFault): readonly ChatEvent[] {
    for (const event of events) {
      this.#observer.observe(event)
      if (event.type === 'error') {
        this.fault ??= streamFault(event.error, code)
        if (!this.#hasContent) this.firstError = event.error
      }
      if (event.type === 'usage') this.#hasFinalUsage = true
      if (event.type === 'partDelta') {
        this.#hasFinalUsage = false
        this.#records++
      }
      if (event.type === 'finish') {
        this.#isFinished = true
        this.#observer.ending()
      }
      if (isContent(event)) this.#hasContent = true
    }
    return events
  }

  #finish(events: readonly ChatEvent[]): Chunks {
    const given = this.#encode(events)
    if (this.isDone) return given
    this.#held += this.#encoder.end()
    this.#hasContent = true
    return [...given, ...this.#flush()]
  }

  #encode(events: readonly ChatEvent[]): Chunks {
    for (const event of events) {
      if (event.type === 'error') {
        // Records after an error are not read.
        this.isDone = true
        this.#held += this.#tellError(event.error, null)
        break
      }
      this.#held += this.#encoder.event(event)
    }
    return this.#flush()
  }

  /** Sends nothing before the stream has begun without an error. */
  #flush(): Chunks {
    if (!this.#hasContent || this.#held === '') return NOTHING
    const bytes = Buffer.from(this.#held)
    this.#held = ''
    return [bytes]
  }
}

const NOTHING: Chunks = []
