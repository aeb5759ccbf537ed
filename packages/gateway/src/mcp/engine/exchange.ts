import type { HeaderBlock } from '@portico/http'
import { isObject, type JsonObject, textAt } from '@portico/http/json'
import type { RuleOutcome } from '../../pipeline/policy/authorization.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import type { UpstreamHandler, UpstreamRequest } from '@portico/http/client'
import type { AnswerPort } from './answer-port.ts'
import { INTERNAL_ERROR, makeMessage, rpcError, type RpcMessage } from '../protocol.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import type { MergeError } from '../merge/gather.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { Caller, LinkCall } from '../transport.ts'
import { traceCall } from './trace.ts'
import type { Endpoint } from './endpoint.ts'
import type { Target } from '../targets/target.ts'
import { isCredentialHeader } from '../../redaction/credential-names.ts'

/** The parts of a client's request that the pipeline hands to the endpoint. */
export interface EndpointCallParts {
  rx: RequestContext
  request: UpstreamRequest
  context: CallContext
  handler: UpstreamHandler
}

/** One request of a client, with the state that serving it needs. */
export class Exchange {
  readonly endpoint: Endpoint
  readonly rx: RequestContext
  readonly record: McpRecord
  readonly session: LiveSession
  readonly answer: AnswerPort
  readonly requestMeta: JsonObject | null
  /** The outcome of every authorization rule for the requested item; empty without rules. */
  rules: readonly RuleOutcome[] = []
  readonly #context: CallContext
  readonly #headers: HeaderBlock
  readonly #calls = new Set<LinkCall>()
  #endings: (() => void)[] = []
  #isCancelled = false
  #isReported = false

  /** `requestMeta`: the `_meta` with the client's info and capabilities; null in revisions with sessions. */
  constructor(
    endpoint: Endpoint,
    { rx, request, context }: EndpointCallParts,
    session: LiveSession,
    answer: AnswerPort,
    requestMeta: JsonObject | null = null,
  ) {
    this.endpoint = endpoint
    this.rx = rx
    this.record = rx.mcp!
    this.record.session = session.isPassing ? '' : session.state.key
    this.session = session
    this.answer = answer
    this.requestMeta = requestMeta
    this.#context = context
    this.#headers = request.headers
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  targetNamed(name: string): Target {
    const found = this.endpoint.targets.find((target) => target.name === name)
    if (found === undefined) throw new Error(`no MCP target ${name}`)
    return found
  }

  callerFor(target: Target): Caller {
    return {
      rx: this.rx,
      context: this.#context,
      headers: forwardedHeaders(this.#headers, target.forwardsCredentials),
      version: this.session.versionAt(target),
    }
  }

  /** Registers a function that is called once when the request ends, successfully or not. */
  whenOver(ending: () => void): void {
    this.#endings.push(ending)
  }

  /** Runs the functions registered with `whenOver`. */
  release(): void {
    for (const ending of this.#endings.splice(0)) ending()
  }

  /** Registers a call that is cancelled when the client leaves. */
  keep<Call extends LinkCall>(call: Call): Call {
    if (this.#isCancelled) call.cancel(CLIENT_GONE)
    else this.#calls.add(call)
    return call
  }

  /** Lets the call outlive the request. */
  letGo(call: LinkCall): void {
    this.#calls.delete(call)
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.answer.drop()
    for (const call of this.#calls) call.cancel(cause)
    this.#calls.clear()
    // A timeout of the route is the fault of the targets, not a cancellation by the client.
    const isTooLate = this.rx.reason === 'Timeout'
    if (this.record.outcome === null && isTooLate) {
      const failure = { target: this.record.target, cause: 'timeout' as const, status: null }
      this.record.fail('unavailable', INTERNAL_ERROR, 'request timeout', failure)
    }
    this.record.outcome ??= 'cancelled'
    this.finish()
  }

  resume(): void {
    for (const call of this.#calls) call.resume()
  }

  /** Ends the request, and a session that lasts for this request only. */
  finish(): void {
    this.report()
    this.release()
    if (!this.session.isPassing || this.requestMeta !== null) return
    this.abandon(this.endpoint.targets.filter((target) => this.session.hasLink(target)))
  }

  /** Ends the session at every target that knows it. */
  end(): void {
    this.abandon(this.endpoint.targets.filter((target) => this.session.knows(target)))
  }

  /** Ends the session at these targets. */
  abandon(targets: readonly Target[]): void {
    for (const target of targets) this.session.link(target).end(this.callerFor(target))
  }

  /** Writes the outcome to the trace, once. Call it before the response is sent, because the trace may end with that. */
  report(): void {
    const { record, rx } = this
    if (this.#isReported) return
    this.#isReported = true
    if (rx.trace !== null) traceCall(rx.trace, record)
  }

  /** Records the outcome of a target's response, for logs and metrics. */
  note(response: RpcMessage, target: string): void {
    const { record } = this
    record.answeredAt = this.endpoint.now()
    const { error, result } = response.value
    if (isObject(error)) {
      record.fail(
        'error',
        typeof error.code === 'number' ? error.code : 0,
        (textAt(error, 'message') ?? '').slice(0, 256),
        { target, cause: 'error_response', status: null },
      )
    } else {
      const isToolError =
        typeof result === 'object' && result !== null && 'isError' in result && result.isError === true
      record.outcome = isToolError ? 'tool_error' : 'ok'
    }
    this.report()
  }

  /** Sends a result that the gateway made itself. */
  respond(request: RpcMessage, result: JsonObject): void {
    this.record.outcome ??= 'ok'
    this.report()
    this.answer.respond(makeMessage({ jsonrpc: '2.0', id: request.id, result }), '')
    this.finish()
  }

  /** Sends the error of a merge that failed. */
  mergeFailed(request: RpcMessage, { target, code, message, data, failure }: MergeError): void {
    const { rx, record, answer } = this
    record.fail(target === '' ? 'error' : 'unavailable', code, message, failure)
    if (target !== '') this.leftOut(target, message)
    rx.error ??= message
    this.report()
    answer.respond(rpcError(request.id, code, message, data), '')
    this.finish()
  }

  /** Logs a target whose part is missing from a merged response. */
  leftOut(target: string, message: string): void {
    this.endpoint.log.warn('target failed', { target, error: message })
    this.rx.trace?.emit({ type: 'mcpCall', target, method: this.record.method, error: message }, 'warn')
  }

  /** Sends the error of a target, as the response to a request that all targets serve together. */
  failFor(target: string, request: RpcMessage, code: number, message: string): void {
    this.record.fail('unavailable', code, message, { target, cause: 'error_response', status: null })
    this.#respondWithError(request, 200, code, message)
  }

  /** Sends an error of the gateway itself. */
  refuse(request: RpcMessage, status: number, code: number, message: string): void {
    this.record.fail('error', code, message)
    this.#respondWithError(request, status, code, message)
  }

  #respondWithError(request: RpcMessage, status: number, code: number, message: string): void {
    this.report()
    this.answer.respond(rpcError(request.id, code, message), '', status)
    this.finish()
  }
}

const CLIENT_GONE = new Error('the client left')

/** Returns the headers of a client's request for a target; credentials are included only if the config says so. */
function forwardedHeaders(headers: HeaderBlock, withCredentials: boolean): HeaderBlock {
  const forwarded = headers.clone()
  forwarded.removeWhere((name) => OWN.has(name) || (!withCredentials && isCredentialHeader(name)))
  // The gateway has to read responses to merge them.
  forwarded.set('accept-encoding', 'identity')
  return forwarded
}

/** Headers about the hop to the gateway: its body, session and stream, and the calling page. */
const OWN = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
  'referer',
])
