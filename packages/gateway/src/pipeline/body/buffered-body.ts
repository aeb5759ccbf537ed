import { type HeaderBlock, type Sink, type Source, sourceOf } from '@portico/http'
import { UpstreamError } from '@portico/http/client'
import { type BodyUse, type BufferedBody, wholeBody } from '../context/body-use.ts'
import { type Failure, failures, upstreamFailure } from '../context/failure.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import type { StepResult } from '../context/step.ts'

type RequiredBodyUse = Exclude<BodyUse, 'none'>

/** Returns a step that reads the request body for later steps; a body that is too large for `whole` is denied. */
export function bufferRequest(use: RequiredBodyUse, limit: number): (rx: RequestContext) => StepResult {
  return (rx) => {
    if (rx.bufferedBody !== null) return rx.bufferedBody.whole === null ? requestTooLarge(rx, use) : undefined
    if (rx.body.length > limit && use === 'whole') return requestTooLarge(rx, use)
    return readStart(rx.body, limit, (buffered, rest, cause) => takeRequest(rx, use, buffered, rest, cause))
  }
}

/** A call that needs the whole body of its request; `bodyRead` is called synchronously, without a promise. */
export abstract class RequestReader implements StartObserver {
  protected abstract readonly rx: RequestContext

  /** Called when the body was read; `refusal` is the reply when there is no body. */
  protected abstract bodyRead(refusal: Reply | undefined): void

  protected readRequest(limit: number): void {
    const { bufferedBody, body } = this.rx
    if (bufferedBody !== null)
      this.bodyRead(bufferedBody.whole === null ? requestTooLarge(this.rx, 'whole') : undefined)
    else if (body.length > limit) this.bodyRead(requestTooLarge(this.rx, 'whole'))
    else observeStart(body, limit, this)
  }

  started(buffered: BufferedBody, rest: Source, cause: Error | null): void {
    this.bodyRead(takeRequest(this.rx, 'whole', buffered, rest, cause))
  }
}

function takeRequest(
  rx: RequestContext,
  use: RequiredBodyUse,
  buffered: BufferedBody,
  rest: Source,
  cause: Error | null,
): Reply | undefined {
  rx.bufferedBody = buffered
  rx.body = rest
  // The client is gone and gets no reply; returning one keeps later steps from running.
  if (cause !== null) return failureReply({ status: 400, message: cause.message, reason: 'ClientGone' }, null)
  return buffered.whole === null ? requestTooLarge(rx, use) : undefined
}

/** Returns a step that reads the response body. If the body breaks off, the client gets an error: nothing was sent yet. */
export function bufferResponse(use: RequiredBodyUse, limit: number): (rx: AnsweredRequest) => StepResult {
  return (rx) => {
    if (rx.bufferedResponse !== null) return rx.bufferedResponse.whole === null ? responseTooLarge(rx, use) : undefined
    const body = rx.responseBody
    if (body.length > limit && use === 'whole') return responseTooLarge(rx, use)
    return readStart(body, limit, (buffered, rest, cause) => {
      rx.bufferedResponse = buffered
      rx.responseBody = rest
      if (cause !== null) return refuse(rx, brokenOff(cause))
      return buffered.whole === null ? responseTooLarge(rx, use) : undefined
    })
  }
}

function requestTooLarge(rx: RequestContext, use: RequiredBodyUse): Reply | undefined {
  return use === 'whole' ? refuse(rx, failures.requestTooLarge) : undefined
}

function responseTooLarge(rx: RequestContext, use: RequiredBodyUse): Reply | undefined {
  return use === 'whole' ? refuse(rx, failures.responseTooLarge) : undefined
}

/** Returns the failure of a response that broke off before any of it was sent. */
export function brokenOff(cause: Error): Failure {
  return upstreamFailure(
    cause instanceof UpstreamError ? cause : new UpstreamError('connection_lost', cause.message, false),
  )
}

function refuse(rx: RequestContext, failure: Failure): Reply {
  rx.error ??= failure.message
  if (failure.code !== undefined) rx.notes ??= { code: failure.code }
  return failureReply(failure, rx.headers.get('content-type'))
}

const NO_BYTES = Buffer.alloc(0)

/** `rest` is the whole body again, from its first byte; `cause` is the error that broke the body off. */
type StartCallback = (buffered: BufferedBody, rest: Source, cause: Error | null) => Reply | undefined | void

export function readStart(body: Source, limit: number, done: StartCallback): StepResult {
  if (body.length === 0) return done(wholeBody(NO_BYTES), body, null)
  return new Promise((resolve) => {
    observeStart(body, limit, { started: (...outcome) => resolve(done(...outcome)) })
  })
}

/** Receives the start of a body. An object, because V8 discards optimized code with the closure of a single request. */
export interface StartObserver {
  started(...outcome: Parameters<StartCallback>): void
}

export function observeStart(body: Source, limit: number, observer: StartObserver): void {
  if (body.length === 0) observer.started(wholeBody(NO_BYTES), body, null)
  else body.pipe(new StartReader(body, limit, observer))
}

/** Buffers the start of a body; as a source, it then provides the whole body from the first byte. */
export class StartReader implements Sink, Source {
  source: Source | null = null
  readonly #body: Source
  readonly #limit: number
  #observer: StartObserver | null
  /** The first `#size` bytes hold the start of the body; the remaining bytes are free. */
  #kept: Buffer = NO_BYTES
  #size = 0
  #next: Sink | null = null
  #failure: Error | null = null

  constructor(body: Source, limit: number, observer: StartObserver) {
    this.#body = body
    this.#limit = limit
    this.#observer = observer
  }

  get length(): number {
    return this.#body.length
  }

  // As the sink of the body.

  write(chunk: Buffer): void {
    if (this.#next === null) this.#keep(chunk)
    else this.#next.write(chunk)
  }

  flush(): boolean {
    if (this.#next !== null) return this.#next.flush()
    if (this.#size <= this.#limit) return true
    this.#stop(null, this, null)
    // If the rest already flows to another sink, that sink decides whether more may follow.
    return this.#nextFlush()
  }

  #nextFlush(): boolean {
    return this.#next?.flush() ?? false
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#next !== null) return this.#next.end(trailers)
    const bytes = this.#first(this.#size)
    // A body of known length is one buffer, which can be read twice.
    this.#stop(bytes.length <= this.#limit ? bytes : null, sourceOf(bytes, trailers), trailers)
  }

  abort(cause: Error): void {
    this.#failure = cause
    if (this.#next !== null) this.#next.abort(cause)
    else this.#stop(null, this, null)
  }

  /** Appends to one buffer that doubles in size, so that a body in chunks of one byte does not cost one object per byte. */
  #keep(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (this.#size === 0) this.#kept = chunk
    else {
      if (size > this.#kept.length) this.#grow(size)
      chunk.copy(this.#kept, this.#size)
    }
    this.#size = size
  }

  /** Avoids a view when the body arrived in one piece, because a view costs more than most bodies. */
  #first(length: number): Buffer {
    return length === this.#kept.length ? this.#kept : this.#kept.subarray(0, length)
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(Math.max(size, 2 * this.#kept.length))
    this.#kept.copy(grown, 0, 0, this.#size)
    this.#kept = grown
  }

  #stop(whole: Buffer | null, rest: Source, trailers: HeaderBlock | null): void {
    const observer = this.#observer
    this.#observer = null
    if (observer === null) return
    const prefix = whole ?? this.#first(Math.min(this.#size, this.#limit))
    observer.started({ prefix, whole, trailers }, rest, this.#failure)
  }

  // As the source of the whole body.

  pipe(sink: Sink): void {
    sink.source = this
    this.#next = sink
    sink.write(this.#first(this.#size))
    if (this.#failure !== null) return sink.abort(this.#failure)
    if (sink.flush()) this.#body.resume()
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    this.#body.cancel(cause)
  }
}
