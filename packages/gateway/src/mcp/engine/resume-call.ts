import { randomUUID } from 'node:crypto'
import { containedIn, follow } from '../../pipeline/call/follow.ts'
import { objectAt } from '@portico/http/json'
import { callAddress, type CallAsk, type CallReply } from '../input/call-mail.ts'
import { answersIn, ASKING_METHODS, digestOf } from '../questions.ts'
import type { Question } from '../input/waiting-call.ts'
import type { CallState } from '../input/waiting-calls.ts'
import { replyForTarget } from '../merge/item-methods.ts'
import {
  requestId,
  BadMessage,
  INVALID_PARAMS,
  makeMessage,
  readMessage,
  type RpcId,
  isSessionless,
} from '../protocol.ts'
import { RemoteAnswer } from '../remote/remote-answer.ts'
import type { LinkCall, TargetFailure } from '../transport.ts'
import { answerFailure } from './answer-failure.ts'
import { type AskedTarget, requireInput } from './interactive-response-sink.ts'
import { DirectAnswer, type SingleTargetOptions } from './single-target.ts'
import { tellTarget } from './tell.ts'

/**
 * Resumes a waiting call if the request brings input for it. The caller has checked that the request is of a revision
 * without sessions. Returns false when the request is a new call, or its `requestState` belongs to a target without
 * sessions.
 */
export function resumeCall(asked: AskedTarget, options: SingleTargetOptions): boolean {
  const { exchange, target, request } = asked
  const { endpoint, session } = exchange
  const { requestState } = objectAt(request.value, 'params')
  if (typeof requestState !== 'string' || !ASKING_METHODS.has(request.method)) return false
  const state = endpoint.waiting.open(requestState)
  if (state === null && isSessionless(session.versionAt(target))) return false
  const isTheirs =
    state !== null &&
    state.session === session.state.key &&
    state.target === target.name &&
    state.digest === digestOf(request)
  if (!isTheirs) {
    refuse(asked)
    return true
  }
  exchange.record.target = target.name
  exchange.record.askedAt = endpoint.now()
  exchange.keep(new ResumedCall(asked, state, new DirectAnswer(exchange, target, options))).start()
  return true
}

/** Refuses a `requestState` with one text for all causes, which does not tell whether the call exists. */
function refuse({ exchange, request }: AskedTarget): void {
  exchange.refuse(request, 200, INVALID_PARAMS, 'Invalid or expired requestState: make a new call')
}

/** A request of a client that resumes a waiting call, in whichever worker that call is. */
class ResumedCall implements LinkCall {
  readonly #asked: AskedTarget
  readonly #state: CallState
  readonly #direct: DirectAnswer
  readonly #reply = `mcp-leg:${randomUUID()}`
  readonly #answers: ReturnType<typeof answersIn>
  readonly #rest: RemoteAnswer
  #questions: { round: number; list: Question[] } | null = null
  /** The number of responses being sent to the target. */
  #telling = 0
  #whenTold: (() => void) | null = null
  #watching: NodeJS.Timeout | null = null
  #unlisten: (() => void) | null = null
  #isOver = false

  constructor(asked: AskedTarget, state: CallState, direct: DirectAnswer) {
    this.#asked = asked
    this.#state = state
    this.#direct = direct
    this.#answers = answersIn(asked.request)
    this.#rest = new RemoteAnswer(
      {
        message: (message, eventId) => direct.message(message, eventId),
        closed: () => this.#closed(),
        failed: (failure) => direct.failed(failure),
      },
      (bytes) => this.#tellHost({ ask: 'took', reply: this.#reply, bytes }),
    )
  }

  start(): void {
    const { request, exchange } = this.#asked
    this.#unlisten = exchange.endpoint.hub.listen(this.#reply, (text) =>
      containedIn(exchange.rx, () => this.#take(JSON.parse(text) as CallReply)),
    )
    const { progressToken } = objectAt(objectAt(request.value, 'params'), '_meta')
    const token = typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : null
    const leg = { round: this.#state.round, answered: [...this.#answers.keys()], id: requestId(request), token }
    this.#tellHost({ ask: 'attend', reply: this.#reply, leg }, (isTaken) => {
      if (!isTaken) this.#refuse()
    })
    this.#watching = setInterval(() => this.#watch(), WATCH_MS).unref()
  }

  cancel(): void {
    if (!this.#leave()) return
    this.#rest.drop()
    this.#tellHost({ ask: 'leave', reply: this.#reply })
  }

  resume(): void {
    this.#rest.resume()
  }

  #take(reply: CallReply): void {
    if (this.#isOver) return
    switch (reply.kind) {
      case 'ready':
        return this.#tell(reply.ids)
      case 'refused':
        return this.#refuse()
      case 'asks':
        this.#questions = { round: reply.round, list: reply.questions.flatMap(readQuestion) }
        return
      case 'said':
      case 'closed':
      case 'failed':
        if (this.#rest.take(reply)) this.#leave()
    }
  }

  /** Sends the client's responses to the target, with the credentials of this request. */
  #tell(ids: readonly (readonly [key: string, id: RpcId])[]): void {
    const { exchange, target } = this.#asked
    for (const [key, id] of ids) {
      const result = this.#answers.get(key)
      if (result === undefined) continue
      const answer = replyForTarget(makeMessage({ jsonrpc: '2.0', id, result }), target.name, exchange.endpoint.namer)
      this.#telling += 1
      tellTarget(exchange, target, answer, (failure) => this.#told(failure))
    }
  }

  #told(failure: TargetFailure | null): void {
    const { exchange, target, request } = this.#asked
    this.#telling -= 1
    if (failure !== null && !exchange.answer.isOver) {
      this.cancel()
      answerFailure(exchange, request, target, failure)
    } else if (this.#telling === 0) {
      this.#whenTold?.()
    }
  }

  #refuse(): void {
    if (this.#leave()) refuse(this.#asked)
  }

  #closed(): void {
    if (this.#questions === null) return this.#direct.closed()
    const { round, list } = this.#questions
    // Waits until the responses have reached the target, or have failed.
    this.#whenTold = () => {
      if (!this.#asked.exchange.isCancelled) requireInput(this.#asked, { call: this.#state.call, round }, list)
    }
    if (this.#telling === 0) this.#whenTold()
  }

  #watch(): void {
    this.#tellHost({ ask: 'alive', reply: this.#reply }, (isTaken) => {
      if (isTaken || !this.#leave()) return
      this.#rest.take({ kind: 'failed', call: 0, failure: DIED })
    })
  }

  /** Stops listening; false when the call was over already. */
  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    if (this.#watching !== null) clearInterval(this.#watching)
    this.#unlisten?.()
    return true
  }

  #tellHost(message: CallAsk, then: (isTaken: boolean) => void = () => {}): void {
    const { exchange } = this.#asked
    follow(exchange.rx, exchange.endpoint.hub.send(callAddress(this.#state.call), JSON.stringify(message)).then(then))
  }
}

function readQuestion([key, text]: [key: string, text: string]): Question[] {
  const question = readMessage(Buffer.from(text))
  return question instanceof BadMessage ? [] : [[key, question]]
}

const DIED: TargetFailure = { code: 'broken', message: 'the worker of the waiting call died' }
/** The interval of checks that the worker of the waiting call is alive. */
const WATCH_MS = 2_000
