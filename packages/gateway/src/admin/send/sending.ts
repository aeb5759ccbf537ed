import type { Socket } from 'node:net'
import type { RequestSummary } from '../../telemetry/recorder/record.ts'
import type { EventStream } from '../event-stream.ts'
import type { RequestsSource } from '../requests.ts'
import type { TraceSource } from '../trace.ts'
import { type ReachableListener, hostOf, serverNameOf } from './reachable-listener.ts'
import { dial, secure, sourceOf } from './dial.ts'
import { type Answer, exchange } from './exchange.ts'
import type { SendCall, SendEnd, SendEvent } from './send-view.ts'
import { watchOne } from './watch-one.ts'

interface SendingParts {
  readonly requests: Pick<RequestsSource, 'list'>
  readonly trace: TraceSource
  readonly limits: SendLimits
}

export interface SendLimits {
  /** The largest response body in bytes. */
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Milliseconds to wait for the record, which is written at the end of the request. */
  readonly recordMs: number
}

/** One request on its way, told to a stream. */
export class Sending {
  readonly #call: SendCall
  readonly #listener: ReachableListener
  readonly #parts: SendingParts
  readonly #stop = new AbortController()
  #bytes = 0
  #isCut = false

  constructor(call: SendCall, listener: ReachableListener, parts: SendingParts) {
    this.#call = call
    this.#listener = listener
    this.#parts = parts
  }

  /** The client has left. */
  stop(): void {
    this.#stop.abort()
  }

  async run(stream: EventStream): Promise<void> {
    const tell = (event: SendEvent): void => stream.data(event)
    const began = Date.now()
    const clock = performance.now()
    let error: string | null = null
    let socket: Socket | null = null
    let source: string | null = null
    let trace: Awaited<ReturnType<typeof watchOne>> = null
    const late = setTimeout(() => this.#stop.abort(), this.#parts.limits.timeoutMs)
    try {
      socket = await dial(this.#listener, this.#stop.signal)
      source = sourceOf(socket)
      socket = await secure(socket, this.#listener, this.#call, this.#stop.signal)
      if (this.#call.trace === true)
        trace = await watchOne(this.#parts.trace, socket, (event) => tell({ type: 'trace', event }))
      const answer = await exchange(socket, this.#listener, this.#call)
      tell({ type: 'head', status: answer.status, headers: answer.headers })
      await this.#tellBody(answer, stream)
    } catch (failure) {
      error = this.#words(failure)
    }
    clearTimeout(late)
    const took = Math.round((performance.now() - clock) * 1000)
    socket?.destroy()
    const record = source === null ? null : await this.#recordOf(source, began)
    if (trace !== null) await trace.over(this.#parts.limits.recordMs)
    const end: SendEnd = { type: 'end', error, isCut: this.#isCut, bytes: this.#bytes, took, record }
    tell(end)
    stream.end()
  }

  async #tellBody(answer: Answer, stream: EventStream): Promise<void> {
    const decoder = isText(answer) ? new TextDecoder() : null
    for await (const piece of answer.body) {
      const chunk = piece as Buffer
      const rest = this.#parts.limits.maxBytes - this.#bytes
      const told = chunk.subarray(0, rest)
      this.#bytes += told.length
      const text = decoder?.decode(told, { stream: true })
      if (text === undefined) stream.data({ type: 'body', base64: told.toString('base64') })
      else if (text !== '') stream.data({ type: 'body', text })
      if (chunk.length > rest) {
        this.#isCut = true
        return
      }
      if (stream.isFull) await stream.drained()
    }
    const last = decoder?.decode() ?? ''
    if (last !== '') stream.data({ type: 'body', text: last })
  }

  /** By the client's end of the connection, which no other request of this time has. */
  async #recordOf(source: string, began: number): Promise<RequestSummary | null> {
    const filter = { since: began - CLOCK_MS, until: null, matches: [(each: RequestSummary) => each.source === source] }
    const limit = performance.now() + this.#parts.limits.recordMs
    for (;;) {
      const [found] = this.#parts.requests.list(filter, { limit: 1, before: null })?.requests ?? []
      if (found !== undefined) return found
      if (performance.now() > limit || this.#stop.signal.aborted) return null
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  #words(failure: unknown): string {
    if (this.#stop.signal.aborted) return `the response took longer than ${this.#parts.limits.timeoutMs / 1000} s`
    const { code, message, reason } = failure as NodeJS.ErrnoException & { reason?: string }
    if (code === 'ECONNRESET' || code === 'EPIPE')
      return 'the gateway closed the connection before the response was complete'
    if (code === 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
      return `no listener on this port has the name ${serverNameOf(this.#call.host ?? hostOf(this.#listener)) ?? 'of the host, which is an address'}`
    // Messages of OpenSSL have addresses and source lines in them.
    return reason === undefined ? message : `the TLS handshake failed: ${reason}`
  }
}

/** Compressed bodies are no text, whatever they hold. */
function isText({ headers }: Answer): boolean {
  const of = (wanted: string): string | undefined => headers.find(([name]) => name === wanted)?.[1]
  return (of('content-encoding') ?? 'identity') === 'identity' && TEXT.test(of('content-type') ?? 'text/plain')
}

const TEXT =
  /^(?:text\/|application\/(?:[\w.+-]*(?:json|xml|javascript|yaml|x-ndjson|x-www-form-urlencoded|graphql)\b))/i
const LOOK_MS = 20
/** The record has the clock of a worker, and its time is rounded. */
const CLOCK_MS = 1000
