import {
  brokenStream,
  type ChatError,
  type ChatEvent,
  STREAM_BROKEN,
  type StreamDecoder,
  type StreamFault,
  streamFault,
} from '@portico/chat'
import { latin1 } from '@portico/http'
import { type JsonObject, parseJsonObject } from '@portico/http/json'
import { SseData } from '@portico/http/sse'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import type { RecordGuard } from '../../../llm/guards/stream/record-guard.ts'
import { errorOf } from '../../../llm/guards/rejection.ts'
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
import { SseRecords } from './sse-records.ts'

/** Creates the work on a stream in the client's own format. */
export function passStream(
  observer: ResponseObserver,
  { prepared, guards, format, context, guardContext, awaitsContent, redact }: StreamParts,
): { work: StreamWork; guard: StreamGuard | null } {
  const guard = guards?.recordStream(format.texts, guardContext) ?? null
  const work = new NativeStream(prepared.upstream.createStreamDecoder(context), observer, {
    hidesUsage: prepared.hidesUsage,
    awaitsContent,
    endMarks: format.endMarks,
    isEnd: format.isEnd ?? null,
    keepsLastRecord: format.resumeStreamEncoder !== undefined,
    tellError(error, passed) {
      const resumed = passed === null ? undefined : format.resumeStreamEncoder?.(context, passed)
      return encodeStreamError(error, resumed ?? format.createStreamEncoder(context), redact)
    },
    redact,
    guard,
  })
  return { work, guard }
}

interface NativeOptions {
  /** Whether to send nothing before the first content, while the request can still fail over. */
  awaitsContent: boolean
  /** Whether to withhold the record that only reports usage, because the client did not ask for it. */
  hidesUsage: boolean
  /** The end marks of the stream's format. */
  endMarks: RegExp
  /** Whether a record with an end mark ends the stream; null when the marks are never the text of a model. */
  isEnd: ((record: JsonObject) => boolean) | null
  tellError: TellError
  /** Whether `tellError` needs the last record that was sent to the client. */
  keepsLastRecord: boolean
  /** Redacts the credentials that the gateway sent to the provider. */
  redact: (text: string) => string
  /** Edits texts in place; null without guards. */
  guard: RecordGuard | null
}

/**
 * A stream that passes byte for byte, except for masks of a guard. Only the records up to the first token, and those
 * with usage or errors, are parsed.
 */
export class NativeStream implements StreamWork {
  isDone = false
  /** Set when an error came before the first readable record. */
  firstError: ChatError | null = null
  /** The provider's first fault, before or after the stream began; null while there is none. */
  fault: StreamFault | null = null
  readonly #decoder: StreamDecoder
  readonly #observer: ResponseObserver
  readonly #options: NativeOptions
  readonly #records = new SseRecords()
  #recordCount = 0
  /** Bytes before the first readable record; they are sent together with that record. */
  #early: Buffer[] = []
  #earlyLength = 0
  #hasBegun = false
  #hasToken = false
  #isFinished = false
  /** Whether the provider reported an error itself. */
  #hasError = false
  /** The reason why the rest cannot be read. */
  #broken: ChatError | null = null
  /** Whether usage was reported after the last part of the response. */
  #hasFinalUsage = false
  #start: Extract<ChatEvent, { type: 'start' }> | null = null
  /** The last record sent to the client; empty unless `keepsLastRecord` is set. */
  #lastRecord = ''

  constructor(decoder: StreamDecoder, observer: ResponseObserver, options: NativeOptions) {
    this.#decoder = decoder
    this.#observer = observer
    this.#options = options
  }

  /**
   * Releases whole records only: a record may have to be withheld, and an error cannot be inserted into the middle of a
   * record.
   */
  chunk(chunk: Buffer): Chunks | Promise<Chunks> {
    if (this.mayPass) {
      // Marks are ASCII, and one pattern over the text is ten times faster than searching the bytes for each mark.
      const text = latin1(chunk, 0, chunk.length)
      if (isPlainRecord(text, 0, text.length, this.#options.endMarks)) {
        this.#countPlain(text)
        return [chunk]
      }
    }
    const read = this.#records.push(chunk).filter((record) => this.#read(record))
    const shown = this.#hasError ? read.map((record) => this.#plain(record)) : read
    const isTooLong = this.#records.heldLength + this.#earlyLength > MAX_HELD_BYTES
    if (isTooLong) this.#broken ??= brokenStream('the provider sent a record that is too long')
    if (this.#broken !== null) return this.#breakOff(this.#broken, 'stream_unreadable')
    const { guard } = this.#options
    if (guard === null) return this.#given(shown.length > 1 ? [Buffer.concat(shown)] : shown)
    return nowOrLater(guard.push(shown), (guarded) => this.#judged(guard, guarded))
  }

  passes(framed: string, dataAt: number): boolean {
    return isPlainRecord(framed, dataAt, framed.length - CHUNK_END, this.#options.endMarks)
  }

  passed(framed: string, dataAt: number): void {
    this.#countPlain(this.#options.keepsLastRecord ? framed.slice(dataAt, -CHUNK_END) : '')
  }

  #countPlain(record: string): void {
    this.#recordCount++
    this.#hasFinalUsage = false
    if (this.#options.keepsLastRecord) this.#lastRecord = record
  }

  end(): Chunks | Promise<Chunks> {
    const rest = this.#records.end()
    const isShown = rest.length > 0 && this.#read(Buffer.concat([rest, RECORD_END]))
    if (this.#broken !== null) return this.#breakOff(this.#broken, 'stream_unreadable')
    if (this.#isFinished || this.#hasError) {
      // Some formats send the finish reason before the usage; their decoders emit `finish` last.
      const last = this.#decoder.end()
      const cut = this.#options.isEnd === null || this.#hasError ? undefined : last.find(({ type }) => type === 'error')
      if (cut?.type === 'error') return this.#breakOff(cut.error, 'stream_incomplete')
      for (const event of last) if (event.type === 'finish') this.#observer.observe(event)
      this.#hasBegun = true
      return this.#last(isShown ? [this.#plain(rest)] : NOTHING)
    }
    return this.#breakOff(brokenStream('the stream of the provider ended too early'), 'stream_incomplete')
  }

  broken(cause: Error): Chunks | Promise<Chunks> {
    // The provider has sent its last record; only the end of the body is missing.
    if (this.#hasError) return this.end()
    return this.#breakOff(brokenStream(cause.message), faultOf(cause))
  }

  over(): void {
    if (this.firstError !== null) return
    const whole = this.#hasError ? this.#hasFinalUsage : this.#isFinished
    this.#observer.over({ whole, records: this.#recordCount, fault: this.fault })
  }

  #given(bytes: Chunks): Chunks {
    if (this.#hasBegun) {
      const last = bytes.at(-1) ?? this.#early.at(-1)
      if (this.#options.keepsLastRecord && last !== undefined) this.#lastRecord = last.toString('latin1')
      if (this.#early.length === 0) return bytes
      const all = [...this.#early, ...bytes]
      this.#early = []
      this.#earlyLength = 0
      return all
    }
    for (const each of bytes) {
      // The bytes may be a view of a buffer that the next read overwrites.
      this.#early.push(Buffer.from(each))
      this.#earlyLength += each.length
    }
    return NOTHING
  }

  /** Ends the stream, with the records that a guard still holds. */
  #last(rest: Chunks): Chunks | Promise<Chunks> {
    const { guard } = this.#options
    if (guard === null) return this.#given(rest)
    return nowOrLater(guard.push(rest), (seen) =>
      nowOrLater(guard.end(), (held) => this.#judged(guard, [...seen, ...held])),
    )
  }

  #judged({ rejection, failure }: RecordGuard, guarded: Chunks): Chunks {
    if (rejection === null && failure === null) return this.#given(guarded)
    // The stream had begun without an error, so the client gets the rejection inside its stream.
    if (rejection !== null) this.#hasBegun = true
    const error = rejection === null ? brokenStream(failure ?? '') : errorOf(rejection)
    if (rejection === null) this.fault ??= streamFault(error, 'stream_unreadable')
    return [...this.#given(guarded), ...this.#tell(error)]
  }

  /** The client gets an error in its own format, because a truncated stream would look complete. */
  #breakOff(error: ChatError, code: DetectedFault): Chunks | Promise<Chunks> {
    this.fault ??= streamFault(error, code)
    const { guard } = this.#options
    if (guard === null || guard.rejection !== null || !this.#hasBegun) return this.#tell(error)
    return nowOrLater(guard.end(), (held) => {
      const { rejection } = guard
      return [...this.#given(held), ...this.#tell(rejection === null ? error : errorOf(rejection))]
    })
  }

  #tell(error: ChatError): Chunks {
    if (!this.#hasBegun) this.firstError = error
    this.isDone = true
    const start = this.#hasBegun ? this.#start : null
    const passed = start === null ? null : { start, lastRecord: this.#lastRecord, records: this.#recordCount }
    return [Buffer.from(this.#options.tellError(error, passed))]
  }

  /** Redacts an error record, which may repeat the provider's key. */
  #plain(record: Buffer): Buffer {
    if (!this.#hasError) return record
    const text = record.toString('latin1')
    const redacted = this.#options.redact(text)
    return redacted === text ? record : Buffer.from(redacted, 'latin1')
  }

  /** Whether the stream is between the first token and the end, where the marks in a record tell enough. */
  get mayPass(): boolean {
    return (
      this.#hasToken &&
      this.#hasBegun &&
      !this.#isFinished &&
      !this.#hasError &&
      this.#options.guard === null &&
      this.#early.length === 0 &&
      this.#records.heldLength === 0
    )
  }

  /** Reads a record; returns whether the client gets it. */
  #read(record: Buffer): boolean {
    const text = latin1(record, 0, record.length)
    // Only events are read and guarded. A whole response in place of a stream may contain the same mark.
    const isMarked = !this.#isFinished && this.#options.endMarks.test(text) && EVENT.test(text)
    const isEnd = isMarked && this.#endsStream(record)
    if (isEnd) {
      this.#isFinished = true
      this.#observer.ending()
    }
    if (this.#hasBegun) this.#recordCount++
    // The record that ends the response has the finish reason.
    if (this.#hasToken && !isMarked && !MARKS.test(text)) {
      this.#hasFinalUsage = false
      return true
    }
    const hadBegun = this.#hasBegun
    for (const event of this.#decoder.push(record)) {
      if (event.type === 'error') this.#readError(event.error, hadBegun)
      if (this.#broken === null && (!this.#options.awaitsContent || isContent(event))) this.#hasBegun = true
      if (event.type === 'partDelta') {
        this.#hasToken = true
        this.#hasFinalUsage = false
      }
      if (event.type === 'usage') this.#hasFinalUsage = true
      if (event.type === 'start') this.#start = event
      this.#observer.observe(event)
    }
    return !this.#options.hidesUsage || !isOnlyUsage(text)
  }

  #endsStream(record: Buffer): boolean {
    const { isEnd } = this.#options
    if (isEnd === null) return true
    const body = parseJsonObject(new SseData(record.toString('utf8')).text)
    return body !== null && isEnd(body)
  }

  /** A record that both begins a response and fails it counts as an error. */
  #readError(error: ChatError, hadBegun: boolean): void {
    if (error.code === STREAM_BROKEN) this.#broken ??= error
    else this.#hasError = true
    this.fault ??= streamFault(error, 'stream_unreadable')
    if (!hadBegun) this.firstError = error
  }
}

/**
 * Whether the characters from `start` to `end` are one complete record without a known mark, as nearly all chunks are.
 * The text around them has no mark.
 */
function isPlainRecord(text: string, start: number, end: number, endMarks: RegExp): boolean {
  const last = end - 2
  if (last <= start || text.charCodeAt(start) === LF || text.charCodeAt(end - 1) !== LF) return false
  // A search for a single character costs a tenth of a search for two.
  for (let lf = text.indexOf('\n', start); lf !== last; lf = text.indexOf('\n', lf + 1)) {
    if (lf === -1 || lf > last || text.charCodeAt(lf + 1) === LF) return false
  }
  const cr = text.indexOf('\r', start)
  return (cr === -1 || cr >= end) && !MARKS.test(text) && !endMarks.test(text)
}

/** Whether a record only reports usage. With CR line ends several records arrive as one, which then has choices too. */
function isOnlyUsage(record: string): boolean {
  if (!record.includes('"usage"') || !NO_CHOICES.test(record)) return false
  return record.indexOf('"choices"') === record.lastIndexOf('"choices"')
}

const NOTHING: Chunks = []
/** Length of the line break after the data of a chunk in wire format. */
const CHUNK_END = 2
const LF = 10
const EVENT = /^(?:\xEF\xBB\xBF)?data:/m
const RECORD_END = Buffer.from('\n\n')
const NO_CHOICES = /"choices"\s*:\s*\[\s*\]/
/**
 * Marks of usage in every format, and of errors. Servers that were asked for usage send `"usage": null` in every
 * earlier record.
 */
const MARKS = /"usage(?!"\s*:\s*null)|"error"/
const MAX_HELD_BYTES = 16 * 1024 * 1024
