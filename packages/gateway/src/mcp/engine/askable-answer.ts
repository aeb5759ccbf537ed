import type { HeaderBlock, Source } from '@portico/http'
import { asInputRequest, ASKING_METHODS, canAnswer, digestOf, inputRequired } from '../questions.ts'
import type { Question, WaitingCall } from '../input/waiting-call.ts'
import { forClient } from '../merge/for-client.ts'
import type { RpcMessage } from '../message.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from '../targets/target.ts'

/** A request of a client, and who is to answer it. */
export interface AskedTarget {
  exchange: Exchange
  target: Target
  /** As the client sent it. */
  request: RpcMessage
}

export type RawSink = (headers: HeaderBlock, body: Source) => void
/** What takes an answer, where nothing is asked. */
export type DirectSink = Omit<AnswerSink, 'raw'> & { readonly raw: RawSink | undefined }

/**
 * Whether the result of a request can ask the client for input first. The request is of a revision without sessions, which
 * has `requestMeta`.
 */
export function isAskable({ session }: Exchange, { method }: RpcMessage): boolean {
  return ASKING_METHODS.has(method) && Object.keys(session.abilities).length > 0
}

/** The answer of one target that may ask the client something while it is at it: the call then waits. */
export class AskableAnswer implements AnswerSink {
  readonly #asked: AskedTarget
  readonly #direct: DirectSink
  #call: LinkCall | null = null
  #waiting: WaitingCall | null = null

  /** `direct` takes what the target says as long as nothing is asked. */
  constructor(asked: AskedTarget, direct: DirectSink) {
    this.#asked = asked
    this.#direct = direct
  }

  /** The call that this is the answer to. */
  follow(call: LinkCall): void {
    this.#call = call
  }

  get raw(): RawSink | undefined {
    return this.#direct.raw
  }

  /** Takes a question of the target; otherwise says why it cannot reach the client. */
  asked(question: RpcMessage): string | null {
    const { exchange } = this.#asked
    if (!canAnswer(exchange.session.abilities, question)) return 'it did not say that it can answer such a request'
    if (question.isOfMany === true) return 'several calls are under way, and nothing tells which of them asks'
    if (this.#call === null || exchange.isCancelled) return 'it has left'
    this.#waiting ??= exchange.endpoint.waiting.add(this.#call, {
      sink: this.#direct,
      asked: (round, questions) => this.#letGo(round, questions),
    })
    return this.#waiting?.ask(question) === true ? null : 'too many requests wait for answers of clients'
  }

  opened(): void {
    this.#direct.opened?.()
  }

  message(message: RpcMessage, eventId: string): boolean {
    return (this.#waiting ?? this.#direct).message(message, eventId)
  }

  mark(eventId: string, retryMs: number | null): void {
    if (this.#waiting === null) this.#direct.mark?.(eventId, retryMs)
  }

  closed(): void {
    ;(this.#waiting ?? this.#direct).closed()
  }

  failed(failure: TargetFailure): void {
    ;(this.#waiting ?? this.#direct).failed(failure)
  }

  /** The request of the client is over, and the call is not. */
  #letGo(round: number, questions: readonly Question[]): void {
    const { exchange } = this.#asked
    const [waiting, call] = [this.#waiting, this.#call]
    if (waiting === null || call === null) return
    if (exchange.isCancelled) return waiting.abandon(LEFT)
    exchange.letGo(call)
    requireInput(this.#asked, { call: waiting.key, round }, questions)
  }
}

/** Answers a request with what has to be known first. */
export function requireInput(
  { exchange, target, request }: AskedTarget,
  waiting: { call: string; round: number },
  questions: readonly Question[],
): void {
  const { endpoint, rx, answer, session } = exchange
  const methods = questions.map(([, { method }]) => method)
  rx.trace?.emit({ type: 'mcpInput', target: target.name, round: waiting.round, requests: methods })
  const requests = questions.map(([key, question]): [string, ReturnType<typeof asInputRequest>] => [
    key,
    asInputRequest(forClient(question, '', target.name, endpoint.namer)),
  ])
  const state = endpoint.waiting.seal({
    ...waiting,
    session: session.state.key,
    target: target.name,
    digest: digestOf(request),
  })
  const response = inputRequired(request, Object.fromEntries(requests), state)
  exchange.note(response)
  answer.respond(response, '')
  exchange.finish()
}

const LEFT = new Error('the client left')
