import type { Waiter } from '../../conversation.ts'
import type { RpcMessage } from '../../protocol.ts'
import { Outbox } from '../../outbox.ts'
import { Flow } from '../../flow.ts'
import type { HostedStream } from '../../remote/session-stream.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../../transport.ts'

/**
 * The stream of messages outside of requests, shared by several clients, because a session has only one such stream.
 * Notifications go to all listeners. Requests go to the oldest running call: many servers send them here without saying
 * which call they belong to.
 */
export class CallerStream implements HostedStream {
  readonly flow = new Flow({
    maxBytes: MAX_HELD_BYTES,
    full: () => (this.#isFull = true),
    drained: () => {
      this.#isFull = false
      this.#call?.resume()
    },
  })
  readonly #listen: (caller: Caller, answer: AnswerSink) => LinkCall
  readonly #closed: () => void
  /** The running calls, oldest first. */
  readonly #requests = new Set<Waiter>()
  readonly #listeners = new Set<Waiter>()
  #whenReady: (() => void)[] | null = []
  #call: LinkCall | null = null
  #idling: NodeJS.Timeout | null = null
  #isFull = false
  #isOver = false

  /** `closed` is called when the stream ends, for any reason. */
  constructor(listen: (caller: Caller, answer: AnswerSink) => LinkCall, closed: () => void) {
    this.#listen = listen
    this.#closed = closed
  }

  open(caller: Caller): void {
    this.#call = this.#listen(caller, {
      opened: () => this.#tellReady(),
      message: (message) => this.#take(message),
      closed: () => this.#close(null),
      failed: (failure) => {
        // Listeners stay without messages, so that the stream is not requested again at once.
        if (failure.code === 'unsupported') this.#tellReady()
        else this.#close(failure)
      },
    })
    this.#idleSoon()
  }

  attend(request: RpcMessage | null, sink: AnswerSink, ready: (endpoint: string) => void): LinkCall {
    const outbox = new Outbox(sink, () => {})
    outbox.flow = this.flow
    this.join(request, outbox, ready)
    return {
      cancel: () => {
        outbox.drop()
        this.leave(outbox)
      },
      resume: () => outbox.resume(),
    }
  }

  join(request: RpcMessage | null, waiter: Waiter, ready: (endpoint: string) => void): void {
    if (this.#idling !== null) clearTimeout(this.#idling)
    this.#idling = null
    if (request === null) this.#listeners.add(waiter)
    else this.#requests.add(waiter)
    if (this.#whenReady === null) ready('')
    else this.#whenReady.push(() => ready(''))
  }

  leave(waiter: Waiter): void {
    this.#requests.delete(waiter)
    this.#listeners.delete(waiter)
    this.#idleSoon()
  }

  where(done: (endpoint: string | null) => void): void {
    done(this.#isOver ? null : '')
  }

  stop(): void {
    this.#close(null)
  }

  #take(message: RpcMessage): boolean {
    if (message.kind === 'request') {
      const [first = [...this.#listeners].at(-1)] = this.#requests
      first?.message(this.#requests.size > 1 ? { ...message, isOfMany: true } : message)
    } else if (message.kind === 'notification') {
      for (const listener of this.#listeners) listener.message(message)
    }
    return !this.#isFull
  }

  #tellReady(): void {
    const waiting = this.#whenReady ?? []
    this.#whenReady = null
    for (const ready of waiting) ready()
  }

  /** Closes the stream after a delay, because another call may follow soon. */
  #idleSoon(): void {
    if (this.#isOver || this.#idling !== null || this.#requests.size + this.#listeners.size > 0) return
    this.#idling = setTimeout(() => this.#close(null), IDLE_MS).unref()
  }

  #close(failure: TargetFailure | null): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#idling !== null) clearTimeout(this.#idling)
    this.#closed()
    this.#call?.cancel(NOT_NEEDED)
    // Waiting calls learn of the end through `closed` or `failed` below.
    this.#whenReady = null
    for (const waiter of [...this.#requests, ...this.#listeners]) {
      if (failure === null) waiter.closed()
      else waiter.failed(failure)
    }
    this.#requests.clear()
    this.#listeners.clear()
  }
}

const IDLE_MS = 30_000
const MAX_HELD_BYTES = 1024 * 1024
const NOT_NEEDED = new Error('the stream is no longer needed')
