import type { HeaderBlock } from '@portico/http'
import { isObject, type JsonObject, textAt } from '@portico/http/json'
import type { RuleOutcome } from '../../pipeline/policy/authorization.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import type { UpstreamHandler, UpstreamRequest } from '@portico/http/client'
import type { AnswerPort } from './answer-port.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { INTERNAL_ERROR, makeMessage, rpcError, type RpcMessage } from '../message.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import type { MergeError } from '../merge/gather.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { Caller, LinkCall } from '../transport.ts'
import { traceCall } from './hide-forbidden.ts'
import type { Endpoint } from './endpoint.ts'
import type { Target } from '../targets/target.ts'

/** What a request of a client comes with. */
export interface EndpointCallParts {
  rx: RequestContext
  request: UpstreamRequest
  context: CallContext
  handler: UpstreamHandler
}

/** One request of a client with everything it takes to serve it. */
export class Exchange {
  readonly endpoint: Endpoint
  readonly rx: RequestContext
  readonly facts: McpRecord
  readonly session: LiveSession
  readonly answer: AnswerPort
  readonly requestMeta: JsonObject | null
  /** The outcome of every rule for the item that the request names; empty without rules. */
  rules: readonly RuleOutcome[] = []
  readonly #context: CallContext
  readonly #headers: HeaderBlock
  readonly #calls = new Set<LinkCall>()
  #endings: (() => void)[] = []
  #isCancelled = false
  #isReported = false

  /** `requestMeta`: `_meta` of the request that says who asks; null in revisions with sessions. */
  constructor(
    endpoint: Endpoint,
    { rx, request, context }: EndpointCallParts,
    session: LiveSession,
    answer: AnswerPort,
    requestMeta: JsonObject | null = null,
  ) {
    this.endpoint = endpoint
    this.rx = rx
    this.facts = rx.mcp!
    this.facts.session = session.isPassing ? '' : session.state.key
    this.session = session
    this.answer = answer
    this.requestMeta = requestMeta
    this.#context = context
    this.#headers = request.headers
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  callerFor(target: Target): Caller {
    return {
      rx: this.rx,
      context: this.#context,
      headers: forwardedHeaders(this.#headers, target.forwardsCredentials),
      version: this.session.versionAt(target),
    }
  }

  /** Called when the request is over, however it ends. */
  whenOver(ending: () => void): void {
    this.#endings.push(ending)
  }

  /** Nothing is to be said any more. */
  release(): void {
    for (const ending of this.#endings.splice(0)) ending()
  }

  /** Cancelled with the rest when the client leaves. */
  keep<Call extends LinkCall>(call: Call): Call {
    if (this.#isCancelled) call.cancel(CLIENT_GONE)
    else this.#calls.add(call)
    return call
  }

  /** The call goes on when the request is over. */
  letGo(call: LinkCall): void {
    this.#calls.delete(call)
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.answer.drop()
    for (const call of this.#calls) call.cancel(cause)
    this.#calls.clear()
    // The client did not leave when the route's time was over: the targets have failed it.
    const isTooLate = this.rx.reason === 'Timeout'
    if (this.facts.outcome === null && isTooLate) this.facts.fail('unavailable', INTERNAL_ERROR, 'request timeout')
    this.facts.outcome ??= 'cancelled'
    this.finish()
  }

  resume(): void {
    for (const call of this.#calls) call.resume()
  }

  /** A session for this one request ends with it. */
  finish(): void {
    this.report()
    this.release()
    if (!this.session.isPassing || this.requestMeta !== null) return
    this.abandon(this.endpoint.targets.filter((target) => this.session.hasLink(target)))
  }

  /** Every target may forget the session. */
  end(): void {
    this.abandon(this.endpoint.targets.filter((target) => this.session.knows(target)))
  }

  /** These targets may forget the session. */
  abandon(targets: readonly Target[]): void {
    for (const target of targets) this.session.link(target).end(this.callerFor(target))
  }

  /** Tells who watches what came of the message, once. Before the answer: with that the trace may end. */
  report(): void {
    const { facts, rx } = this
    if (this.#isReported) return
    this.#isReported = true
    if (rx.trace !== null) traceCall(rx.trace, facts)
  }

  /** What came of it, for logs and metrics. */
  note(response: RpcMessage): void {
    const { facts } = this
    facts.answeredAt = this.endpoint.now()
    const { error, result } = response.value
    if (isObject(error)) {
      facts.fail(
        'error',
        typeof error.code === 'number' ? error.code : 0,
        (textAt(error, 'message') ?? '').slice(0, 256),
      )
    } else {
      const isToolError =
        typeof result === 'object' && result !== null && 'isError' in result && result.isError === true
      facts.outcome = isToolError ? 'tool_error' : 'ok'
    }
    this.report()
  }

  /** A response that was put together here. */
  respond(request: RpcMessage, result: JsonObject): void {
    this.facts.outcome ??= 'ok'
    this.report()
    this.answer.respond(makeMessage({ jsonrpc: '2.0', id: request.id, result }), '')
    this.finish()
  }

  /** Says why nothing could be put together. */
  mergeFailed(request: RpcMessage, { target, code, message, data }: MergeError): void {
    const { rx, facts, answer } = this
    facts.fail(target === '' ? 'error' : 'unavailable', code, message)
    if (target !== '') this.leftOut(target, message)
    rx.error ??= message
    this.report()
    answer.respond(rpcError(request.id, code, message, data), '')
    this.finish()
  }

  /** A target had nothing to add. */
  leftOut(target: string, message: string): void {
    this.endpoint.log.warn('target failed', { target, error: message })
    this.rx.trace?.emit({ type: 'mcpCall', target, method: this.facts.method, error: message }, 'warn')
  }

  /** Answers with an error in place of a response. */
  refuse(
    request: RpcMessage,
    status: number,
    code: number,
    message: string,
    outcome: McpRecord['outcome'] = 'error',
  ): void {
    this.facts.fail(outcome ?? 'error', code, message)
    this.report()
    this.answer.respond(rpcError(request.id, code, message), '', status)
    this.finish()
  }
}

const CLIENT_GONE = new Error('the client left')
