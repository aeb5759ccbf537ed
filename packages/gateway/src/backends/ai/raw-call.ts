import { follow } from '../../pipeline/call/follow.ts'
import {
  type HeaderBlock,
  isAtHand,
  ObservedBody,
  type RawConnection,
  ReplayableBody,
  type Source,
  sourceOf,
} from '@portico/http'
import { DetectedAnswer, DetectedRequest, watchStream } from '@portico/chat/detect'
import { type StreamFault, Unsupported } from '@portico/chat'
import { LlmRecord, type ProviderAttempt } from '../../records/llm-record.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import { bufferRequest, readStart } from '../../pipeline/body/buffered-body.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { targetPath } from '../../pipeline/route/target.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { speaksAgainst } from '../../pipeline/call/unhealthy.ts'
import {
  TrackedBody,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@portico/http/client'
import { decodedResponse } from './decode-body.ts'
import { noteAnswerFault } from './note-answer-fault.ts'
import { noteUnguarded } from './note-unguarded.ts'
import type { ReadyProvider } from './provider.ts'
import { answerWith, refuse } from './refuse.ts'
import { sendTo } from './send.ts'
import { redactHeaders, redactRepeated } from '../../redaction/repeated-credentials.ts'
import type { ChosenProvider } from './select-provider.ts'
import { type CallParts, type CallServices, MAX_ERROR_BYTES, NOT_NEEDED } from './tried-call.ts'

export interface RawCallParts extends Omit<CallParts, 'headers'> {
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
  readonly #tried = new Set<ReadyProvider>()
  /**
   * The request body for a failover to another provider of the same vendor; null when there is no such provider, or the
   * body can be replayed anyway.
   */
  readonly #kept: ReplayableBody | null = null
  #chosen: ChosenProvider
  #call: UpstreamCall | null = null
  #outgoing: UpstreamRequest | null = null
  #attempt: ProviderAttempt | null = null
  #isOver = false
  /** Whether the end of the response decides about the provider's health before the lease ends. */
  #isWatched = false

  constructor({ rx, request, context, handler, detects }: RawCallParts, first: ChosenProvider, services: CallServices) {
    this.#rx = rx
    this.#handler = handler
    this.#context = context
    this.#request = request
    this.#detects = detects
    this.#services = services
    this.#chosen = first
    if (services.providers.count === 1 || isAtHand(request.body)) return
    this.#kept = ReplayableBody.wrap(request.body)
    // Policies that read the whole body read `rx.body`.
    if (this.#kept !== null) rx.body = request.body = this.#kept
  }

  start(): void {
    const { provider, visit } = this.#chosen
    this.#tried.add(provider)
    const use = provider.connection.requestBody
    if (use === 'none') return this.#send(provider)
    const rx = this.#rx
    const go = (reply: Reply | void): void => {
      if (this.#isOver) return
      this.#request.body = rx.body
      if (reply === undefined) return this.#send(provider)
      visit.ended()
      answerWith(rx, this.#handler, reply)
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
      const facts = (rx.llm ??= new LlmRecord())
      facts.provider = provider.vendor.telemetryName
      facts.providerName = provider.name
      this.#attempt = facts.asked(provider.name, provider.vendor.telemetryName)
      outgoing.headers.set('accept-encoding', 'identity')
      outgoing.body = this.#observed(request, facts)
    }
    this.#outgoing = outgoing
    noteUnguarded(rx, provider)
    const isWanted = (): boolean => !this.#isOver && this.#chosen.provider === provider
    sendTo(provider, call, {
      outgoing,
      rx,
      context: this.#context,
      handler: this,
      isWanted,
      bug: this.#services.bug,
      refused: (why) => {
        this.#chosen.visit.ended()
        refuse(rx, this.#handler, why instanceof Unsupported ? unsupported(why) : why)
      },
      sent: (sent) => {
        if (isWanted()) this.#call = sent
      },
    })
  }

  #observed({ target, headers, body }: UpstreamRequest, facts: LlmRecord): Source {
    const asked = { path: targetPath(target), contentType: headers.get('content-type') }
    const request = new DetectedRequest(facts, asked, this.#services.maxBytes)
    if (request.isDone || body.length === 0) return body
    return new ObservedBody(body, { chunk: (chunk) => request.chunk(chunk), over: () => request.over() })
  }

  cancel(cause: Error): void {
    this.#isOver = true
    const { visit } = this.#chosen
    if (cause instanceof UpstreamError) visit.failed(cause)
    else visit.ended()
    if (this.#attempt?.outcome === '') this.#ended('cancelled', false)
    this.#kept?.settle()
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    const { status } = response
    const { provider, visit } = this.#chosen
    const isUnhealthy = speaksAgainst(provider.connection.unhealthyCondition, this.#rx, response)
    visit.answered(isUnhealthy, status)
    const movesOn = isUnhealthy || status === 429 || status >= 500 || (this.#rx.retry?.codes.has(status) ?? false)
    this.#ended(String(status), movesOn)
    this.#rx.trace?.callEnded(status, null)
    const next = movesOn ? this.#next() : null
    if (next !== null) {
      visit.ended()
      // Canceled first, because the old attempt may still read the request body.
      response.body.cancel(NOT_NEEDED)
      return this.#goOn(next, `status ${status}`)
    }
    this.#kept?.settle()
    const ended = (): void => {
      if (!this.#isWatched) visit.ended()
    }
    if (response.body.length === 0) visit.ended()
    else response.body = new TrackedBody(response.body, { ended, failed: () => this.#brokeOff() })
    if (status >= 400) this.#answerError(response)
    else this.#answer(response)
  }

  /**
   * Handles a fault after the client got the status and the stream: only logs, records and the provider's health show
   * the fault.
   */
  #faulted({ code, error }: StreamFault, headers: HeaderBlock): void {
    const { provider, visit } = this.#chosen
    const { status } = error
    const isUnhealthy = speaksAgainst(provider.connection.unhealthyCondition, this.#rx, { status, headers })
    if (code === 'stream_error') visit.answered(isUnhealthy, status)
    else visit.failed()
    this.#ended(
      code === 'stream_error' ? 'error_in_body' : 'unreadable',
      isUnhealthy || status === 429 || status >= 500,
    )
    const outgoing = this.#outgoing
    const told = outgoing === null ? error.message : redactRepeated(error.message, outgoing, provider)
    const named = { providerName: provider.name, provider: provider.vendor.telemetryName }
    noteAnswerFault(this.#rx, named, { code, error: told })
  }

  #brokeOff(): void {
    this.#chosen.visit.failed()
    this.#ended('connection_lost', true)
  }

  /**
   * Another provider of the same vendor, since other vendors would not understand the request. Null when there is none,
   * or the body cannot be replayed.
   */
  #next(): ChosenProvider | null {
    if (!isAtHand(this.#request.body)) return null
    return this.#services.providers.next(this.#tried, this.#chosen.provider.vendor.name)
  }

  #goOn(next: ChosenProvider, reason: string): void {
    const from = this.#chosen.provider.name
    this.#rx.trace?.emit({ type: 'llmFailover', from, to: next.provider.name, reason }, 'warn')
    this.#chosen = next
    this.#kept?.rewind()
    this.start()
  }

  #answer(response: UpstreamResponse): void {
    const facts = this.#rx.llm
    // The provider may compress although the gateway asked for `identity`, and the client may not be able to
    // decompress.
    const plain = this.#detects ? decodedResponse(response) : null
    if (plain !== null && facts !== null) this.#detect(plain, facts)
    else this.#watch(response)
  }

  /** Forwards the bytes, and reads model and usage from them on the side. */
  #detect(response: UpstreamResponse, facts: LlmRecord): void {
    const { maxBytes, now } = this.#services
    const answer = new DetectedAnswer(facts, (name) => response.headers.get(name), maxBytes)
    const over = (whole: boolean): StreamFault | null => {
      facts.endedAt = now()
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
        this.#chosen.visit.ended()
      },
    })
    this.#handler.responded({ ...response, body })
  }

  /** Forwards an error, redacted: errors may repeat the provider's key. */
  #answerError(response: UpstreamResponse): void {
    const outgoing = this.#outgoing
    const plain = decodedResponse(response)
    if (outgoing === null || plain === null) return this.#answer(response)
    const hide = (text: string): string => redactRepeated(text, outgoing, this.#chosen.provider)
    redactHeaders(plain.headers, hide)
    const read = readStart(plain.body, MAX_ERROR_BYTES, ({ whole }, rest) => {
      if (this.#isOver) return rest.cancel(NOT_NEEDED)
      const text = whole?.toString('latin1') ?? ''
      const hidden = hide(text)
      if (hidden === text) return this.#answer({ ...plain, body: rest })
      plain.headers.remove('content-length')
      this.#answer({ ...plain, body: sourceOf(Buffer.from(hidden, 'latin1')) })
    })
    follow(this.#rx, read)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    const { visit } = this.#chosen
    visit.connected()
    this.#ended(String(status), false)
    raw.socket.once('close', () => visit.ended())
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    const { provider, visit } = this.#chosen
    visit.failed(error)
    this.#ended(error.code, true)
    const next = this.#next()
    if (next === null) return this.#handler.failed(error)
    this.#rx.trace?.callFailed(provider.name, error)
    this.#goOn(next, `${error.code}: ${error.message}`)
  }

  #ended(outcome: string, hasFailed: boolean): void {
    if (this.#attempt !== null) Object.assign(this.#attempt, { outcome, hasFailed })
  }
}

function unsupported({ message }: Unsupported): Failure {
  const text = `failed to process LLM request: ${message}`
  return { status: 400, message: text, reason: 'InvalidRequest', code: 'unsupported_call' }
}
