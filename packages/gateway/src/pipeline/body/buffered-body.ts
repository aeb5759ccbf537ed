import { type HeaderBlock, type Sink, type Source, sourceOf } from '@portico/http'
import { UpstreamError } from '@portico/http/client'
import { type BodyUse, type BufferedBody, wholeBody } from '../context/body-use.ts'
import { type Failure, failures, upstreamFailure } from '../context/failure.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import type { StepResult } from '../context/step.ts'

type Needed = Exclude<BodyUse, 'none'>

/** A step that reads the request body before those that need it; one too large for `whole` is refused. */
export function bufferRequest(use: Needed, limit: number): (rx: RequestContext) => StepResult {
  return (rx) => {
    if (rx.bufferedBody !== null) return rx.bufferedBody.whole === null ? requestTooLarge(rx, use) : undefined
    if (rx.body.length > limit && use === 'whole') return requestTooLarge(rx, use)
    return readStart(rx.body, limit, (buffered, rest, cause) => takeRequest(rx, use, buffered, rest, cause))
  }
}

/** A call that needs the whole body of its request, and is told at once when it is there: no promise stands between. */
export abstract class RequestReader implements StartObserver {
  protected abstract readonly rx: RequestContext

  /** A reply says why there is no body. */
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
  use: Needed,
  buffered: BufferedBody,
  rest: Source,
  cause: Error | null,
): Reply | undefined {
  rx.bufferedBody = buffered
  rx.body = rest
  // Nobody is left to get this: it keeps what comes behind from running.
  if (cause !== null) return failureReply({ status: 400, message: cause.message, reason: 'ClientGone' }, null)
  return buffered.whole === null ? requestTooLarge(rx, use) : undefined
}

/** The same for the response. One that breaks off can still be told from a whole one: nothing of it has been sent. */
export function bufferResponse(use: Needed, limit: number): (rx: AnsweredRequest) => StepResult {
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

function requestTooLarge(rx: RequestContext, use: Needed): Reply | undefined {
  return use === 'whole' ? refuse(rx, failures.requestTooLarge) : undefined
}

function responseTooLarge(rx: RequestContext, use: Needed): Reply | undefined {
  return use === 'whole' ? refuse(rx, failures.responseTooLarge) : undefined
}

/** A response that broke off before anything of it was sent. */
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

/** `rest` is the whole body again, from its first byte; `cause` says why there will be no more of it. */
type Done = (buffered: BufferedBody, rest: Source, cause: Error | null) => Reply | undefined | void

export function readStart(body: Source, limit: number, done: Done): StepResult {
  if (body.length === 0) return done(wholeBody(NO_BYTES), body, null)
  return new Promise((resolve) => {
    observeStart(body, limit, { started: (...outcome) => resolve(done(...outcome)) })
  })
}

/** Told once what a body begins with. An object: what V8 optimises of a function made for one request goes with it. */
export interface StartObserver {
  started(...outcome: Parameters<Done>): void
}

export function observeStart(body: Source, limit: number, observer: StartObserver): void {
  if (body.length === 0) observer.started(wholeBody(NO_BYTES), body, null)
  else body.pipe(new StartReader(body, limit, observer))
}

/** Keeps the start of a body, then gives it out again with the rest behind it. */
export class StartReader implements Sink, Source {
  source: Source | null = null
  readonly #body: Source
  readonly #limit: number
  #observer: StartObserver | null
  /** Has `#size` bytes of the body; the rest is room for more. */
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

  // Reading.

  write(chunk: Buffer): void {
    if (this.#next === null) this.#keep(chunk)
    else this.#next.write(chunk)
  }

  flush(): boolean {
    if (this.#next !== null) return this.#next.flush()
    if (this.#size <= this.#limit) return true
    this.#stop(null, this, null)
    // Whoever has taken the rest at once says whether there may be more of it.
    return this.#nextFlush()
  }

  #nextFlush(): boolean {
    return this.#next?.flush() ?? false
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#next !== null) return this.#next.end(trailers)
    const bytes = this.#first(this.#size)
    // Whoever reads a body of known length needs no chunks, and may read it twice.
    this.#stop(bytes.length <= this.#limit ? bytes : null, sourceOf(bytes, trailers), trailers)
  }

  abort(cause: Error): void {
    this.#failure = cause
    if (this.#next !== null) this.#next.abort(cause)
    else this.#stop(null, this, null)
  }

  /** One buffer that doubles: chunks of one byte each must not cost an object each. */
  #keep(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (this.#size === 0) this.#kept = chunk
    else {
      if (size > this.#kept.length) this.#grow(size)
      chunk.copy(this.#kept, this.#size)
    }
    this.#size = size
  }

  /** A view costs more than most bodies: one that came in one piece is given as it is. */
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

  // Giving.

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
