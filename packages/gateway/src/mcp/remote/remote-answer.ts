import { BadMessage, readMessage } from '../message.ts'
import { Outbox } from '../outbox.ts'
import type { AnswerSink } from '../transport.ts'
import type { CallAnswer } from './remote-waiter.ts'

/** The near end of a `RemoteWaiter`: gives its messages to a sink, and says how many have found their way. */
export class RemoteAnswer {
  readonly #outbox: Outbox
  #isOver = false

  /** `took` is told now and then how many bytes have left. */
  constructor(sink: AnswerSink, took: (bytes: number) => void) {
    let taken = 0
    this.#outbox = new Outbox(sink, (bytes) => {
      taken += bytes
      if (taken < REPORT_BYTES || this.#isOver) return
      took(taken)
      taken = 0
    })
  }

  /** Whether nothing follows. */
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

  /** Nobody waits any more. */
  drop(): void {
    this.#isOver = true
    this.#outbox.drop()
  }
}

/** A quarter of what is sent ahead. */
const REPORT_BYTES = 64 * 1024
