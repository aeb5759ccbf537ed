import type { RpcMessage } from './protocol.ts'
import type { AnswerSink, TargetFailure } from './transport.ts'
import type { Waiter } from './conversation.ts'
import type { Flow } from './flow.ts'

/** Queues messages for a sink that can pause. */
export class Outbox implements Waiter {
  /** Counts the queued bytes; null when they are not counted. */
  flow: Flow | null = null
  readonly #sink: AnswerSink
  readonly #taken: (bytes: number) => void
  #held: RpcMessage[] = []
  #heldBytes = 0
  #isStopped = false
  #isOver = false
  /** The final call to the sink, made after the queued messages. */
  #last: (() => void) | null = null

  /** `taken` is called with the size of each message that the sink took. */
  constructor(sink: AnswerSink, taken: (bytes: number) => void) {
    this.#sink = sink
    this.#taken = taken
  }

  message(message: RpcMessage): void {
    if (this.#isOver || this.#last !== null) return
    if (!this.#isStopped) return this.#give(message)
    this.#held.push(message)
    this.#hold(message.bytes.length)
  }

  response(message: RpcMessage): void {
    this.message(message)
    this.closed()
  }

  closed(): void {
    this.#finish(() => this.#sink.closed())
  }

  failed(failure: TargetFailure): void {
    this.#finish(() => this.#sink.failed(failure))
  }

  resume(): void {
    this.#isStopped = false
    while (!this.#isStopped && !this.#isOver) {
      const message = this.#held.shift()
      if (message === undefined) break
      this.#hold(-message.bytes.length)
      this.#give(message)
    }
    if (this.#last !== null && this.#held.length === 0) this.#end(this.#last)
  }

  /** Drops the queue; the sink is not called again. */
  drop(): void {
    this.#isOver = true
    this.#held = []
    this.#hold(-this.#heldBytes)
  }

  #give(message: RpcMessage): void {
    if (!this.#sink.message(message, '')) this.#isStopped = true
    this.#taken(message.bytes.length)
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    this.flow?.changed(bytes)
  }

  #finish(last: () => void): void {
    if (this.#isOver || this.#last !== null) return
    if (this.#held.length === 0) this.#end(last)
    else this.#last = last
  }

  #end(last: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    last()
  }
}
