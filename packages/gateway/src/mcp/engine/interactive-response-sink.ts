import type { HeaderBlock, Source } from '@portico/http'
import { asInputRequest, ASKING_METHODS, canAnswer, digestOf, inputRequired } from '../questions.ts'
import type { Question, WaitingCall } from '../input/waiting-call.ts'
import { forClient } from '../merge/for-client.ts'
import type { RpcMessage } from '../protocol.ts'
import type { AnswerSink, LinkCall, TargetFailure } from '../transport.ts'
import type { Exchange } from './exchange.ts'
import type { Target } from '../targets/target.ts'

/** A request of a client, and the target that serves it. */
export interface AskedTarget {
  exchange: Exchange
  target: Target
  /** The request as the client sent it. */
  request: RpcMessage
}

type RawSink = (headers: HeaderBlock, body: Source) => void
/** Receives the response when the target sends no requests to the client. */
type DirectSink = Omit<AnswerSink, 'raw'> & { readonly raw: RawSink | undefined }

/**
 * Whether the response to a request can ask the client for input first. The caller has checked that the request is of a
 * revision without sessions.
 */
export function isAskable({ session }: Exchange, { method }: RpcMessage): boolean {
  return ASKING_METHODS.has(method) && Object.keys(session.abilities).length > 0
}

/** Receives the response of a target that may send requests to the client: the call then waits for the client's input. */
export class InteractiveResponseSink implements AnswerSink {
  readonly #asked: AskedTarget
  readonly #direct: DirectSink
  #call: LinkCall | null = null
  #waiting: WaitingCall | null = null

  /** `direct` receives the messages as long as the target has sent no request to the client. */
  constructor(asked: AskedTarget, direct: DirectSink) {
    this.#asked = asked
    this.#direct = direct
  }

  /** Sets the call whose response this is. */
  follow(call: LinkCall): void {
    this.#call = call
  }

  get raw(): RawSink | undefined {
    return this.#direct.raw
  }

  /** Takes a request of the target to the client; returns why the client cannot answer it, or null. */
  asked(question: RpcMessage): string | null {
    const { exchange } = this.#asked
    if (!canAnswer(exchange.session.abilities, question))
      return 'the client did not declare the capability for this request'
    if (question.isOfMany === true)
      return 'several calls are running, and the request does not say which one it belongs to'
    if (this.#call === null || exchange.isCancelled) return 'the client has left'
    this.#waiting ??= exchange.endpoint.waiting.add(this.#call, {
      sink: this.#direct,
      asked: (round, questions) => this.#letGo(round, questions),
    })
    return this.#waiting?.ask(question) === true ? null : 'too many calls wait for input of clients'
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

  /** Ends the request of the client with the required input, while the call waits. */
  #letGo(round: number, questions: readonly Question[]): void {
    const { exchange } = this.#asked
    const [waiting, call] = [this.#waiting, this.#call]
    if (waiting === null || call === null) return
    if (exchange.isCancelled) return waiting.abandon(LEFT)
    exchange.letGo(call)
    requireInput(this.#asked, { call: waiting.key, round }, questions)
  }
}

/** Responds with the input that the target requires from the client. */
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
  exchange.note(response, target.name)
  answer.respond(response, '')
  exchange.finish()
}

const LEFT = new Error('the client left')
