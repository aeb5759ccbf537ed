import { type Sink, type Source, sourceOf } from '../../body/body.ts'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { isGrpcContentType } from '../../fields/field-rules.ts'
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamResponse,
} from '../upstream-types.ts'
import { frame, MessageReader } from './framing.ts'
import { DEADLINE_EXCEEDED, GrpcError, INTERNAL, statusOf, statusOfHttp, UNAVAILABLE } from './status.ts'

/** A gRPC method with the codecs of its messages. */
export interface GrpcMethod<Request, Response> {
  /** `/package.Service/Method` */
  path: string
  encode: (request: Request) => Uint8Array
  decode: (message: Uint8Array) => Response
}

export interface GrpcOptions {
  /** Sends a request to a backend, with the policies of that backend. */
  send: (request: UpstreamRequest, handler: UpstreamHandler) => UpstreamCall
  authority: string
  /** Initial metadata; names are lower case. */
  metadata?: Iterable<readonly [string, string]>
  deadlines: Deadlines
  /** Timeout of the whole call; without it, the caller limits the call. */
  timeoutMs?: number
  /** A longer message ends the call. */
  maxMessageBytes: number
}

export interface AnswerHandler<Response> {
  message(response: Response): void
  /** Called when a call ended with OK; returns what is wrong with the received messages, or null. */
  problem?(): string | null
  /** Called once, as the last callback, unless the call was dropped; null means OK. */
  ended(error: GrpcError | null): void
}

/** One call: sends a request body and reads the response message by message. */
export class GrpcCall<Response> implements UpstreamHandler, Sink {
  source: Source | null = null
  readonly #decode: (message: Uint8Array) => Response
  readonly #handler: AnswerHandler<Response>
  readonly #reader: MessageReader
  readonly #deadlines: Deadlines
  #deadline: Deadline | null = null
  #call: UpstreamCall | null = null
  #headers: HeaderBlock | null = null
  #isHeld = false
  #isOver = false

  constructor(decode: (message: Uint8Array) => Response, options: GrpcOptions, handler: AnswerHandler<Response>) {
    this.#decode = decode
    this.#handler = handler
    this.#reader = new MessageReader(options.maxMessageBytes)
    this.#deadlines = options.deadlines
  }

  start(path: string, body: Source, { send, authority, metadata, timeoutMs }: GrpcOptions): void {
    const headers = HeaderBlock.of(metadata ?? [])
    headers.set('content-type', 'application/grpc')
    if (timeoutMs !== undefined) {
      headers.set('grpc-timeout', `${Math.min(Math.ceil(timeoutMs), MAX_TIMEOUT_MS)}m`)
      this.#deadline = new Deadline(() => this.fail(new GrpcError(DEADLINE_EXCEEDED, 'no answer in time')))
      this.#deadlines.set(this.#deadline, timeoutMs)
    }
    const call = send({ method: 'POST', target: path, authority, headers, body, upgrade: '', teTrailers: true }, this)
    // The call may have ended before `send` returned.
    if (this.#isOver) call.cancel(NOT_NEEDED)
    else this.#call = call
  }

  /**
   * Delivers no messages until `proceed`; flow control slows down a server that sends faster than messages are
   * processed.
   */
  hold(): void {
    this.#isHeld = true
  }

  proceed(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.source?.resume()
  }

  /** Cancels the call; the handler gets no more callbacks. */
  drop(cause: Error = NOT_NEEDED): void {
    if (this.#close()) this.#call?.cancel(cause)
  }

  /** Ends the call and notifies the handler. */
  fail(error: GrpcError): void {
    if (!this.#close()) return
    this.#call?.cancel(error)
    this.#handler.ended(error)
  }

  informed(): void {}

  responded({ status, headers, body }: UpstreamResponse): void {
    if (this.#isOver) return body.cancel(NOT_NEEDED)
    const type = headers.get('content-type')
    if (status === 200 && type !== null && isGrpcContentType(type)) {
      this.#headers = headers
      return body.pipe(this)
    }
    const error = (headers.has('grpc-status') ? statusOf(headers) : null) ?? statusOfHttp(status)
    body.cancel(error)
    this.fail(error)
  }

  upgraded(...[, , raw]: Parameters<UpstreamHandler['upgraded']>): void {
    raw.socket.destroy()
    this.fail(new GrpcError(INTERNAL, 'the response switches protocols'))
  }

  failed({ code, message }: UpstreamError): void {
    this.fail(new GrpcError(code === 'response_timeout' ? DEADLINE_EXCEEDED : UNAVAILABLE, message))
  }

  write(chunk: Buffer): void {
    if (this.#isOver) return
    const problem = this.#reader.push(chunk, (message) => this.#take(message))
    if (problem !== null) this.fail(problem)
  }

  flush(): boolean {
    return !this.#isHeld
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#isOver) return
    // A response without messages may carry its status in the headers.
    const error = statusOf(trailers ?? this.#headers ?? new HeaderBlock())
    const problem = error === null ? this.#problem() : null
    if (problem !== null) return this.fail(new GrpcError(INTERNAL, problem))
    this.#close()
    this.#handler.ended(error)
  }

  #problem(): string | null {
    if (this.#reader.isPartial) return 'the answer ends within a message'
    return this.#handler.problem?.() ?? null
  }

  abort(cause: Error): void {
    this.fail(new GrpcError(UNAVAILABLE, cause.message))
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return
    let message: Response
    try {
      message = this.#decode(bytes)
    } catch {
      return this.fail(new GrpcError(INTERNAL, 'a message of the answer cannot be read'))
    }
    this.#handler.message(message)
  }

  /** Returns false when the call had already ended. */
  #close(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    if (this.#deadline !== null) this.#deadlines.clear(this.#deadline)
    return true
  }
}

/** Sends one message and waits for one message; a missing message is an error too. */
export function callUnary<Request, Response>(
  { path, encode, decode }: GrpcMethod<Request, Response>,
  request: Request,
  options: GrpcOptions & { timeoutMs: number },
  done: (error: GrpcError | null, response: Response | null) => void,
): GrpcCall<Response> {
  const messages: Response[] = []
  const call = new GrpcCall(decode, options, {
    message: (response) => messages.push(response),
    problem: () => (messages.length === 1 ? null : `${messages.length} messages came instead of one`),
    ended: (error) => done(error, error === null ? (messages[0] ?? null) : null),
  })
  call.start(path, sourceOf(frame(encode(request))), options)
  return call
}

const NOT_NEEDED = new Error('the call is not needed any more')
/** The `grpc-timeout` header has room for eight digits. */
const MAX_TIMEOUT_MS = 99_999_999
