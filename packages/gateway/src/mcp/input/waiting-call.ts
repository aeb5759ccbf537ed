import { Deadline, type Deadlines } from '@portico/http'
import { objectAt } from '@portico/http/json'
import { withId, withParams } from '../edit.ts'
import type { RpcId, RpcMessage } from '../protocol.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'
import type { Leg } from './call-mail.ts'

/** The request of the client that currently receives the messages of a call. */
export interface Attendee {
  readonly sink: AnswerSink
  /** Called when the call asks for input, which ends this request. */
  asked(round: number, questions: readonly Question[]): void
}

export type Question = readonly [key: string, question: RpcMessage]

interface WaitingCallParts {
  key: string
  /** The call to the target. */
  call: LinkCall
  attendee: Attendee
  deadlines: Deadlines
  /** Called once when the call is over, successfully or not. */
  over: () => void
}

/**
 * A call whose target has sent a request to the client. It waits up to `ANSWER_MS` for a request of the client with the
 * input; then it continues until it ends, or the target asks for more.
 */
export class WaitingCall implements AnswerSink {
  readonly key: string
  readonly #parts: WaitingCallParts
  readonly #limit = new Deadline(() => this.abandon(EXPIRED))
  /** The open questions, by keys that are used once. */
  readonly #questions = new Map<string, RpcMessage>()
  #attendee: Attendee | null
  /** The end of the call, kept for the next request of the client. */
  #ending: ((sink: AnswerSink) => void) | null = null
  #round = 0
  #asked = 0
  #isOver = false

  constructor(parts: WaitingCallParts) {
    this.key = parts.key
    this.#parts = parts
    this.#attendee = parts.attendee
  }

  /** Adds a question; false when there are too many. Questions that arrive together are sent to the client together. */
  ask(question: RpcMessage): boolean {
    if (this.#isOver || this.#questions.size >= MOST_QUESTIONS) return false
    this.#asked += 1
    this.#questions.set(`input-${this.#asked}`, question)
    queueMicrotask(() => this.#passOn())
    return true
  }

  /** Lets a request resume the call: returns the target's ids of the answered questions, or null when the round is wrong. */
  attend({ round, answered }: Leg, attendee: Attendee): [key: string, id: RpcId][] | null {
    if (this.#isOver || this.#attendee !== null || round !== this.#round) return null
    this.#parts.deadlines.clear(this.#limit)
    this.#attendee = attendee
    const ids = answered.flatMap((key): [string, RpcId][] => {
      const id = this.#questions.get(key)?.id ?? null
      return this.#questions.delete(key) && id !== null ? [[key, id]] : []
    })
    queueMicrotask(() => this.#passOn())
    return ids
  }

  /** Cancels the call. */
  abandon(cause: Error): void {
    if (this.#isOver) return
    this.#finish()
    this.#parts.call.cancel(cause)
  }

  resume(): void {
    this.#parts.call.resume()
  }

  // The messages of the target.

  message(message: RpcMessage, eventId: string): boolean {
    if (this.#isOver) return true
    if (message.kind === 'response') this.#end((sink) => void sink.message(message, eventId))
    else if (message.method === 'notifications/cancelled') this.#withdraw(objectAt(message.value, 'params').requestId)
    // Messages between two requests of the client are dropped.
    else return this.#attendee?.sink.message(message, eventId) ?? true
    return true
  }

  closed(): void {
    this.#end((sink) => sink.closed())
  }

  failed(failure: TargetFailure): void {
    this.#end((sink) => sink.failed(failure))
  }

  /** Returns a message with the id and progress token of the request that resumed the call; null to drop the message. */
  forLeg(message: RpcMessage, { id, token }: Leg): RpcMessage | null {
    if (message.kind === 'response') return withId(message, id)
    const { progressToken } = objectAt(message.value, 'params')
    if (message.method !== 'notifications/progress' || progressToken === undefined) return message
    return token === null ? null : withParams(message, { progressToken: token })
  }

  #withdraw(requestId: unknown): void {
    for (const [key, { id }] of this.#questions) if (id === requestId) this.#questions.delete(key)
  }

  #end(ending: (sink: AnswerSink) => void): void {
    if (this.#isOver || this.#ending !== null) return
    this.#ending = ending
    this.#questions.clear()
    this.#passOn()
  }

  #passOn(): void {
    const attendee = this.#attendee
    if (attendee === null || this.#isOver) return
    if (this.#ending !== null) {
      this.#finish()
      this.#ending(attendee.sink)
    } else if (this.#questions.size > 0) {
      this.#attendee = null
      this.#round += 1
      this.#parts.deadlines.set(this.#limit, ANSWER_MS)
      attendee.asked(this.#round, [...this.#questions])
    }
  }

  #finish(): void {
    this.#isOver = true
    this.#attendee = null
    this.#parts.deadlines.clear(this.#limit)
    this.#parts.over()
  }
}

const EXPIRED = new Error('the client did not send the required input in time')
/** How long a client may take for its input: it may have to ask a person. */
export const ANSWER_MS = 600_000
const MOST_QUESTIONS = 100
