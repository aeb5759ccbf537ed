import { Deadline, type Deadlines } from '@portico/http'
import { objectAt } from '@portico/http/json'
import { withId, withParams } from '../edit.ts'
import type { RpcId, RpcMessage } from '../message.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'
import type { Leg } from './call-mail.ts'

/** Who goes on with a call: one request of the client. */
export interface Attendee {
  readonly sink: AnswerSink
  /** The call asks for something, and lets go of this request with it. */
  asked(round: number, questions: readonly Question[]): void
}

export type Question = readonly [key: string, question: RpcMessage]

export interface WaitingCallParts {
  key: string
  /** At the target. */
  call: LinkCall
  attendee: Attendee
  deadlines: Deadlines
  /** Told once it is over, however it ends. */
  over: () => void
}

/**
 * A call whose target has asked the client something. It waits for a request of the client that brings the answers, for
 * as long as that may take; then it goes on, until it ends or the target asks for more.
 */
export class WaitingCall implements AnswerSink {
  readonly key: string
  readonly #parts: WaitingCallParts
  readonly #limit = new Deadline(() => this.abandon(EXPIRED))
  /** Not answered yet, by keys that are used once. */
  readonly #questions = new Map<string, RpcMessage>()
  #attendee: Attendee | null
  /** How the call ended while nobody was there. */
  #ending: ((sink: AnswerSink) => void) | null = null
  #round = 0
  #asked = 0
  #isOver = false

  constructor(parts: WaitingCallParts) {
    this.key = parts.key
    this.#parts = parts
    this.#attendee = parts.attendee
  }

  /** Whether the question was taken. What comes at once is asked at once. */
  ask(question: RpcMessage): boolean {
    if (this.#isOver || this.#questions.size >= MOST_QUESTIONS) return false
    this.#asked += 1
    this.#questions.set(`input-${this.#asked}`, question)
    queueMicrotask(() => this.#passOn())
    return true
  }

  /** What the target calls the questions that the request answers; null when it comes too late, or too early. */
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

  /** Nobody wants it any more. */
  abandon(cause: Error): void {
    if (this.#isOver) return
    this.#finish()
    this.#parts.call.cancel(cause)
  }

  resume(): void {
    this.#parts.call.resume()
  }

  // What the target says.

  message(message: RpcMessage, eventId: string): boolean {
    if (this.#isOver) return true
    if (message.kind === 'response') this.#end((sink) => void sink.message(message, eventId))
    else if (message.method === 'notifications/cancelled') this.#withdraw(objectAt(message.value, 'params').requestId)
    // What is said between two requests of the client finds nobody.
    else return this.#attendee?.sink.message(message, eventId) ?? true
    return true
  }

  closed(): void {
    this.#end((sink) => sink.closed())
  }

  failed(failure: TargetFailure): void {
    this.#end((sink) => sink.failed(failure))
  }

  /** A message about the first request of the client, for the one that goes on; null when it has no use for it. */
  inWordsOf(message: RpcMessage, { id, token }: Leg): RpcMessage | null {
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

const EXPIRED = new Error('the client did not come back with answers')
/** How long a client may take for its answers: people are asked. */
export const ANSWER_MS = 600_000
const MOST_QUESTIONS = 100
