import type {
  ChatError,
  ChatEvent,
  ClientFormat,
  PassedStream,
  ResponseContext,
  StreamEncoder,
  StreamFault,
  StreamFaultCode,
} from '@portico/chat'
import type { ExchangeContext, GuardNote, Rejection } from '../../../llm/guards/guard.ts'
import type { ResponseGuards } from '../../../llm/guards/prompt-guards.ts'
import type { PreparedChat } from './prepare-chat.ts'
import { contained, InternalFault, reportFault } from '@portico/http/faults'
import type { Sink, Source } from '@portico/http'

export interface StreamParts {
  prepared: PreparedChat
  /** Null without response guards. */
  guards: ResponseGuards | null
  format: ClientFormat
  context: ResponseContext
  guardContext: ExchangeContext
  /** Whether the request can still fail over until content is sent to the client. */
  awaitsContent: boolean
  /** Redacts the credentials that the gateway sent to the provider, which errors may repeat. */
  redact: (text: string) => string
}

/** The outcome of the guards of a stream, complete when the stream is over. */
export interface StreamGuard {
  readonly notes: readonly GuardNote[]
  readonly rejection: Rejection | null
}

/** The work on the records of a stream: to pass them unchanged, or to translate them to the client's format. */
export interface StreamWork extends BodyWork {
  /** Set when an error came before any bytes were sent. */
  readonly firstError: ChatError | null
  /** The provider's first fault, before or after the stream began; null while there is none. */
  readonly fault: StreamFault | null
}

/** Receives the events of a response, however the response is read. */
export interface ResponseObserver {
  /** The model that the client named, for records of guards; the model of the provider if the client named none. */
  readonly requestedModel: string | null
  observe(event: ChatEvent): void
  /** Called when the record that ends a complete stream has come. */
  ending(): void
  /**
   * Ends the response. `records` is the number of records, an estimate of the tokens of a broken stream. `whole` says
   * that reported usage needs no estimate. Not called when an error was all that came: such a response costs nothing,
   * and the request may still fail over. `fault` is the provider's later fault.
   */
  over(outcome: { whole: boolean; records: number; fault: StreamFault | null }): void
}

/**
 * Encodes an error at the end of the client's stream; `passed` is the part of the stream that the client already has.
 */
export type TellError = (error: ChatError, passed: PassedStream | null) => string

export type DetectedFault = Exclude<StreamFaultCode, 'stream_error'>

/** The error of a response body that cannot be parsed, although its connection works. */
export class UnreadableStream extends Error {}

/** Returns the fault of a response body that broke off. */
export function faultOf(cause: Error): DetectedFault {
  return cause instanceof UnreadableStream ? 'stream_unreadable' : 'connection_lost'
}

/** The end of the client's stream after an error, without credentials. */
export function encodeStreamError(error: ChatError, encoder: StreamEncoder, redact: StreamParts['redact']): string {
  return redact(encoder.event({ type: 'error', error }) + encoder.end())
}

/** Whether an event is content; `start` and `usage` only announce content. */
export function isContent({ type }: ChatEvent): boolean {
  return type !== 'start' && type !== 'usage'
}

/** Processes a body on its way to the client. */
interface BodyWork {
  /**
   * Returns bytes for the client; an empty list sends nothing yet. The next call waits until a returned promise
   * settles.
   */
  chunk(chunk: Buffer): Chunks | Promise<Chunks>
  /** Returns the remaining bytes at the end of the body. */
  end(): Chunks | Promise<Chunks>
  /** Called when the body broke off; returns the bytes to send to the client instead. */
  broken(cause: Error): Chunks | Promise<Chunks>
  /** Called when no more bytes are read. */
  over(): void
  /** Whether nearly all chunks pass unchanged now, so that `passes` is worth a call. Undefined means false. */
  readonly mayPass?: boolean
  /** Whether a chunk in wire format (`Sink.writeFramed`) passes unchanged. Nothing is noted until `passed` is called. */
  passes?(framed: string, dataAt: number): boolean
  /** Called when the client got a chunk that passes. */
  passed?(framed: string, dataAt: number): void
  /** Whether the work is complete, so that the rest of the body can be dropped. */
  readonly isDone: boolean
}

/** Bytes for the client, in order. */
export type Chunks = readonly Buffer[]

/**
 * A body that is read before the gateway decides whether the client gets it: a stream that begins with an error can
 * still fail over to another provider. `opened` is called once, when the work has released bytes or has ended.
 */
export class DeferredBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #work: BodyWork
  #opened: (() => void) | null
  #sink: Sink | null = null
  #kept: Buffer[] = []
  #end: 'open' | 'whole' | Error = 'open'
  #isOver = false
  /** Pending work. */
  #waiting: Promise<void> | null = null

  constructor(body: Source, work: BodyWork, opened: () => void) {
    this.#body = body
    this.#work = work
    this.#opened = opened
  }

  get length(): number {
    return -1
  }

  /** Starts reading. */
  open(): void {
    this.#body.pipe(this)
  }

  // Data from the provider.

  write(chunk: Buffer): void {
    if (this.#waiting === null) {
      if (this.#end === 'open') this.#take(this.#work.chunk(chunk), false)
      return
    }
    // The chunk may be a view of a buffer that the next read overwrites.
    const kept = Buffer.from(chunk)
    this.#later(this.#waiting, () => this.#work.chunk(kept), false)
  }

  get takesFramed(): boolean {
    const sink = this.#sink
    return this.#work.mayPass === true && this.#waiting === null && this.#end === 'open' && sink?.takesFramed === true
  }

  writeFramed(framed: string, dataAt: number): boolean {
    const work = this.#work
    if (work.passes?.(framed, dataAt) !== true || this.#sink?.writeFramed?.(framed, dataAt) !== true) return false
    work.passed?.(framed, dataAt)
    return true
  }

  flush(): boolean {
    if (this.#end !== 'open') return true
    if (this.#waiting !== null) return false
    if (this.#sink !== null) return this.#sink.flush()
    // Once there are bytes to send, reading pauses until a sink takes them.
    return this.#opened !== null
  }

  end(): void {
    if (this.#waiting !== null) this.#later(this.#waiting, () => this.#work.end(), true)
    else if (this.#end === 'open') this.#take(this.#work.end(), true)
  }

  abort(cause: Error): void {
    if (this.#waiting !== null) this.#later(this.#waiting, () => this.#work.broken(cause), true)
    else if (this.#end === 'open') this.#take(this.#work.broken(cause), true)
  }

  /** Takes the bytes synchronously unless they are a promise. */
  #take(given: Chunks | Promise<Chunks>, isLast: boolean): void {
    if (given instanceof Promise) this.#wait(given.then((bytes) => this.#took(bytes, isLast)))
    else this.#took(given, isLast)
  }

  /** Queues a job behind the pending work. */
  #later(waiting: Promise<void>, job: () => Chunks | Promise<Chunks>, isLast: boolean): void {
    const given = waiting.then(() => (this.#end === 'open' ? job() : []))
    this.#wait(given.then((bytes) => this.#took(bytes, isLast)))
  }

  #took(given: Chunks, isLast: boolean): void {
    if (this.#end !== 'open') return
    this.#give(given)
    if (!isLast && !this.#work.isDone) return
    this.#over()
    this.#settle()
    // The work ended before the body.
    if (!isLast) this.#body.cancel(DONE)
  }

  /** Handles an exception in the work: the client's stream is aborted. */
  #faulted(error: unknown): void {
    reportFault(error, 'request')
    if (this.#end !== 'open') return
    const fault = new InternalFault()
    contained('request', () => this.cancel(fault))
    if (this.#sink === null) this.#tell()
    else this.#sink.abort(fault)
  }

  #wait(work: Promise<void>): void {
    const waiting: Promise<void> = work.then(() => {
      if (this.#waiting !== waiting) return
      this.#waiting = null
      const isWanted = this.#sink === null ? this.#opened !== null : this.#sink.flush()
      if (this.#end === 'open' && isWanted) this.#body.resume()
    })
    this.#waiting = waiting
    waiting.catch((error: unknown) => this.#faulted(error))
  }

  // Data to the client.

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    for (const chunk of this.#kept) sink.write(chunk)
    this.#kept = []
    if (this.#end === 'whole') return sink.end(null)
    if (this.#end !== 'open') return sink.abort(this.#end)
    if (sink.flush() && this.#waiting === null) this.#body.resume()
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    if (this.#end !== 'open') return
    this.#end = cause
    this.#over()
    this.#body.cancel(cause)
  }

  #give(chunks: Chunks): void {
    for (const chunk of chunks) {
      if (this.#sink !== null) this.#sink.write(chunk)
      // The chunk may be a view of a buffer that the next read overwrites.
      else this.#kept.push(Buffer.from(chunk))
    }
    if (chunks.length > 0) this.#tell()
  }

  #settle(): void {
    this.#end = 'whole'
    this.#tell()
    this.#sink?.end(null)
  }

  #tell(): void {
    const opened = this.#opened
    this.#opened = null
    opened?.()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#work.over()
  }
}

const DONE = new Error('the rest of the stream is not needed')
