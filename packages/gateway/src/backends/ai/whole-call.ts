import { follow } from '../../pipeline/call/follow.ts'
import { collect, type HeaderBlock } from '@portico/http'
import type { LlmRecord, ModelOperation } from '../../records/llm-record.ts'
import { type ChatError, type ClientFormat, type JsonObject, type Loss, Unsupported } from '@portico/chat'
import { parseJsonObject } from '@portico/http/json'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import type { UpstreamResponse } from '@portico/http/client'
import { nowOrLater } from '../../llm/guards/now-or-later.ts'
import type { ReadyProvider } from './provider.ts'
import { type CallParts, type CallServices, tooLarge, TriedCall, UNREADABLE } from './tried-call.ts'

/** A call with one whole response: embeddings, a token count, a model list. */
export interface WholeJob {
  /** Null when no model is called. */
  operation: ModelOperation | null
  /**
   * Prepares the request to the provider, or the response if the gateway computes it itself; `Unsupported` when neither
   * is possible.
   */
  prepare(
    provider: ReadyProvider,
    guarded?: readonly string[],
  ): PreparedJob | { answer: Promise<JsonObject> } | Unsupported
  /** The texts that guards must check before a provider gets them; `prepare` gets the masked texts. */
  texts?(provider: ReadyProvider): readonly string[] | Unsupported
  /** Encodes errors for the client. */
  format: Pick<ClientFormat, 'encodeError'>
}

export interface PreparedJob {
  call: ProviderCall
  /** Null for a request without a body. */
  bytes: Buffer | null
  /**
   * Returns the response for the client, or the next request of the same job; null when the response cannot be read.
   */
  read: (body: JsonObject, headers: HeaderBlock, facts: LlmRecord) => JsonObject | NextRequest | null
  readError: (status: number, body: Buffer) => ChatError
  /** The translation of the client's request, for the trace; absent when nothing is translated. */
  translation?: { from: string; to: string; losses: readonly Loss[] }
}

/** The body of a further request to the same provider, for the same response. */
export class NextRequest {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

export class WholeCall extends TriedCall {
  readonly #job: WholeJob
  #prepared: PreparedJob | null = null
  #provider: ReadyProvider | null = null

  constructor(parts: CallParts, job: WholeJob, services: CallServices) {
    super(parts, services)
    this.facts.operation = job.operation
    this.#job = job
  }

  protected get format(): WholeJob['format'] {
    return this.#job.format
  }

  protected ask(provider: ReadyProvider): void {
    const guards = provider.guards.request
    const texts = guards === null ? undefined : this.#job.texts?.(provider)
    if (texts instanceof Unsupported) return this.refuseField(texts)
    if (guards === null || texts === undefined) return this.#prepare(provider)
    const { tries } = this
    const span = this.rx.spans?.placeOf('guardrail') ?? null
    const context = { requestHeaders: this.headers, responseHeaders: null, span }
    const guarded = nowOrLater(guards.texts(texts, context), ({ verdict, notes }) => {
      // The client may have left, or the call may have failed over, while the guards ran.
      if (this.isOver || tries !== this.tries) return
      this.noteGuards('request', notes)
      if (verdict.kind === 'reject') this.reject(verdict)
      else this.#prepare(provider, verdict.kind === 'mask' ? verdict.texts : undefined)
    })
    follow(this.rx, guarded)
  }

  #prepare(provider: ReadyProvider, guarded?: readonly string[]): void {
    const prepared = this.#job.prepare(provider, guarded)
    if (prepared instanceof Unsupported) return this.refuseField(prepared)
    if ('answer' in prepared) return this.#answerItself(prepared.answer)
    this.#prepared = prepared
    this.#provider = provider
    this.#note(provider, prepared)
    this.send(provider, prepared.call, prepared.bytes)
  }

  #note(provider: ReadyProvider, { call, translation }: PreparedJob): void {
    if (translation === undefined) return
    const { from, to, losses } = translation
    this.rx.trace?.emit({
      type: 'llmRequest',
      provider: provider.name,
      vendor: provider.vendor.telemetryName,
      clientFormat: from,
      upstreamFormat: to,
      passedThrough: from === to,
      model: call.model,
      streaming: false,
      losses,
    })
  }

  #answerItself(answer: Promise<JsonObject>): void {
    this.visit?.ended()
    const told = answer.then(
      (body) => this.answerJson(200, body, null),
      (error: unknown) => {
        this.services.bug(error)
        this.refuse({ status: 500, kind: 'api', message: 'internal error' })
      },
    )
    follow(this.rx, told)
  }

  protected answered({ status, headers, body }: UpstreamResponse): void {
    const prepared = this.#prepared
    if (prepared === null) throw new Error('an answer without a question')
    const { read, readError } = prepared
    const { tries } = this
    collect(body, this.services.maxBytes, (bytes, cause) => {
      if (this.isOver || tries !== this.tries) return
      if (cause !== null) this.visit?.failed()
      if (status < 200 || status > 299)
        return this.#told(() => this.refuse(readError(status, bytes ?? Buffer.alloc(0))))
      const answer = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
      const told = answer === null ? null : read(answer, headers, this.facts)
      if (told instanceof NextRequest) return this.#askOn(prepared, told)
      if (told !== null) return this.#told(() => this.answerJson(200, told, headers))
      if (bytes === null && cause === null) {
        return this.#told(() => this.refuseAnswer(tooLarge(this.services.maxBytes), 'answer_too_large'))
      }
      if (this.failsOver(UNREADABLE, headers)) return
      this.#told(() =>
        cause === null
          ? this.refuseAnswer(UNREADABLE, 'answer_unreadable')
          : this.refuseAnswer(UNREADABLE, 'connection_lost', cause.message),
      )
    })
  }

  #askOn({ call }: PreparedJob, { bytes }: NextRequest): void {
    const provider = this.#provider
    if (provider !== null) this.send(provider, call, bytes)
  }

  #told(tell: () => void): void {
    this.visit?.ended()
    this.facts.endedAt = this.services.now()
    tell()
  }
}
