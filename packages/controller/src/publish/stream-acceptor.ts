import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { DATA_PLANE_LINE_LIMIT, type Hello, LineReader } from '@portico/gateway/stream'
import { type DataPlaneMessage, readDataPlaneLine, StreamFault } from '@portico/gateway/stream'
import type { TokenReview } from '../kube/token-review.ts'
import type { Refusal } from './counts.ts'
import { addressOf, refuseStream } from './refuse-stream.ts'

/** The identity of a client with a valid token. */
export type Caller = Extract<TokenReview, { ok: true }>

/** The handler of an accepted stream. */
export interface StreamHandler {
  /** Handles a message; throws a StreamFault when it violates the protocol. */
  heard(message: DataPlaneMessage): void
  /** Called for a malformed line; the stream ends after a last message. */
  faulty(reason: string): void
  closed(): void
}

export interface AcceptorLimits {
  helloLimitMs: number
  mostReviews: number
  mostStreams: number
  lineLimit: number
}

export const ACCEPTOR_LIMITS: AcceptorLimits = {
  helloLimitMs: 10_000,
  mostReviews: 64,
  mostStreams: 4,
  lineLimit: DATA_PLANE_LINE_LIMIT,
}

interface StreamAcceptorOptions {
  review: (token: string) => Promise<TokenReview>
  /** Returns a handler, or null when the client may not use this Gateway. */
  take: (hello: Hello, caller: Caller, stream: ServerHttp2Stream) => StreamHandler | null
  refused: (reason: Refusal, fields: Readonly<Record<string, unknown>>) => void
  limits: AcceptorLimits
}

/** Accepts the streams of data planes with valid tokens, and reads their lines. */
export class StreamAcceptor {
  readonly #options: StreamAcceptorOptions
  readonly #streamsByCaller = new Map<string, number>()
  #reviews = 0

  constructor(options: StreamAcceptorOptions) {
    this.#options = options
  }

  /** Authenticates a stream, and calls `taken` when it is accepted. */
  meet(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, taken: () => void): void {
    void this.#meet(stream, headers, taken)
  }

  async #meet(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, taken: () => void): Promise<void> {
    const address = addressOf(stream)
    const { mostReviews, mostStreams } = this.#options.limits
    const [, token] = /^bearer +([\w.~+/=-]{1,16384})$/i.exec(headers.authorization ?? '') ?? []
    if (token === undefined) return this.#refuse(stream, 'no_token', { address })
    if (this.#reviews >= mostReviews) return this.#refuse(stream, 'busy', { address })
    // No input is read before the client is authenticated.
    const reviewed = await this.#review(token)
    if (stream.destroyed) return
    if (reviewed === null) return this.#refuse(stream, 'review_failed', { address })
    if (!reviewed.ok) return this.#refuse(stream, 'token', { address, why: reviewed.why })
    const { namespace, serviceAccount, pod } = reviewed
    const caller = `${namespace}/${serviceAccount}/${pod ?? address}`
    const count = this.#streamsByCaller.get(caller) ?? 0
    const fields = { address, namespace, serviceAccount, pod }
    if (count >= mostStreams) return this.#refuse(stream, 'too_many_streams', fields)
    this.#streamsByCaller.set(caller, count + 1)
    stream.on('close', () => this.#left(caller))
    this.#read(stream, { caller: reviewed, fields, taken })
  }

  async #review(token: string): Promise<TokenReview | null> {
    this.#reviews++
    try {
      return await this.#options.review(token)
    } catch {
      return null
    } finally {
      this.#reviews--
    }
  }

  #left(caller: string): void {
    const count = (this.#streamsByCaller.get(caller) ?? 1) - 1
    if (count === 0) this.#streamsByCaller.delete(caller)
    else this.#streamsByCaller.set(caller, count)
  }

  #read(
    stream: ServerHttp2Stream,
    { caller, fields, taken }: { caller: Caller; fields: Readonly<Record<string, unknown>>; taken: () => void },
  ): void {
    const { limits, take } = this.#options
    let dataPlane: StreamHandler | null = null
    let isOver = false
    const refuse = (reason: Refusal, more = {}): void => {
      isOver = true
      this.#refuse(stream, reason, { ...fields, ...more })
    }
    const late = setTimeout(() => refuse('no_hello'), limits.helloLimitMs)
    const begin = (line: string): void => {
      clearTimeout(late)
      if (stream.closed) return
      const hello = readDataPlaneLine(line)
      if (hello.type !== 'hello') throw new StreamFault('the first message must be hello')
      dataPlane = take(hello, caller, stream)
      if (dataPlane === null) return refuse('foreign_gateway', { gateway: hello.gateway, instance: hello.instance })
      taken()
    }
    const reader = new LineReader(limits.lineLimit, (line) => {
      if (isOver) return
      if (dataPlane === null) begin(line)
      else dataPlane.heard(readDataPlaneLine(line))
    })
    stream.on('data', (bytes: Buffer) => {
      if (isOver) return
      try {
        reader.push(bytes)
      } catch (error) {
        if (!(error instanceof StreamFault)) throw error
        isOver = true
        if (dataPlane === null) return refuse('malformed', { why: error.message })
        this.#options.refused('malformed', { ...fields, why: error.message })
        dataPlane.faulty(error.message)
      }
    })
    // A data plane that ends its side is gone.
    stream.on('end', () => stream.close())
    stream.on('close', () => {
      clearTimeout(late)
      isOver = true
      dataPlane?.closed()
      // A data plane has one stream per connection.
      if (dataPlane !== null) stream.session?.close()
    })
  }

  #refuse(stream: ServerHttp2Stream, reason: Refusal, fields: Readonly<Record<string, unknown>>): void {
    this.#options.refused(reason, fields)
    refuseStream(stream, reason)
  }
}
