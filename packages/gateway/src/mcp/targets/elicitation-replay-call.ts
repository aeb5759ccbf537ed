import { randomUUID } from 'node:crypto'
import { isObject, type Json, type JsonObject, objectAt, textAt } from '@portico/http/json'
import { withId, withParams, exactMember } from '../edit.ts'
import type { Hub } from '../hub.ts'
import { canAnswer } from '../questions.ts'
import {
  requestId,
  BadMessage,
  INTERNAL_ERROR,
  makeMessage,
  readMessage,
  rpcError,
  type RpcMessage,
} from '../protocol.ts'
import type { AnswerSink, Caller, LinkCall, TargetFailure, TargetLink } from '../transport.ts'

/** The client of a session with a target of a revision without sessions. */
export interface AskedClient {
  hub: Hub
  /** The key of the client's session, so that responses of other clients are not accepted. */
  session: string
  abilities: JsonObject
}

/** Sends the client's response to the call that asked, in any worker; false when it is not a response to such a call. */
export function passAnswer({ hub, session }: AskedClient, { kind, id, bytes }: RpcMessage): boolean {
  if (kind !== 'response' || typeof id !== 'string' || !id.startsWith(MARK)) return false
  const [call = ''] = id.slice(MARK.length).split(':', 1)
  void hub.send(addressOf(session, call), bytes.toString('utf8'))
  return true
}

/**
 * A call of a client with a session to a target without sessions. When the target requires input, the questions are sent
 * to the client on the stream of the call, as servers with sessions do; then the call is repeated with the responses.
 */
export class ElicitationReplayCall implements LinkCall, AnswerSink {
  readonly #client: AskedClient
  readonly #link: TargetLink
  readonly #message: RpcMessage
  readonly #caller: Caller
  readonly #answer: AnswerSink
  #call: LinkCall | null = null
  /** The request as it was last sent to the target. */
  #sent: RpcMessage
  #questions: Questions | null = null
  #rounds = 0
  #isOver = false

  constructor(client: AskedClient, link: TargetLink, message: RpcMessage, caller: Caller, answer: AnswerSink) {
    this.#client = client
    this.#link = link
    this.#message = message
    this.#sent = message
    this.#caller = caller
    this.#answer = answer
  }

  start(): this {
    this.#call = this.#link.request(this.#sent, this.#caller, this)
    return this
  }

  cancel(cause: Error): void {
    this.#isOver = true
    this.#questions?.leave()
    this.#call?.cancel(cause)
  }

  resume(): void {
    this.#call?.resume()
  }

  opened(): void {
    this.#answer.opened?.()
  }

  message(message: RpcMessage, eventId: string): boolean {
    if (this.#isOver || message.kind !== 'response') return this.#answer.message(message, eventId)
    if (message.id !== this.#sent.id) return true
    const result = exactMember(message, 'result')
    if (result?.resultType !== 'input_required') return this.#answer.message(this.#restored(message), eventId)
    this.#ask(result)
    return true
  }

  mark(eventId: string, retryMs: number | null): void {
    this.#answer.mark?.(eventId, retryMs)
  }

  closed(): void {
    if (!this.#isOver && this.#questions === null) this.#answer.closed()
  }

  failed(failure: TargetFailure): void {
    if (this.#isOver) return
    const { error } = failure
    this.#answer.failed(error === undefined ? failure : { ...failure, error: this.#restored(error) })
  }

  #restored(message: RpcMessage): RpcMessage {
    return message.id === this.#message.id ? message : withId(message, requestId(this.#message))
  }

  #ask({ inputRequests, requestState }: JsonObject): void {
    const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
    this.#rounds += 1
    if (asked.length === 0) return this.#fail('the target is busy and asks to retry later')
    if (this.#rounds > MOST_ROUNDS) return this.#fail(`the target still requires input after ${MOST_ROUNDS} rounds`)
    const requests = asked.map(([, request]) => asRequest(request))
    const strange = requests.find((request) => request === null || !canAnswer(this.#client.abilities, request))
    if (strange !== undefined) {
      return this.#fail(`the target sent ${strange?.method ?? 'an invalid request'}, which the client cannot answer`)
    }
    const keys = asked.map(([key]) => key)
    this.#questions = new Questions(this.#client, keys, (answers) => this.#resumeCall(answers, requestState))
    for (const [at, request] of requests.entries()) {
      if (request !== null) this.#answer.message(withId(request, this.#questions.idOf(at)), '')
    }
  }

  #resumeCall(answers: JsonObject | string, requestState: Json | undefined): void {
    this.#questions = null
    if (this.#isOver) return
    if (typeof answers === 'string') return this.#fail(answers)
    // The repeated call needs a new id at the target.
    const again = withId(this.#message, `portico-${randomUUID()}`)
    this.#sent = withParams(again, { inputResponses: answers, requestState })
    this.start()
  }

  #fail(message: string): void {
    this.#isOver = true
    this.#answer.message(rpcError(this.#message.id, INTERNAL_ERROR, message), '')
    this.#answer.closed()
  }
}

/** The questions to the client, until all of them have responses. */
class Questions {
  readonly leave: () => void
  readonly #call = randomUUID()
  readonly #keys: readonly string[]
  readonly #done: (answers: JsonObject | string) => void
  readonly #answers: JsonObject = {}

  /** `done` gets the responses by key, or the reason why there are none. */
  constructor({ hub, session }: AskedClient, keys: readonly string[], done: (answers: JsonObject | string) => void) {
    this.#keys = keys
    this.#done = done
    this.leave = hub.listen(addressOf(session, this.#call), (text) => this.#take(readMessage(Buffer.from(text))))
  }

  idOf(at: number): string {
    return `${MARK}${this.#call}:${at}`
  }

  #take(answer: RpcMessage | BadMessage): void {
    if (answer instanceof BadMessage) return
    const key = this.#keys.find((_, at) => this.idOf(at) === answer.id)
    if (key === undefined) return
    const result = exactMember(answer, 'result')
    if (result === null) {
      this.leave()
      const reason = textAt(objectAt(answer.value, 'error'), 'message') ?? 'the response has no result'
      return this.#done(`the client did not answer the request of the target: ${reason.slice(0, 256)}`)
    }
    this.#answers[key] = result
    if (this.#keys.some((one) => this.#answers[one] === undefined)) return
    this.leave()
    this.#done(this.#answers)
  }
}

/** Converts an entry of `inputRequests` to a request; null when it is not valid. URL elicitations of older revisions need an id. */
function asRequest(question: Json): RpcMessage | null {
  if (!isObject(question) || typeof question.method !== 'string' || question.method === '') return null
  const { method, params } = question
  if (!isObject(params)) return makeMessage({ jsonrpc: '2.0', id: '', method })
  const page = params.mode === 'url' && { elicitationId: randomUUID() }
  return makeMessage({ jsonrpc: '2.0', id: '', method, params: { ...params, ...page } })
}

function addressOf(session: string, call: string): string {
  return `mcp-answer:${session}:${call}`
}

const MARK = 'portico-input:'
/** The most rounds of questions in one call. */
const MOST_ROUNDS = 10
