import { type JsonObject, parseJsonObject } from '@portico/http/json'
import { type ChatError, type Loss, type Reading, UnsupportedField } from '@portico/chat'
import type { UpstreamResponse } from '@portico/http/client'
import { collect, type HeaderBlock } from '@portico/http'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import type { LlmRecord, ModelOperation } from '../../../records/llm-record.ts'
import type { ProviderCall } from '../../../llm/providers/provider.ts'
import type { ReadyProvider } from '../provider.ts'
import { tooLarge, UNREADABLE } from '../answer-faults.ts'
import type { CacheableBodies } from '../../../cache/cached-call.ts'
import type { ErrorFormat } from '../client-response.ts'
import type { FailoverCall, ModelCall } from '../failover-call.ts'
import { noteJob, passAnswer, type PassingAnswer } from './pass-answer.ts'
import {
  type TriedGuards,
  guardContext,
  noteUnexamined,
  noteUnguarded,
  noteVerdicts,
  type RequestGuards,
} from '../../../llm/guards/prompt-guards.ts'

/** A call with one whole response: embeddings, a token count, a model list. */
export interface WholeJob {
  /** Null when no model is called. */
  operation: ModelOperation | null
  /**
   * Prepares the request to the provider, or the response if the gateway computes it itself; `UnsupportedField` when neither
   * is possible.
   */
  prepare(
    provider: ReadyProvider,
    guarded?: GuardedParts,
  ): PreparedJob | { answer: Promise<JsonObject> } | UnsupportedField
  /** The texts that guards must check before a provider gets them; `prepare` gets the masked texts. */
  texts?(provider: ReadyProvider): readonly string[] | UnsupportedField
  /** The body that guards must check before a provider gets it; `prepare` gets the checked body. */
  guarded?(provider: ReadyProvider): { body: JsonObject; reading: Reading }
  /** Encodes errors for the client. */
  format: ErrorFormat
}

/** The parts of a request that guards have checked: the masked texts, or the whole body. */
export interface GuardedParts {
  texts?: readonly string[]
  body?: JsonObject
}

export interface PreparedJob {
  call: ProviderCall
  /** Null for a request without a body. */
  bytes: Buffer | null
  /**
   * Returns the response for the client, or the next request of the same job; null when the response cannot be read.
   */
  read?: (body: JsonObject, headers: HeaderBlock, record: LlmRecord) => JsonObject | NextRequest | null
  /** Reads a response that passes to the client while it arrives; in place of `read`. */
  watch?: (headers: HeaderBlock, record: LlmRecord) => PassingAnswer
  readError: (status: number, body: Buffer) => ChatError
  /** For the response cache; null for a job of several requests, absent for a job that is never cached. */
  cacheable?: CacheableBodies | null
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

/** A call whose job needs one whole response, or several of one provider. */
export class WholeCall implements ModelCall {
  readonly #call: FailoverCall
  readonly #job: WholeJob
  #prepared: PreparedJob | null = null
  #provider: ReadyProvider | null = null

  constructor(call: FailoverCall, job: WholeJob) {
    call.record.operation = job.operation
    this.#call = call
    this.#job = job
  }

  ask(provider: ReadyProvider): void {
    const guards = provider.guards.request
    if (provider.guards.shadow !== null) this.#tryGuards(provider, provider.guards.shadow)
    const checked = guards === null ? undefined : this.#job.guarded?.(provider)
    if (guards !== null && checked !== undefined) return this.#guardBody(provider, guards, checked)
    const texts = guards === null ? undefined : this.#job.texts?.(provider)
    const call = this.#call
    const { rx, client } = call
    if (texts instanceof UnsupportedField) return client.refuseField(texts)
    if (guards === null || texts === undefined) return this.#prepare(provider)
    const tries = call.attempts.count
    const context = guardContext(rx, call.headers, null)
    const guarded = nowOrLater(guards.texts(texts, context), ({ verdict, notes }) => {
      // The client may have left, or the call may have failed over, while the guards ran.
      if (!call.isCurrent(tries)) return
      noteVerdicts(rx, { phase: 'request', model: call.record.requestModel || null }, notes)
      if (verdict.kind === 'reject') client.reject(verdict)
      else this.#prepare(provider, verdict.kind === 'mask' ? { texts: verdict.texts } : undefined)
    })
    follow(rx, guarded)
  }

  /** Passes the prompt to shadow guards, which only report. */
  #tryGuards(provider: ReadyProvider, shadow: TriedGuards): void {
    const { rx, headers } = this.#call
    const context = guardContext(rx, headers, null)
    const checked = this.#job.guarded?.(provider)
    if (checked !== undefined) return shadow.body(rx, checked, context)
    const texts = this.#job.texts?.(provider)
    if (texts !== undefined && !(texts instanceof UnsupportedField)) shadow.texts(rx, texts, context)
  }

  #guardBody(provider: ReadyProvider, guards: RequestGuards, body: { body: JsonObject; reading: Reading }): void {
    const call = this.#call
    const { rx, client, attempts } = call
    const tries = attempts.count
    const context = guardContext(rx, call.headers, null)
    const guarded = nowOrLater(guards.body(body, context), ({ outcome, notes, unexamined }) => {
      if (!call.isCurrent(tries)) return
      noteVerdicts(rx, { phase: 'request', model: call.record.requestModel || null }, notes)
      noteUnexamined(rx, unexamined)
      if (outcome.kind === 'reject') client.reject(outcome)
      else this.#prepare(provider, { body: outcome.body })
    })
    follow(rx, guarded)
  }

  #prepare(provider: ReadyProvider, guarded?: GuardedParts): void {
    const prepared = this.#job.prepare(provider, guarded)
    if (prepared instanceof UnsupportedField) return this.#call.client.refuseField(prepared)
    const call = this.#call
    if ('answer' in prepared) return this.#answerItself(prepared.answer)
    this.#prepared = prepared
    this.#provider = provider
    if (prepared.translation !== undefined) noteJob(call.rx, provider, { ...prepared.translation, call: prepared.call })
    call.send(provider, prepared.call, prepared.bytes, prepared.cacheable)
  }

  #answerItself(answer: Promise<JsonObject>): void {
    const { rx, client, attempts, services } = this.#call
    attempts.lease?.ended()
    const sent = answer.then(
      (body) => client.sendJson(200, body, null),
      (error: unknown) => {
        services.bug(error)
        client.sendChatError({ status: 500, kind: 'api', message: 'internal error' })
      },
    )
    follow(rx, sent)
  }

  answered({ status, headers, body }: UpstreamResponse): void {
    const prepared = this.#prepared
    if (prepared === null) throw new Error('a response came before any request was sent')
    const { read, readError, watch } = prepared
    const call = this.#call
    if (watch !== undefined && status < 300) {
      noteUnguarded(call.rx, { request: null, response: this.#provider?.guards.response ?? null })
      return passAnswer(call, { status, headers, body }, watch(headers, call.record))
    }
    const { client, attempts, record } = call
    const { maxBytes } = call.services
    const tries = attempts.count
    collect(body, maxBytes, (bytes, cause) => {
      if (!call.isCurrent(tries)) return
      if (cause !== null) attempts.lease?.failed()
      if (status < 200 || status > 299) {
        const error = readError(status, bytes ?? Buffer.alloc(0))
        if (call.fallsBack(error)) return
        this.#ended()
        return client.sendChatError(error)
      }
      const answer = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
      const result = answer === null ? null : (read?.(answer, headers, record) ?? null)
      if (result instanceof NextRequest) return this.#askOn(prepared, result)
      const isTooLarge = bytes === null && cause === null
      if (result === null && !isTooLarge && call.failsOver(UNREADABLE, headers)) return
      this.#ended()
      if (result !== null) {
        call.answerComplete()
        client.sendJson(200, result, headers)
      } else if (isTooLarge) client.refuseAnswer(tooLarge(maxBytes), 'answer_too_large')
      else if (cause === null) client.refuseAnswer(UNREADABLE, 'answer_unreadable')
      else client.refuseAnswer(UNREADABLE, 'connection_lost', cause.message)
    })
  }

  #askOn({ call }: PreparedJob, { bytes }: NextRequest): void {
    const provider = this.#provider
    if (provider !== null) this.#call.send(provider, call, bytes)
  }

  #ended(): void {
    const { attempts, record, services } = this.#call
    attempts.lease?.ended()
    record.endedAt = services.now()
  }
}
