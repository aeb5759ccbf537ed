import { type Source, sourceOf } from '../../net/body.ts'
import type { RawConnection } from '../../net/exchange.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import { ObservedBody } from '../../net/observed-body.ts'
import { DetectedAnswer, DetectedRequest } from '../../llm/detect.ts'
import { LlmRecord, type ProviderAttempt } from '../../records/llm-record.ts'
import { Unsupported } from '../../llm/middle.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import { bufferRequest, readStart } from '../../pipeline/body/buffered-body.ts'
import type { Expression } from '../../pipeline/expression.ts'
import type { Failure } from '../../pipeline/failure.ts'
import type { Reply } from '../../pipeline/reply.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import { targetPath } from '../../pipeline/route/target.ts'
import type { CallContext } from '../../pipeline/step.ts'
import { speaksAgainst } from '../../pipeline/unhealthy.ts'
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamResponse,
} from '../../upstream/upstream-types.ts'
import type { EndpointCall } from '../../upstream/endpoint-call.ts'
import { decodedResponse } from './decode-body.ts'
import { noteUnguarded } from './note-unguarded.ts'
import type { ReadyProvider } from './provider.ts'
import { answerWith, refuse } from './refuse.ts'
import { sendTo } from './send.ts'
import { hideShown } from './shown-credentials.ts'
import { MAX_ERROR_BYTES, NOT_NEEDED } from './tried-call.ts'

export interface RawCallOptions {
  /** Usage is looked for in the answer. */
  detects: boolean
  maxBytes: number
  now: () => number
  bug: (error: unknown) => void
}

/** A call whose bytes go through as they are: only host, path and credentials are the provider's. */
export class RawCall implements UpstreamCall, UpstreamHandler {
  readonly #rx: RequestContext
  readonly #handler: UpstreamHandler
  readonly #visit: EndpointCall
  readonly #options: RawCallOptions
  #call: UpstreamCall | null = null
  #condition: Expression | null = null
  #sent: { outgoing: UpstreamRequest; provider: ReadyProvider } | null = null
  #attempt: ProviderAttempt | null = null
  #isCancelled = false

  constructor(rx: RequestContext, handler: UpstreamHandler, visit: EndpointCall, options: RawCallOptions) {
    this.#rx = rx
    this.#handler = handler
    this.#visit = visit
    this.#options = options
  }

  start(request: UpstreamRequest, provider: ReadyProvider, context: CallContext): void {
    const use = provider.connection.requestBody
    if (use === 'none') return this.#send(request, provider, context)
    const rx = this.#rx
    const go = (reply: Reply | void): void => {
      if (this.#isCancelled) return
      if (reply === undefined) return this.#send({ ...request, body: rx.body }, provider, context)
      this.#visit.ended()
      answerWith(rx, this.#handler, reply)
    }
    const waiting = bufferRequest(use, this.#options.maxBytes)(rx)
    if (waiting instanceof Promise) void waiting.then(go)
    else go(waiting)
  }

  #send(request: UpstreamRequest, provider: ReadyProvider, context: CallContext): void {
    const rx = this.#rx
    this.#condition = provider.connection.unhealthyCondition
    const call: ProviderCall = {
      kind: 'raw',
      format: 'completions',
      model: '',
      stream: false,
      clientTarget: request.target,
    }
    const outgoing = { ...request, headers: request.headers.clone() }
    if (this.#options.detects) {
      const facts = (rx.llm ??= new LlmRecord())
      facts.provider = provider.vendor.telemetryName
      facts.providerName = provider.name
      this.#attempt = facts.asked(provider.name, provider.vendor.telemetryName)
      outgoing.headers.set('accept-encoding', 'identity')
      outgoing.body = this.#observed(request, facts)
    }
    this.#sent = { outgoing, provider }
    noteUnguarded(rx, provider)
    sendTo(provider, call, {
      outgoing,
      rx,
      context,
      handler: this,
      isWanted: () => !this.#isCancelled,
      bug: this.#options.bug,
      refused: (why) => {
        this.#visit.ended()
        refuse(rx, this.#handler, why instanceof Unsupported ? unsupported(why) : why)
      },
      sent: (sent) => (this.#call = sent),
    })
  }

  #observed({ target, headers, body }: UpstreamRequest, facts: LlmRecord): Source {
    const asked = { path: targetPath(target), contentType: headers.get('content-type') }
    const request = new DetectedRequest(facts, asked, this.#options.maxBytes)
    if (request.isDone || body.length === 0) return body
    return new ObservedBody(body, { chunk: (chunk) => request.chunk(chunk), over: () => request.over() })
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.#visit.ended()
    if (this.#attempt?.outcome === '') this.#ended('cancelled', false)
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    const { status } = response
    const isUnhealthy = speaksAgainst(this.#condition, this.#rx, response)
    this.#visit.answered(isUnhealthy)
    this.#visit.ended()
    this.#ended(String(status), isUnhealthy || status === 429 || status >= 500)
    if (status >= 400) this.#answerError(response)
    else this.#answer(response)
  }

  /** The bytes go on; what they say of model and usage is read beside that. */
  #answer(response: UpstreamResponse): void {
    const { detects, maxBytes, now } = this.#options
    const facts = this.#rx.llm
    // What was asked for plain, but comes packed: the client may not be able to undo it either.
    const plain = detects ? decodedResponse(response) : null
    if (plain === null || facts === null) return this.#handler.responded(response)
    const answer = new DetectedAnswer(facts, (name) => response.headers.get(name), maxBytes)
    const body = new ObservedBody(plain.body, {
      chunk: (chunk) => answer.chunk(chunk),
      over(whole) {
        facts.endedAt = now()
        answer.over(whole)
      },
    })
    this.#handler.responded({ ...plain, body })
  }

  /** Errors may repeat the key that the provider was shown. */
  #answerError(response: UpstreamResponse): void {
    const sent = this.#sent
    const plain = decodedResponse(response)
    if (sent === null || plain === null) return this.#answer(response)
    void readStart(plain.body, MAX_ERROR_BYTES, ({ whole }, rest) => {
      if (this.#isCancelled) return rest.cancel(NOT_NEEDED)
      const text = whole?.toString('latin1') ?? ''
      const hidden = hideShown(text, sent.outgoing, sent.provider)
      if (hidden === text) return this.#answer({ ...plain, body: rest })
      plain.headers.remove('content-length')
      this.#answer({ ...plain, body: sourceOf(Buffer.from(hidden, 'latin1')) })
    })
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.#visit.connected()
    this.#ended(String(status), false)
    raw.socket.once('close', () => this.#visit.ended())
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.#visit.failed(error)
    this.#ended(error.code, true)
    this.#handler.failed(error)
  }

  #ended(outcome: string, hasFailed: boolean): void {
    if (this.#attempt !== null) Object.assign(this.#attempt, { outcome, hasFailed })
  }
}

function unsupported({ message }: Unsupported): Failure {
  return { status: 400, message: `failed to process LLM request: ${message}`, reason: 'InvalidRequest' }
}
