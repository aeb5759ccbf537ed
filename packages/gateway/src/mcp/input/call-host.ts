import { containedWork } from '@portico/http/faults'
import type { Hub } from '../hub.ts'
import { Flow } from '../flow.ts'
import { RemoteWaiter } from '../remote/remote-waiter.ts'
import type { AnswerSink } from '../transport.ts'
import { callAddress, type CallAsk, type CallReply, type Leg } from './call-mail.ts'
import type { WaitingCall } from './waiting-call.ts'

const LEFT = new Error('the client left')
const MAX_HELD_BYTES = 1024 * 1024

/** Lets any worker that gets the client's next request resume a waiting call, until `close` is called. */
export class CallHost {
  readonly close: () => void
  readonly #call: WaitingCall
  readonly #hub: Hub
  readonly #flow: Flow
  #current: { reply: string; waiter: RemoteWaiter } | null = null
  #isFull = false

  constructor(call: WaitingCall, hub: Hub) {
    this.#call = call
    this.#hub = hub
    this.#flow = new Flow({
      maxBytes: MAX_HELD_BYTES,
      full: () => (this.#isFull = true),
      drained: () => {
        this.#isFull = false
        call.resume()
      },
    })
    this.close = hub.listen(callAddress(call.key), (text) => this.#read(JSON.parse(text) as CallAsk))
  }

  #read(message: CallAsk): void {
    if (message.ask === 'attend') this.#attend(message.reply, message.leg)
    else if (message.ask === 'leave') this.#leave(message.reply)
    else if (message.ask === 'took' && this.#current?.reply === message.reply) {
      this.#current.waiter.took(message.bytes)
    }
  }

  #attend(reply: string, leg: Leg): void {
    const waiter = new RemoteWaiter(
      0,
      (message) => this.#answer(reply, message),
      () => {},
    )
    waiter.flow = this.#flow
    const ids = this.#call.attend(leg, {
      sink: this.#sinkFor(waiter, leg),
      asked: (round, questions) => {
        this.#current = null
        const texts = questions.map(([key, { bytes }]): [string, string] => [key, bytes.toString('utf8')])
        this.#answer(reply, { kind: 'asks', round, questions: texts })
        waiter.closed()
      },
    })
    if (ids === null) return this.#answer(reply, { kind: 'refused' })
    this.#current = { reply, waiter }
    this.#answer(reply, { kind: 'ready', ids })
  }

  #sinkFor(waiter: RemoteWaiter, leg: Leg): AnswerSink {
    return {
      message: (message) => {
        const said = this.#call.forLeg(message, leg)
        if (said?.kind === 'response') waiter.response(said)
        else if (said !== null) waiter.message(said)
        return !this.#isFull
      },
      closed: () => waiter.closed(),
      failed: ({ code, message }) => waiter.failed({ code, message }),
    }
  }

  #answer(reply: string, message: CallReply): void {
    const sent = this.#hub.send(reply, JSON.stringify(message)).then((isTaken) => {
      if (!isTaken) this.#leave(reply)
    })
    containedWork('request', sent)
  }

  /** Cancels the call when the client has closed the stream of the request that resumed the call. */
  #leave(reply: string): void {
    if (this.#current?.reply !== reply) return
    this.#current.waiter.drop()
    this.#current = null
    this.#call.abandon(LEFT)
  }
}
