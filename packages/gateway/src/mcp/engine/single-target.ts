import { type HeaderBlock, ObservedBody, type Source } from '@portico/http'
import type { AskedItem } from '../merge/item-methods.ts'
import { INTERNAL_ERROR, type RpcMessage } from '../protocol.ts'
import type { AnswerSink, TargetFailure } from '../transport.ts'
import { answerFailure } from './answer-failure.ts'
import { InteractiveResponseSink, isAskable } from './interactive-response-sink.ts'
import type { Exchange } from './exchange.ts'
import { callPosition, outward } from './outward.ts'
import type { Target } from '../targets/target.ts'
import { TargetCall } from './target-call.ts'
import { refuseUnknown, saysUnknown } from './unknown-item.ts'

export interface SingleTargetOptions {
  /** The request of the client. */
  request: RpcMessage
  /** The request with the names that the target knows. */
  message: RpcMessage
  /** Changes the response; without it the response is forwarded unchanged. */
  edit?: (response: RpcMessage) => RpcMessage
  /** The requested item, if rules hide items: a denial replaces the target's error for an unknown item. */
  hiddenAs?: AskedItem
}

/** Sends a request to one target, and forwards its messages to the client as they arrive. */
export function askTarget(exchange: Exchange, target: Target, options: SingleTargetOptions): void {
  exchange.record.target = target.name
  exchange.record.askedAt = exchange.endpoint.now()
  const { request, message } = options
  const direct = new DirectAnswer(exchange, target, options)
  const canAsk = exchange.requestMeta !== null && isAskable(exchange, request)
  const askable = canAsk ? new InteractiveResponseSink({ exchange, target, request }, direct) : null
  const call = new TargetCall(exchange.session, target, message, exchange.callerFor(target), askable ?? direct)
  askable?.follow(call)
  exchange.keep(call).start()
}

export class DirectAnswer implements AnswerSink {
  readonly #exchange: Exchange
  readonly #target: Target
  readonly #options: SingleTargetOptions
  /** Whether the client has an event id to resume from if this stream breaks. */
  #canGoOn = false
  /** An SSE id that would begin the event stream, held until the response is known to be no denial. */
  #heldMark: (() => void) | null = null

  constructor(exchange: Exchange, target: Target, options: SingleTargetOptions) {
    this.#exchange = exchange
    this.#target = target
    this.#options = options
  }

  /** Forwards the response body unread; present when no code has to read the response and the stream has not begun. */
  get raw(): ((headers: HeaderBlock, body: Source) => void) | undefined {
    const { answer, endpoint } = this.#exchange
    const { isMerged, isPrefixed } = endpoint.namer
    if (this.#options.edit !== undefined || this.#options.hiddenAs !== undefined || isMerged || isPrefixed)
      return undefined
    return answer.raw === undefined || answer.hasBegun ? undefined : (_headers, body) => this.#pass(body)
  }

  message(message: RpcMessage, eventId: string): boolean {
    const { request, edit } = this.#options
    const { answer } = this.#exchange
    const id = this.#position(eventId)
    if (message.kind !== 'response') {
      this.#releaseMark()
      return answer.say(this.#outward(message), id)
    }
    // A response to another request would confuse the client.
    if (message.id !== request.id) return true
    this.#exchange.note(message, this.#target.name)
    if (this.#hides(message)) return this.#sayUnknown()
    this.#releaseMark()
    answer.respond(edit === undefined ? this.#outward(message) : edit(message), id)
    this.#exchange.finish()
    return true
  }

  mark(eventId: string, retryMs: number | null): void {
    const { answer } = this.#exchange
    const id = this.#position(eventId)
    if (this.#options.hiddenAs === undefined || answer.hasBegun) return answer.mark(id, retryMs)
    this.#heldMark = () => answer.mark(id, retryMs)
  }

  closed(): void {
    const { answer } = this.#exchange
    if (answer.isOver) return
    // The target closed the stream on purpose: the client resumes with the last event id.
    if (this.#canGoOn) this.#letGo()
    else this.failed({ code: 'bad_answer', cause: 'lost', message: 'it closed the stream without an answer' })
  }

  failed(failure: TargetFailure): void {
    if (failure.code === 'broken' && this.#canGoOn) this.#letGo()
    else if (failure.code === 'refused' && failure.error !== undefined && this.#hides(failure.error)) {
      this.#exchange.note(failure.error, this.#target.name)
      this.#sayUnknown()
    } else answerFailure(this.#exchange, this.#options.request, this.#target, failure)
  }

  #hides(response: RpcMessage): boolean {
    const { hiddenAs, request } = this.#options
    return hiddenAs !== undefined && saysUnknown(response, request.method)
  }

  #sayUnknown(): true {
    const { request, hiddenAs } = this.#options
    this.#heldMark = null
    if (hiddenAs !== undefined) refuseUnknown(this.#exchange, request, hiddenAs)
    return true
  }

  #releaseMark(): void {
    this.#heldMark?.()
    this.#heldMark = null
  }

  #letGo(): void {
    this.#releaseMark()
    this.#exchange.answer.end()
    this.#exchange.finish()
  }

  #pass(body: Source): void {
    const { answer, record, endpoint } = this.#exchange
    const over = (_whole: boolean, cause: Error | null): void => {
      record.answeredAt = endpoint.now()
      // The client has a part of the response and sees the fault; log, record and trace get it here.
      if (cause === null) record.outcome ??= 'ok'
      else this.#note(`the answer broke off: ${cause.message}`)
      this.#exchange.finish()
    }
    answer.raw!(new ObservedBody(body, { chunk() {}, over }))
  }

  #note(fault: string): void {
    const { record, rx } = this.#exchange
    const text = `target ${this.#target.name}: ${fault}`
    record.fail('unavailable', INTERNAL_ERROR, text, { target: this.#target.name, cause: 'lost', status: null })
    rx.error ??= text
  }

  #outward(message: RpcMessage): RpcMessage {
    const { isMerged, isPrefixed } = this.#exchange.endpoint.namer
    if (!isMerged && !isPrefixed) return message
    return outward(this.#exchange, this.#target, message, this.#options.request.method)
  }

  #position(eventId: string): string {
    if (eventId === '') return ''
    this.#canGoOn = true
    return callPosition(this.#exchange, this.#target, eventId)
  }
}
