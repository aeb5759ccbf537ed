import { emptySource, HeaderBlock, type RawConnection, type Source, sourceOf } from '@portico/http'
import { LlmRecord, type ProviderAttempt } from '../../records/llm-record.ts'
import {
  type ChatError,
  type ClientFormat,
  type FormatName,
  type JsonObject,
  STREAM_BROKEN,
  type StreamFaultCode,
  Unsupported,
  type UpstreamFormat,
} from '@portico/chat'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { speaksAgainst } from '../../pipeline/call/unhealthy.ts'
import {
  type EndpointCall,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamResponse,
} from '@portico/http/client'
import { decodedResponse } from './decode-body.ts'
import { type AnswerFaultCode, noteAnswerFault } from './note-answer-fault.ts'
import type { GuardNote, Rejection } from '../../llm/guards/guard.ts'
import type { ReadyProvider } from './provider.ts'
import { sendTo } from './send.ts'
import type { ChosenProvider, ProviderGroups } from './select-provider.ts'
import { redactHeaders, redactRepeated } from '../../redaction/repeated-credentials.ts'

/** The services that all calls of one backend share. */
export interface CallServices {
  upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>>
  providers: ProviderGroups
  now: () => number
  clock: () => number
  newId: (prefix: string) => string
  maxBytes: number
  bug: (error: unknown) => void
  /** Keepalive objects; never read, they keep V8's optimized code for their shapes. */
  specimens: readonly object[]
}

export interface CallParts {
  rx: RequestContext
  /** The headers of the request after the policies of the route. */
  headers: HeaderBlock
  context: CallContext
  handler: UpstreamHandler
}

/** A call that is tried at one provider after the other until a provider has begun to respond. */
export abstract class TriedCall implements UpstreamCall, UpstreamHandler {
  protected readonly rx: RequestContext
  protected readonly headers: HeaderBlock
  protected readonly services: CallServices
  protected readonly facts: LlmRecord
  protected readonly handler: UpstreamHandler
  protected visit: EndpointCall | null = null
  #provider: ReadyProvider | null = null
  #attempt: ProviderAttempt | null = null
  #outgoing: OutgoingRequest | null = null
  /** Whether the client has its response, or has left. */
  protected isOver = false
  readonly #context: CallContext
  readonly #tried = new Set<ReadyProvider>()
  #call: UpstreamCall | null = null
  #body: Source | null = null

  constructor({ rx, headers, context, handler }: CallParts, services: CallServices) {
    this.rx = rx
    this.headers = headers
    this.services = services
    this.facts = rx.llm ??= new LlmRecord()
    this.#context = context
    this.handler = handler
  }

  /** Calls the provider: ends in `send`, or in a response. */
  protected abstract ask(provider: ReadyProvider): void
  /** Handles a response that is final and does not fail over. */
  protected abstract answered(response: UpstreamResponse): void
  protected abstract readonly format: Pick<ClientFormat, 'encodeError'>

  start(): void {
    const chosen = this.services.providers.next(this.#tried)
    if (chosen === null) this.refuse({ status: 503, kind: 'api', message: 'no healthy backends' })
    else this.#begin(chosen)
  }

  cancel(cause: Error): void {
    this.isOver = true
    if (cause instanceof UpstreamError) {
      this.visit?.failed(cause)
      this.#ended(cause.code, true)
    } else this.visit?.ended()
    if (this.#attempt?.outcome === '') this.#ended('cancelled', false)
    this.#call?.cancel(cause)
    this.#body?.cancel(cause)
  }

  // Requests to a provider.

  #begin({ provider, visit }: ChosenProvider): void {
    this.#tried.add(provider)
    this.visit?.ended()
    this.visit = visit
    this.#provider = provider
    this.#attempt = null
    this.#outgoing = null
    this.facts.provider = provider.vendor.telemetryName
    this.facts.providerName = provider.name
    // Values of an earlier try.
    this.facts.usage = {}
    this.facts.responseModel = ''
    this.facts.responseId = ''
    this.facts.finishReason = ''
    this.ask(provider)
  }

  /** Records the outcome of the current attempt for logs and metrics. */
  #ended(outcome: string, hasFailed: boolean): void {
    if (this.#attempt === null) return
    this.#attempt.outcome = outcome
    this.#attempt.hasFailed = hasFailed
  }

  /** The number of providers tried so far. Callers compare it to detect that the call has moved to another try. */
  protected get tries(): number {
    return this.#tried.size
  }

  /** Whether an untried provider is left. */
  protected get hasOthers(): boolean {
    return this.#tried.size < this.services.providers.count
  }

  /** Sends a request; a GET when `bytes` is null. */
  protected send(provider: ReadyProvider, call: ProviderCall, bytes: Buffer | null): void {
    const headers = this.headers.clone()
    // Headers that describe the client's original body.
    headers.remove('content-length')
    headers.remove('content-encoding')
    if (bytes === null) headers.remove('content-type')
    else {
      headers.remove('content-type')
      headers.addChecked('content-type', 'application/json')
    }
    // Usage cannot be read from a compressed response.
    headers.remove('accept-encoding')
    headers.addChecked('accept-encoding', 'identity')
    this.sendRequest(provider, call, {
      method: bytes === null ? 'GET' : 'POST',
      target: '',
      authority: '',
      headers,
      body: bytes === null ? emptySource : sourceOf(bytes),
      upgrade: '',
      teTrailers: false,
    })
  }

  protected sendRequest(provider: ReadyProvider, call: ProviderCall, outgoing: OutgoingRequest): void {
    const { rx, services } = this
    this.facts.requestModel = call.model
    this.facts.streaming = call.stream
    this.#outgoing = outgoing
    // A job may send several requests to one provider.
    this.#attempt ??= this.facts.asked(provider.name, provider.vendor.telemetryName)
    const tries = this.tries
    const isWanted = (): boolean => !this.isOver && this.tries === tries
    sendTo(provider, call, {
      outgoing,
      rx,
      context: this.#context,
      handler: this,
      isWanted,
      bug: services.bug,
      refused: (why) => (why instanceof Unsupported ? this.refuseField(why) : this.#refuseFailure(why)),
      // A response may have come, and another provider may have been tried, before `sendTo` returned.
      sent: (sent) => {
        if (isWanted()) this.#call = sent
      },
    })
  }

  // Responses from a provider.

  informed(): void {}

  responded(response: UpstreamResponse): void {
    if (this.isOver) return response.body.cancel(NOT_NEEDED)
    const { status } = response
    this.rx.trace?.callEnded(status, null)
    if (this.goesElsewhere(this.judged(response), `status ${status}`)) return response.body.cancel(NOT_NEEDED)
    if (status >= 300 && status < 400) {
      response.body.cancel(NOT_NEEDED)
      return this.refuseAnswer(redirected(status), 'provider_redirected')
    }
    const decoded = decodedResponse(response)
    if (decoded !== null) return this.answered(decoded)
    response.body.cancel(NOT_NEEDED)
    if (!this.failsOver(UNREADABLE, response.headers)) this.refuseAnswer(UNREADABLE, 'answer_unreadable')
  }

  /** Judges the provider by a response, for its health, for logs and for metrics. */
  protected judged(response: Pick<UpstreamResponse, 'status' | 'headers'>, outcome?: AnswerFault): Judgement {
    const { status } = response
    const isUnhealthy = speaksAgainst(this.#provider?.connection.unhealthyCondition ?? null, this.rx, response)
    this.visit?.answered(isUnhealthy, status)
    const isRedirect = status >= 300 && status < 400
    const movesOn =
      isUnhealthy || isRedirect || status === 429 || status >= 500 || (this.rx.retry?.codes.has(status) ?? false)
    this.#ended(outcome ?? String(status), movesOn)
    return { movesOn }
  }

  /** Handles a response whose body reports an error; returns true when the call fails over. */
  protected failsOver(error: ChatError, headers: HeaderBlock): boolean {
    return this.goesElsewhere(this.faulted(error, headers), this.hidden(error.message))
  }

  /**
   * Judges the provider by an error in the body: an error counts as its status would, and a broken stream counts as a
   * failure whatever the unhealthy condition says.
   */
  protected faulted(error: ChatError, headers: HeaderBlock): Judgement {
    if (error.code === STREAM_BROKEN) this.visit?.failed()
    const isUnreadable = error === UNREADABLE || error.code === STREAM_BROKEN
    return this.judged({ status: error.status, headers }, isUnreadable ? 'unreadable' : 'error_in_body')
  }

  protected upgradedTo(status: number): void {
    this.#ended(String(status), false)
  }

  upgraded(_status: number, _headers: HeaderBlock, raw: RawConnection, _protocol: string): void {
    raw.socket.destroy()
    this.failed(new UpstreamError('bad_response', 'the provider changed the protocol', false))
  }

  failed(error: UpstreamError): void {
    if (this.isOver) return
    this.visit?.failed(error)
    this.#ended(error.code, true)
    if (this.goesElsewhere({ movesOn: true, error }, `${error.code}: ${error.message}`)) return
    this.isOver = true
    this.handler.failed(error)
  }

  /**
   * Fails over to another provider if this one is overloaded or failing and nothing was sent to the client. Returns
   * whether it did.
   */
  protected goesElsewhere({ movesOn, error }: Judgement, reason: string): boolean {
    const chosen = movesOn ? this.services.providers.next(this.#tried) : null
    if (chosen === null) return false
    const { trace } = this.rx
    if (trace !== null) {
      const from = this.facts.providerName
      if (error !== undefined) trace.callFailed(from, error)
      trace.emit({ type: 'llmFailover', from, to: chosen.provider.name, reason }, 'warn')
    }
    this.#begin(chosen)
    return true
  }

  // Responses to the client.

  protected refuseField({ field, message, details }: Unsupported): void {
    this.rx.reason = 'InvalidRequest'
    this.rx.notes = { code: 'unsupported_field', field, provider: this.facts.providerName }
    this.rx.error = `failed to process LLM request: ${field}: ${message}`
    // Not every format has a member for the name of the field.
    const error: ChatError = { status: 400, kind: 'invalid', message: `${field}: ${message}`, param: field }
    this.refuse(details === undefined ? error : { ...error, details })
  }

  #refuseFailure({ status, message, reason, reply }: Failure): void {
    this.rx.reason = reason
    if (reply === undefined) this.rx.error = message
    if (reply === undefined || reply.failure !== null) return this.refuse({ status, kind: 'api', message })
    this.visit?.ended()
    this.answerError(status, reply.headers, reply.body)
  }

  /** Replaces a response that the client cannot get with an error; logs and records have the reason. */
  protected refuseAnswer(error: ChatError, code: AnswerFaultCode, why: string = error.message): void {
    this.noteFault(code, why)
    this.refuse(error)
  }

  /** Logs, metrics and records count the request as failed by its backend. */
  protected noteFault(code: AnswerFaultCode | StreamFaultCode, message: string): void {
    noteAnswerFault(this.rx, this.facts, { code, error: this.hidden(message) })
  }

  protected refuse(error: ChatError, headers: HeaderBlock | null = null): void {
    this.visit?.ended()
    const { status, body } = this.format.encodeError(error)
    this.answerError(status, headersFor(headers, 'application/json'), Buffer.from(JSON.stringify(body)))
  }

  /** Sends an error to the client, redacted, because the text may come from the provider. */
  protected answerError(status: number, headers: HeaderBlock, body: Buffer): void {
    redactHeaders(headers, (text) => this.hidden(text))
    const text = body.toString('latin1')
    const hidden = this.hidden(text)
    if (hidden !== text) headers.remove('content-length')
    this.answer(status, headers, sourceOf(hidden === text ? body : Buffer.from(hidden, 'latin1')))
  }

  /** The text without the credentials that the gateway sent to the provider. */
  protected hidden(text: string): string {
    const [outgoing, provider] = [this.#outgoing, this.#provider]
    return outgoing === null || provider === null ? text : redactRepeated(text, outgoing, provider)
  }

  protected noteGuards(phase: 'request' | 'response', notes: readonly GuardNote[]): void {
    for (const note of notes) {
      if (note.verdict === 'reject' || note.verdict === 'failed') {
        this.rx.notes = { code: `guard_${note.verdict}`, phase, model: this.askedModel, ...note }
      }
      this.rx.trace?.emit({ type: 'promptGuard', phase, ...note }, severityOf(note))
    }
  }

  /** The model that the client named, if known before a provider is called. */
  protected get askedModel(): string | null {
    return this.facts.requestModel || null
  }

  /** Sends a rejection of a guard. It is final: another provider would get the same texts. */
  protected reject({ status, body, reason }: Rejection): void {
    this.visit?.ended()
    this.rx.reason = 'PromptGuard'
    this.rx.error = reason
    const headers = HeaderBlock.of([['content-type', 'text/plain']])
    this.answer(status, headers, sourceOf(Buffer.from(body)))
  }

  protected answerJson(status: number, body: JsonObject, upstreamHeaders: HeaderBlock | null): void {
    const headers = headersFor(upstreamHeaders, 'application/json')
    this.answer(status, headers, sourceOf(Buffer.from(JSON.stringify(body))))
  }

  protected answer(status: number, headers: HeaderBlock, body: Source): void {
    if (this.isOver) return
    this.isOver = true
    this.#body = body
    // A client that follows the redirect would send the gateway's key to the host in `location`.
    headers.remove('location')
    this.handler.responded({ status, headers, body })
  }
}

/** A fault of a response that its status does not show. */
export type AnswerFault = 'error_in_body' | 'unreadable'

/** Whether a response, or its absence, is a reason to fail over. */
export interface Judgement {
  movesOn: boolean
  /** Set when there was no response at all. */
  error?: UpstreamError
}

function severityOf({ verdict }: GuardNote): 'info' | 'warn' | 'error' {
  return verdict === 'pass' ? 'info' : verdict === 'mask' ? 'warn' : 'error'
}

/** The provider's headers that are still true for the body that the client gets. */
export function headersFor(upstream: HeaderBlock | null, contentType: string): HeaderBlock {
  const headers = upstream?.clone() ?? new HeaderBlock()
  headers.remove('content-length')
  headers.remove('content-encoding')
  headers.set('content-type', contentType)
  return headers
}

export const UNREADABLE: ChatError = {
  status: 502,
  kind: 'api',
  message: 'the answer of the provider could not be read',
}
/** The gateway follows no redirect: it would send its API key to the host that the redirect names. */
function redirected(status: number): ChatError {
  return { status: 502, kind: 'api', message: `the provider answered with a redirect (status ${status})` }
}

export function tooLarge(maxBytes: number): ChatError {
  const message = `the answer of the provider is larger than ${maxBytes} bytes, which \`frontend.http.maxBufferSize\` allows`
  return { status: 502, kind: 'api', message }
}

export const NOT_NEEDED = new Error('answer not needed')
/** The maximum size of an error body that is read whole, in bytes. */
export const MAX_ERROR_BYTES = 1024 * 1024
