import { type StreamFault, UnsupportedField } from '@portico/chat'
import {
  TrackedBody,
  type UpstreamCall,
  type UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@portico/http/client'
import {
  type HeaderBlock,
  isAtHand,
  ObservedBody,
  type RawConnection,
  ReplayableBody,
  type Source,
  sourceOf,
} from '@portico/http'
import { follow } from '../../pipeline/call/follow.ts'
import { DetectedAnswer, DetectedRequest, watchStream } from '@portico/chat/detect'
import { LlmRecord } from '../../records/llm-record.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import { bufferRequest, readStart } from '../../pipeline/body/buffered-body.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../../pipeline/context/spending.ts'
import { targetPath } from '../../formats/query-parameters.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { MAX_ERROR_BYTES, NOT_NEEDED, noteAnswerFault } from './answer-faults.ts'
import { type CallParts, type CallServices, decodedResponse } from './failover-call.ts'
import { refuseSpending } from '../../spending/refuse-spending.ts'
import { noteUnguarded } from '../../llm/guards/prompt-guards.ts'
import type { ReadyProvider } from './provider.ts'
import { ProviderAttempts, sendTo, type ChosenProvider } from './provider-attempts.ts'
import { sendFailure, sendReply } from './client-response.ts'
import { redactHeaders } from '../../redaction/repeated-credentials.ts'

interface RawCallParts extends Omit<CallParts, 'headers'> {
  request: UpstreamRequest
  /** Whether to look for usage in the response. */
  detects: boolean
}

/** A call whose bytes pass unchanged: the gateway sets only the host, path and credentials of the provider. */
export class RawCall implements UpstreamCall, UpstreamHandler {
  readonly #rx: RequestContext
  readonly #handler: UpstreamHandler
  readonly #context: CallContext
  readonly #request: UpstreamRequest
  readonly #detects: boolean
  readonly #services: CallServices
  readonly #attempts: ProviderAttempts
  /**
   * The request body for a failover to another provider of the same vendor; null when there is no such provider, or the
   * body can be replayed anyway.
   */
  readonly #kept: ReplayableBody | null = null
  #call: UpstreamCall | null = null
  #isOver = false
  /** Whether the end of the response decides about the provider's health before the lease ends. */
  #isWatched = false

  constructor({ rx, request, context, handler, detects }: RawCallParts, services: CallServices) {
    this.#rx = rx
    this.#handler = handler
    this.#context = context
    this.#request = request
    this.#detects = detects
    this.#services = services
    // The client gets a redirect, and decides what to do with it.
    this.#attempts = new ProviderAttempts(rx, services.providers, false)
    if (services.providers.count === 1 || isAtHand(request.body)) return
    this.#kept = ReplayableBody.wrap(request.body)
    // Policies that read the whole body read `rx.body`.
    if (this.#kept !== null) rx.body = request.body = this.#kept
  }

  start(): void {
    const checked = this.#rx.spending?.check() ?? null
    if (!(checked instanceof Promise)) return this.#startUnless(checked)
    // The client may leave while a store of budgets decides.
    const started = checked.then((refusal) => {
      if (!this.#isOver) this.#startUnless(refusal)
    })
    follow(this.#rx, started)
  }

  #startUnless(refusal: SpendingRefusal | null): void {
    if (refusal !== null) return sendReply(this.#rx, this.#handler, refuseSpending(this.#rx, refusal))
    const first = this.#attempts.choose()
    if (first === null) sendFailure(this.#rx, this.#handler, NO_PROVIDER)
    else this.#begin(first)
  }

  #begin(chosen: ChosenProvider): void {
    const { provider, lease } = chosen
    this.#attempts.begin(chosen)
    const use = provider.connection.requestBody
    if (use === 'none') return this.#send(provider)
    const rx = this.#rx
    const go = (reply: Reply | void): void => {
      if (this.#isOver) return
      this.#request.body = rx.body
      if (reply === undefined) return this.#send(provider)
      lease.ended()
      sendReply(rx, this.#handler, reply)
    }
    const waiting = bufferRequest(use, this.#services.maxBytes)(rx)
    if (waiting instanceof Promise) follow(rx, waiting.then(go))
    else go(waiting)
  }

  #send(provider: ReadyProvider): void {
    const [rx, request] = [this.#rx, this.#request]
    const call: ProviderCall = {
      kind: 'raw',
      format: 'completions',
      model: '',
      stream: false,
      clientTarget: request.target,
    }
    const outgoing = { ...request, headers: request.headers.clone() }
    if (this.#detects) {
      const record = (rx.llm ??= new LlmRecord())
      record.beginAttempt(provider.name, provider.vendor.telemetryName, provider.pricer)
      outgoing.headers.set('accept-encoding', 'identity')
      outgoing.body = this.#observed(request, record)
    }
    this.#attempts.sends(outgoing, this.#detects ? rx.llm : null)
    noteUnguarded(rx, provider.guards)
    const isWanted = (): boolean => !this.#isOver && this.#attempts.provider === provider
    sendTo(provider, call, {
      outgoing,
      rx,
      context: this.#context,
      handler: this,
      isWanted,
      bug: this.#services.bug,
      refused: (why) => {
        this.#attempts.lease?.ended()
        sendFailure(rx, this.#handler, why instanceof UnsupportedField ? unsupported(why) : why)
      },
      sent: (sent) => {
        if (isWanted()) this.#call = sent
      },
    })
  }

  #observed({ target, headers, body }: UpstreamRequest, record: LlmRecord): Source {
    const asked = { path: targetPath(target), contentType: headers.get('content-type') }
    const request = new DetectedRequest(record, asked, this.#services.maxBytes)
    if (request.isDone || body.length === 0) return body
    return new ObservedBody(body, { chunk: (chunk) => request.chunk(chunk), over: () => request.over() })
  }

  cancel(cause: Error): void {
    this.#isOver = true
    this.#attempts.cancel(cause)
    this.#kept?.stopKeeping()
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    const { status } = response
    const isFailure = this.#attempts.judge(response)
    this.#rx.trace?.callEnded(status, null)
    const next = isFailure ? this.#next() : null
    const { lease } = this.#attempts
    if (next !== null) {
      lease?.ended()
      // Canceled first, because the old attempt may still read the request body.
      response.body.cancel(NOT_NEEDED)
      return this.#failOver(next, `status ${status}`)
    }
    this.#kept?.stopKeeping()
    const ended = (): void => {
      if (!this.#isWatched) lease?.ended()
    }
    if (response.body.length === 0) lease?.ended()
    else response.body = new TrackedBody(response.body, { ended, failed: () => this.#brokeOff() })
    if (status >= 400) this.#answerError(response)
    else this.#answer(response)
  }

  /**
   * Handles a fault after the client got the status and the stream: only logs, records and the provider's health show
   * the fault.
   */
  #faulted({ code, error }: StreamFault, headers: HeaderBlock): void {
    const attempts = this.#attempts
    const { provider, lease } = attempts
    const { status } = error
    const isUnhealthy = attempts.isUnhealthy({ status, headers })
    if (code === 'stream_error') lease?.answered(isUnhealthy, status)
    else lease?.failed()
    attempts.settle(
      code === 'stream_error' ? 'error_in_body' : 'unreadable',
      isUnhealthy || status === 429 || status >= 500,
    )
    const named = { providerName: provider?.name ?? '', provider: provider?.vendor.telemetryName ?? '' }
    noteAnswerFault(this.#rx, named, { code, error: attempts.redact(error.message) })
  }

  #brokeOff(): void {
    this.#attempts.lease?.failed()
    this.#attempts.settle('connection_lost', true)
  }

  /**
   * Another provider of the same vendor, since other vendors would not understand the request. Null when there is none,
   * or the body cannot be replayed.
   */
  #next(): ChosenProvider | null {
    if (!isAtHand(this.#request.body)) return null
    return this.#attempts.choose(this.#attempts.provider?.vendor.name)
  }

  #failOver(next: ChosenProvider, reason: string): void {
    const from = this.#attempts.provider?.name ?? ''
    this.#rx.trace?.emit({ type: 'llmFailover', from, to: next.provider.name, reason }, 'warn')
    this.#kept?.rewind()
    this.#begin(next)
  }

  #answer(response: UpstreamResponse): void {
    const record = this.#rx.llm
    // The provider may compress although the gateway asked for `identity`, and the client may not be able to
    // decompress.
    const plain = this.#detects ? decodedResponse(response) : null
    if (plain !== null && record !== null) this.#detect(plain, record)
    else this.#watch(response)
  }

  /** Forwards the bytes, and reads model and usage from them on the side. */
  #detect(response: UpstreamResponse, record: LlmRecord): void {
    const { maxBytes, now } = this.#services
    const answer = new DetectedAnswer(record, (name) => response.headers.get(name), maxBytes)
    const over = (whole: boolean): StreamFault | null => {
      record.endedAt = now()
      return answer.over(whole)
    }
    this.#observe(response, (chunk) => answer.chunk(chunk), over)
  }

  /** Forwards the bytes, and only checks that a stream is complete. */
  #watch(response: UpstreamResponse): void {
    const { headers } = response
    const stream = headers.get('content-encoding') === null ? watchStream(headers.get('content-type')) : null
    if (stream === null) return this.#handler.responded(response)
    this.#observe(
      response,
      (chunk) => stream.chunk(chunk),
      (whole) => (whole ? stream.end() : null),
    )
  }

  #observe(
    response: UpstreamResponse,
    chunk: (chunk: Buffer) => void,
    over: (whole: boolean) => StreamFault | null,
  ): void {
    const { status, headers } = response
    this.#isWatched = true
    const body = new ObservedBody(response.body, {
      chunk,
      over: (whole) => {
        const fault = over(whole)
        // An error status already counts as a failure.
        if (fault !== null && status < 300) this.#faulted(fault, headers)
        this.#attempts.lease?.ended()
      },
    })
    this.#handler.responded({ ...response, body })
  }

  /** Forwards an error, redacted: errors may repeat the provider's key. */
  #answerError(response: UpstreamResponse): void {
    const attempts = this.#attempts
    const plain = decodedResponse(response)
    if (plain === null) return this.#answer(response)
    redactHeaders(plain.headers, (text) => attempts.redact(text))
    const read = readStart(plain.body, MAX_ERROR_BYTES, ({ whole }, rest) => {
      if (this.#isOver) return rest.cancel(NOT_NEEDED)
      const text = whole?.toString('latin1') ?? ''
      const redacted = attempts.redact(text)
      if (redacted === text) return this.#answer({ ...plain, body: rest })
      plain.headers.remove('content-length')
      this.#answer({ ...plain, body: sourceOf(Buffer.from(redacted, 'latin1')) })
    })
    follow(this.#rx, read)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    const { lease } = this.#attempts
    lease?.connected()
    this.#attempts.settle(String(status), false)
    raw.socket.once('close', () => lease?.ended())
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.#attempts.failed(error)
    const next = this.#next()
    if (next === null) return this.#handler.failed(error)
    this.#rx.trace?.callFailed(this.#attempts.provider?.name ?? '', error)
    this.#failOver(next, `${error.code}: ${error.message}`)
  }
}

const NO_PROVIDER: Failure = {
  status: 503,
  message: 'no healthy backends',
  reason: 'NoHealthyBackend',
  code: 'no_provider',
}

function unsupported({ message }: UnsupportedField): Failure {
  const text = `failed to process LLM request: ${message}`
  return { status: 400, message: text, reason: 'InvalidRequest', code: 'unsupported_call' }
}
