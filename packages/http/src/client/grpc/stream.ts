import type { Sink, Source } from '../../body/body.ts'
import { reportFault } from '../../runtime/faults.ts'
import { type AnswerHandler, GrpcCall, type GrpcMethod, type GrpcOptions } from './call.ts'
import { GrpcError, INTERNAL } from './status.ts'
import { TurnQueue } from './turn-queue.ts'

export interface StreamHandler<Response> extends AnswerHandler<Response> {
  /** Called when more can be sent, after `send` returned false. */
  drained(): void
}

/** A gRPC method with the codecs of its messages, which are encoded together with their prefix. */
export interface GrpcStreamMethod<Request, Response> extends Omit<GrpcMethod<Request, Response>, 'encode'> {
  encodeFrame: (request: Request) => Buffer
}

/** A call with any number of messages in both directions, with independent flow control per direction. */
export class GrpcStream<Request, Response> {
  readonly #encode: (request: Request) => Buffer
  readonly #outgoing: OutgoingMessages
  readonly #call: GrpcCall<Response>
  readonly #incoming = new TurnQueue((error) => this.#faulted(error))

  constructor(method: GrpcStreamMethod<Request, Response>, options: GrpcOptions, handler: StreamHandler<Response>) {
    this.#encode = method.encodeFrame
    this.#outgoing = new OutgoingMessages(() => handler.drained())
    this.#call = new GrpcCall(method.decode, options, {
      message: (response) => this.#incoming.add(() => handler.message(response)),
      ended: (error) => {
        this.#outgoing.close()
        this.#incoming.add(() => handler.ended(error))
      },
    })
    this.#call.start(method.path, this.#outgoing, options)
  }

  /** Sends a message. False asks the caller to wait for `drained`; the message is accepted in any case. */
  send(request: Request): boolean {
    return this.#outgoing.send(this.#encode(request))
  }

  /** Ends the request: no more messages follow. */
  finish(): void {
    this.#outgoing.finish()
  }

  /** Delivers no messages until `proceed`. */
  hold(): void {
    this.#call.hold()
  }

  proceed(): void {
    this.#call.proceed()
  }

  /** Cancels the call; the handler gets no more callbacks. `cause` is set when the responses were invalid. */
  drop(cause?: GrpcError): void {
    this.#outgoing.close()
    this.#incoming.close()
    this.#call.drop(cause)
  }

  /** Ends the call and notifies the handler. */
  fail(error: GrpcError): void {
    this.#call.fail(error)
  }

  #faulted(error: unknown): void {
    reportFault(error, 'request')
    this.#call.fail(new GrpcError(INTERNAL, 'internal error'))
  }
}

/** A request body whose messages arrive one by one. */
class OutgoingMessages implements Source {
  readonly length = -1
  readonly #drained: () => void
  #sink: Sink | null = null
  /** Messages that arrived before there was a stream, or while the stream was blocked. */
  #waiting: Buffer[] = []
  #isBlocked = false
  #isFinished = false
  #isClosed = false

  constructor(drained: () => void) {
    this.#drained = drained
  }

  send(message: Buffer): boolean {
    if (this.#isFinished || this.#isClosed) return true
    if (this.#sink === null || this.#isBlocked) {
      this.#waiting.push(message)
      this.#isBlocked = true
      return false
    }
    this.#sink.write(message)
    this.#isBlocked = !this.#sink.flush()
    return !this.#isBlocked
  }

  finish(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    if (!this.#isBlocked) this.#sink?.end(null)
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true
    this.#sink = null
    this.#waiting = []
  }

  pipe(sink: Sink): void {
    if (this.#isClosed) return
    this.#sink = sink
    sink.source = this
    this.resume()
  }

  resume(): void {
    const sink = this.#sink
    if (sink === null) return
    const wasBlocked = this.#isBlocked
    const waiting = this.#waiting
    this.#waiting = []
    for (const message of waiting) sink.write(message)
    this.#isBlocked = waiting.length > 0 && !sink.flush()
    if (this.#isBlocked) return
    if (this.#isFinished) sink.end(null)
    else if (wasBlocked) this.#drained()
  }

  cancel(): void {
    this.close()
  }
}
