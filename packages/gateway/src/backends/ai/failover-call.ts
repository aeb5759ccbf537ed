import { type ChatError, type FormatName, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamResponse } from '@portico/http/client'
import { decodedBody, emptySource, type HeaderBlock, type RawConnection, sourceOf } from '@portico/http'
import type { CacheableBodies, CachedCall } from '../../cache/cached-call.ts'
import type { Rejection } from '../../llm/guards/guard.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../../pipeline/context/spending.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { LlmRecord } from '../../records/llm-record.ts'
import { NOT_NEEDED, redirected, UNREADABLE } from './answer-faults.ts'
import { ClientResponse, type ErrorFormat } from './client-response.ts'
import type { ReadyProvider } from './provider.ts'
import {
  ProviderAttempts,
  sendTo,
  type ChosenProvider,
  type ProviderChoice,
  type ProviderFailure,
} from './provider-attempts.ts'

/** The services that all calls of one backend share. */
export interface CallServices {
  upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>>
  providers: ProviderChoice
  now: () => number
  clock: () => number
  newId: (prefix: string) => string
  /** An unpredictable boundary of a form, of this length. */
  newBoundary: (length: number) => string
  maxBytes: number
  bug: (error: unknown) => void
  /** Keepalive objects; never read, they keep V8's optimized code for their shapes. */
  keepalive: readonly object[]
}

export interface CallParts {
  rx: RequestContext
  /** The headers of the request after the policies of the route. */
  headers: HeaderBlock
  context: CallContext
  handler: UpstreamHandler
}

/** One kind of request to a provider, and the handling of its response. */
export interface ModelCall {
  /** Calls the provider: ends in `FailoverCall.send`, or in a response to the client. */
  ask(provider: ReadyProvider): void
  /** Handles a response whose status does not fail over. */
  answered(response: UpstreamResponse): void
  /** Takes over a connection; without it, a provider that changes the protocol has failed. */
  upgraded?(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void
}

/** Tries a call at one provider after the other until a provider has begun to respond. */
export class FailoverCall implements UpstreamCall, UpstreamHandler {
  readonly rx: RequestContext
  readonly headers: HeaderBlock
  readonly services: CallServices
  readonly record: LlmRecord
  readonly attempts: ProviderAttempts
  readonly client: ClientResponse
  readonly #context: CallContext
  /** Whether the request can still be sent to another provider when the current one fails. */
  readonly #isRepeatable: () => boolean
  #call: ModelCall | null = null
  #sent: UpstreamCall | null = null
  /** The part of the response cache in the current try; null without a cache. */
  #cached: CachedCall | null = null

  constructor(
    { rx, headers, context, handler }: CallParts,
    services: CallServices,
    { format, isRepeatable = always }: { format: ErrorFormat; isRepeatable?: () => boolean },
  ) {
    this.rx = rx
    this.headers = headers
    this.services = services
    this.record = rx.llm ??= new LlmRecord()
    this.attempts = new ProviderAttempts(rx, services.providers, true)
    this.client = new ClientResponse({ rx, handler }, { record: this.record, attempts: this.attempts, format })
    this.#context = context
    this.#isRepeatable = isRepeatable
  }

  start(call: ModelCall): void {
    this.#call = call
    const chosen = this.attempts.choose()
    if (chosen === null) this.client.sendChatError({ status: 503, kind: 'api', message: 'no healthy backends' })
    else this.#begin(chosen)
  }

  cancel(cause: Error): void {
    this.client.isOver = true
    this.attempts.cancel(cause)
    const goesOn = this.#cached?.leave(cause, (later) => this.#sent?.cancel(later)) ?? false
    if (!goesOn) this.#sent?.cancel(cause)
    this.client.cancel(cause)
  }

  /** Whether the client still waits, and no provider was tried after the first `tries`. */
  isCurrent(tries: number): boolean {
    return !this.client.isOver && this.attempts.count === tries
  }

  // Requests to a provider.

  #begin(chosen: ChosenProvider): void {
    const { provider } = chosen
    this.attempts.begin(chosen)
    this.record.beginAttempt(provider.name, provider.vendor.telemetryName, provider.pricer)
    this.#call?.ask(provider)
  }

  /** Sends a request; a GET when `bytes` is null. The cache may answer a request with `cacheable` bodies. */
  send(provider: ReadyProvider, call: ProviderCall, bytes: Buffer | null, cacheable?: CacheableBodies | null): void {
    if (provider.cache === null || bytes === null || cacheable === undefined) return this.#ask(provider, call, bytes)
    const target = provider.vendor.target(call)
    if (cacheable === null || target instanceof UnsupportedField) {
      this.record.cache = { status: 'bypass', ageSeconds: null, reason: 'several-requests' }
      return this.#ask(provider, call, bytes)
    }
    this.record.requestModel = call.model
    this.record.streaming = call.stream
    const tries = this.attempts.count
    this.#cached = provider.cache(this, {
      ask: () => this.#ask(provider, call, bytes),
      answer: (response) => {
        this.attempts.release()
        this.#call?.answered(response)
      },
      isCurrent: () => this.isCurrent(tries),
    })
    this.#cached.begin({ rx: this.rx, headers: this.headers, target, bytes, model: call.model, ...cacheable })
  }

  /** Called when a response was read completely, and is neither an error nor broken. */
  answerComplete(): void {
    this.#cached?.commit()
  }

  #ask(provider: ReadyProvider, call: ProviderCall, bytes: Buffer | null): void {
    const headers = this.headers.clone()
    // Headers that describe the client's original body.
    headers.remove('content-length')
    headers.remove('content-encoding')
    headers.remove('content-type')
    if (bytes !== null) headers.addChecked('content-type', 'application/json')
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

  sendRequest(provider: ReadyProvider, call: ProviderCall, outgoing: OutgoingRequest): void {
    const { rx, record } = this
    record.requestModel = call.model
    record.streaming = call.stream
    const reserved = rx.spending?.reserve(record) ?? null
    if (!(reserved instanceof Promise)) return this.#sendReserved(provider, call, outgoing, reserved)
    this.#sendOnceReserved(reserved, (refusal) => this.#sendReserved(provider, call, outgoing, refusal))
  }

  /** Waits for a store of budgets; the client may leave meanwhile. */
  #sendOnceReserved(reserved: Promise<SpendingRefusal | null>, send: (refusal: SpendingRefusal | null) => void): void {
    const tries = this.attempts.count
    const cached = this.#cached
    const decided = reserved.then((refusal) => {
      if (this.isCurrent(tries)) send(refusal)
      else cached?.abandon()
    })
    decided.catch((error: unknown) => {
      cached?.abandon()
      this.services.bug(error)
      if (this.isCurrent(tries)) this.client.fail(new UpstreamError('bad_response', 'internal error', false))
    })
  }

  #sendReserved(
    provider: ReadyProvider,
    call: ProviderCall,
    outgoing: OutgoingRequest,
    refusal: SpendingRefusal | null,
  ): void {
    const { rx, services, record, client } = this
    if (refusal !== null) {
      this.#cached?.abandon()
      return client.refuseSpending(refusal)
    }
    this.attempts.sends(outgoing, record)
    const tries = this.attempts.count
    const cached = this.#cached
    const isWanted = (): boolean =>
      this.isCurrent(tries) || (this.attempts.count === tries && cached !== null && cached.goesOn)
    sendTo(provider, call, {
      outgoing,
      rx,
      context: this.#context,
      handler: this,
      isWanted,
      bug: services.bug,
      refused: (why) => {
        cached?.abandon()
        if (client.isOver) return
        if (why instanceof UnsupportedField) client.refuseField(why)
        else client.refuseFailure(why)
      },
      // A response may have come, and another provider may have been tried, before `sendTo` returned.
      sent: (sent) => {
        if (isWanted()) this.#sent = sent
      },
    })
  }

  // Responses from a provider.

  informed(): void {}

  responded(response: UpstreamResponse): void {
    const cached = this.#cached
    if (this.client.isOver) {
      const shared = cached?.goesOn === true && response.status === 200 ? decodedResponse(response) : null
      if (shared === null) {
        cached?.abandon()
        return response.body.cancel(NOT_NEEDED)
      }
      cached?.share(shared)
      return
    }
    const { status } = response
    if (status !== 200) cached?.abandon()
    this.rx.trace?.callEnded(status, null)
    if (this.attempts.judge(response) && this.#failOver(`status ${status}`, { status }))
      return response.body.cancel(NOT_NEEDED)
    if (status >= 300 && status < 400) {
      response.body.cancel(NOT_NEEDED)
      return this.client.refuseAnswer(redirected(status), 'provider_redirected')
    }
    const decoded = decodedResponse(response)
    if (decoded !== null) return this.#call?.answered((status === 200 ? cached?.share(decoded) : null) ?? decoded)
    cached?.abandon()
    response.body.cancel(NOT_NEEDED)
    if (!this.failsOver(UNREADABLE, response.headers)) this.client.refuseAnswer(UNREADABLE, 'answer_unreadable')
  }

  /** Handles a response whose body reports an error; returns true when the call fails over. */
  failsOver(error: ChatError, headers: HeaderBlock): boolean {
    const isFailure = this.attempts.judgeError(error, headers) || this.attempts.fallsBack({ error })
    return isFailure && this.#failOver(this.attempts.redact(error.message), { error })
  }

  /** Handles an error that would go to the client; returns true when the config has a fallback, which is then tried. */
  fallsBack(error: ChatError): boolean {
    return this.attempts.fallsBack({ error }) && this.#failOver(this.attempts.redact(error.message), { error })
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    if (this.#call?.upgraded !== undefined) return this.#call.upgraded(status, headers, raw, protocol)
    raw.socket.destroy()
    this.failed(new UpstreamError('bad_response', 'the provider changed the protocol', false))
  }

  failed(error: UpstreamError): void {
    this.#cached?.abandon()
    if (this.client.isOver) return
    this.attempts.failed(error)
    if (!this.#failOver(`${error.code}: ${error.message}`, { cause: error })) this.client.fail(error)
  }

  /** Ends the call because the rest of the client's request is refused, while the request is being sent. */
  refuseRequest(why: UnsupportedField): void {
    if (this.#stopSending()) this.client.refuseField(why)
  }

  /** Ends the call because a guard rejects the rest of the client's request, while the request is being sent. */
  rejectRequest(why: Rejection): void {
    if (this.#stopSending()) this.client.reject(why)
  }

  #stopSending(): boolean {
    if (this.client.isOver) return false
    this.attempts.cancel(REFUSED)
    this.#sent?.cancel(REFUSED)
    return true
  }

  /** Tries another provider if one is left; returns whether it did. */
  #failOver(reason: string, failure: ProviderFailure): boolean {
    const { trace } = this.rx
    if (!this.#isRepeatable()) {
      const provider = this.record.providerName
      if (this.attempts.hasOthers) trace?.emit({ type: 'llmNoFailover', provider, reason: SENT }, 'warn')
      return false
    }
    const chosen = this.attempts.choose(undefined, failure)
    if (chosen === null) return false
    if (trace !== null) {
      const from = this.record.providerName
      if (failure.cause !== undefined) trace.callFailed(from, failure.cause)
      trace.emit({ type: 'llmFailover', from, to: chosen.provider.name, reason }, 'warn')
    }
    this.#begin(chosen)
    return true
  }
}

function always(): boolean {
  return true
}

const REFUSED = new Error('request refused')
const SENT = 'the request was sent in part, and what was sent is not kept'

/**
 * Decodes the content encoding of a response while it streams; null when the encoding is unsupported. Providers may
 * compress although the gateway asks for `identity`.
 */
export function decodedResponse(response: UpstreamResponse): UpstreamResponse | null {
  const encoding = response.headers.joined('content-encoding')
  if (encoding === null) return response
  const body = decodedBody(response.body, encoding)
  if (body === null) return null
  const headers = response.headers.clone()
  headers.remove('content-encoding')
  // An identity encoding keeps the length.
  if (body !== response.body) headers.remove('content-length')
  return { ...response, headers, body }
}
