import type { RawConnection } from '../../net/exchange.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import { readDetected } from '../../llm/detect.ts'
import { LlmRecord, type ProviderAttempt } from '../../records/llm-record.ts'
import { Unsupported } from '../../llm/middle.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import { bufferRequest } from '../../pipeline/body/buffered-body.ts'
import type { Expression } from '../../pipeline/expression.ts'
import type { Failure } from '../../pipeline/failure.ts'
import type { Reply } from '../../pipeline/reply.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
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
import { noteUnguarded } from './note-unguarded.ts'
import type { ReadyProvider } from './provider.ts'
import { answerWith, refuse } from './refuse.ts'
import { sendTo } from './send.ts'
import { TappedBody } from '../../net/tapped-body.ts'

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
    }
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
    const { detects, maxBytes, now } = this.#options
    if (!detects) return this.#handler.responded(response)
    const body = new TappedBody(response.body, maxBytes, (copy) => {
      const facts = this.#rx.llm!
      facts.endedAt = now()
      if (copy !== null) readDetected(copy, facts)
    })
    this.#handler.responded({ ...response, body })
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
