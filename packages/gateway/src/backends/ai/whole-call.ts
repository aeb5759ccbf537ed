import type { HeaderBlock } from '../../net/header-block.ts'
import type { LlmRecord, ModelOperation } from '../../records/llm-record.ts'
import type { ClientFormat } from '../../llm/format.ts'
import { parseJsonObject } from '../../wire/json.ts'
import { type ChatError, type JsonObject, Unsupported } from '../../llm/middle.ts'
import type { ProviderCall } from '../../llm/providers/provider.ts'
import type { UpstreamResponse } from '../../upstream/upstream-types.ts'
import { collect } from '../../net/collect.ts'
import { nowOrLater } from '../../llm/guards/now-or-later.ts'
import type { ReadyProvider } from './provider.ts'
import { type CallParts, type CallServices, TriedCall, UNREADABLE } from './tried-call.ts'

/** A question with one whole answer: embeddings, a count of tokens, a list of models. */
export interface WholeJob {
  /** Null where no model is called. */
  operation: ModelOperation | null
  /** What a provider is asked, what the gateway finds out by itself, or why neither can be. */
  prepare(
    provider: ReadyProvider,
    guarded?: readonly string[],
  ): PreparedJob | { answer: Promise<JsonObject> } | Unsupported
  /** Texts that guards must see before a provider does; `prepare` gets what they make of them. */
  texts?(provider: ReadyProvider): readonly string[] | Unsupported
  /** How errors are told. */
  format: Pick<ClientFormat, 'encodeError'>
}

export interface PreparedJob {
  call: ProviderCall
  /** Null for a question without a body. */
  bytes: Buffer | null
  /** The answer for the client; null when it cannot be read. */
  read: (body: JsonObject, headers: HeaderBlock, facts: LlmRecord) => JsonObject | null
  readError: (status: number, body: Buffer) => ChatError
}

export class WholeCall extends TriedCall {
  readonly #job: WholeJob
  #prepared: PreparedJob | null = null

  constructor(parts: CallParts, job: WholeJob, services: CallServices) {
    super(parts, services)
    this.facts.operation = job.operation
    this.#job = job
  }

  protected get format(): WholeJob['format'] {
    return this.#job.format
  }

  protected ask(provider: ReadyProvider): void {
    const chain = provider.guards.request
    const texts = chain === null ? undefined : this.#job.texts?.(provider)
    if (texts instanceof Unsupported) return this.refuseField(texts)
    if (chain === null || texts === undefined) return this.#prepare(provider)
    const { tries } = this
    const about = texts.map(() => ({ role: 'user', form: 'text' }) as const)
    const span = this.rx.spans?.placeOf('guardrail') ?? null
    const context = { about, requestHeaders: this.headers, responseHeaders: null, span }
    void nowOrLater(chain.run(texts, context), ({ verdict, notes }) => {
      // Somebody may have left in the meantime.
      if (this.isOver || tries !== this.tries) return
      this.noteGuards('request', notes)
      if (verdict.kind === 'reject') this.reject(verdict)
      else this.#prepare(provider, verdict.kind === 'mask' ? verdict.texts : undefined)
    })
  }

  #prepare(provider: ReadyProvider, guarded?: readonly string[]): void {
    const prepared = this.#job.prepare(provider, guarded)
    if (prepared instanceof Unsupported) return this.refuseField(prepared)
    if ('answer' in prepared) return this.#answerItself(prepared.answer)
    this.#prepared = prepared
    this.send(provider, prepared.call, prepared.bytes)
  }

  #answerItself(answer: Promise<JsonObject>): void {
    this.visit?.ended()
    answer.then(
      (body) => this.answerJson(200, body, null),
      (error: unknown) => {
        this.services.bug(error)
        this.refuse({ status: 500, kind: 'api', message: 'internal error' })
      },
    )
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
      if (told !== null) return this.#told(() => this.answerJson(200, told, headers))
      if (!this.failsOver(UNREADABLE, headers)) this.#told(() => this.refuse(UNREADABLE))
    })
  }

  #told(tell: () => void): void {
    this.visit?.ended()
    this.facts.endedAt = this.services.now()
    tell()
  }
}
