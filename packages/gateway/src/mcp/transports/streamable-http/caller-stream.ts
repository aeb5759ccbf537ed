import type { Waiter } from '../../conversation.ts'
import type { RpcMessage } from '../../message.ts'
import { Outbox } from '../../outbox.ts'
import { Flow } from '../../flow.ts'
import type { HostedStream } from '../../remote/session-stream.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure } from '../../transport.ts'

/**
 * What a target says on its own account to a caller that is several clients: a session has one such stream. Notices are
 * for all who listen. Many servers ask here what a call needs to know, and do not say which call.
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
  /** In the order they came. */
  readonly #requests = new Set<Waiter>()
  readonly #listeners = new Set<Waiter>()
  #whenReady: (() => void)[] | null = []
  #call: LinkCall | null = null
  #idling: NodeJS.Timeout | null = null
  #isFull = false
  #isOver = false

  /** `closed` is told when it is over, whoever ended it. */
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
        // Whoever listens does so all the same, in vain, and it is not asked for again at once.
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

  /** Kept for a while: the next call is not far. */
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
    // Whoever waits for it is told by its end.
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
const NOT_NEEDED = new Error('the stream is not needed any more')
