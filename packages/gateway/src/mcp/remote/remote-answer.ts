import { BadMessage, readMessage } from '../protocol.ts'
import { Outbox } from '../outbox.ts'
import type { AnswerSink } from '../transport.ts'
import type { CallAnswer } from './remote-waiter.ts'

/** The receiving side of a `RemoteWaiter`: passes its messages to a sink, and reports the bytes that the sink took. */
export class RemoteAnswer {
  readonly #outbox: Outbox
  #isOver = false

  /** `took` is called with the bytes that the sink took, in batches. */
  constructor(sink: AnswerSink, took: (bytes: number) => void) {
    let taken = 0
    this.#outbox = new Outbox(sink, (bytes) => {
      taken += bytes
      if (taken < REPORT_BYTES || this.#isOver) return
      took(taken)
      taken = 0
    })
  }

  /** Takes a message of the waiter; true when nothing follows. */
  take(message: CallAnswer): boolean {
    if (message.kind === 'said') {
      this.#isOver = message.isLast
      const said = readMessage(Buffer.from(message.text))
      if (said instanceof BadMessage) this.#outbox.failed({ code: 'bad_answer', message: said.message })
      else if (message.isLast) this.#outbox.response(said)
      else this.#outbox.message(message.isOfMany ? { ...said, isOfMany: true } : said)
      return message.isLast
    }
    this.#isOver = true
    if (message.kind === 'closed') this.#outbox.closed()
    else this.#outbox.failed(message.failure)
    return true
  }

  resume(): void {
    this.#outbox.resume()
  }

  /** Drops the queue; the sink is not called again. */
  drop(): void {
    this.#isOver = true
    this.#outbox.drop()
  }
}

/** A quarter of the send window of `RemoteWaiter`. */
const REPORT_BYTES = 64 * 1024
