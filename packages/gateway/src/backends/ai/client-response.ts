import type { JsonObject } from '@portico/http/json'
import {
  type ChatError,
  type ClientFormat,
  kindOfStatus,
  type StreamFaultCode,
  type UnsupportedField,
} from '@portico/chat'
import type { UpstreamError, UpstreamHandler } from '@portico/http/client'
import { HeaderBlock, type RawConnection, type Source, sourceOf } from '@portico/http'
import type { Rejection } from '../../llm/guards/guard.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../../pipeline/context/spending.ts'
import { cacheHeader } from '../../records/cache-outcome.ts'
import type { LlmRecord } from '../../records/llm-record.ts'
import { redactHeaders } from '../../redaction/repeated-credentials.ts'
import { type AnswerFaultCode, noteAnswerFault } from './answer-faults.ts'
import type { ProviderAttempts } from './provider-attempts.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import { failureReply, inClientsFormat } from '../../pipeline/compiled/failure-reply.ts'

export type ErrorFormat = Pick<ClientFormat, 'encodeError'>

/** The one response of a call to its client: of a provider, of a guard, or an error in the client's format. */
export class ClientResponse {
  /** Whether the client has its response, or has left. */
  isOver = false
  readonly #rx: RequestContext
  readonly #handler: UpstreamHandler
  readonly #record: LlmRecord
  readonly #attempts: ProviderAttempts
  readonly #format: ErrorFormat
  #body: Source | null = null

  constructor(
    { rx, handler }: { rx: RequestContext; handler: UpstreamHandler },
    { record, attempts, format }: { record: LlmRecord; attempts: ProviderAttempts; format: ErrorFormat },
  ) {
    this.#rx = rx
    this.#handler = handler
    this.#record = record
    this.#attempts = attempts
    this.#format = format
  }

  cancel(cause: Error): void {
    this.isOver = true
    this.#body?.cancel(cause)
  }

  send(status: number, headers: HeaderBlock, body: Source): void {
    if (this.isOver) return
    this.isOver = true
    this.#body = body
    // A client that follows the redirect would send the gateway's key to the host in `location`.
    headers.remove('location')
    const { cache } = this.#record
    if (cache !== null) headers.set('x-portico-cache', cacheHeader(cache))
    this.#handler.responded({ status, headers, body })
  }

  sendJson(status: number, body: JsonObject, upstreamHeaders: HeaderBlock | null): void {
    const headers = headersFor(upstreamHeaders, 'application/json')
    this.send(status, headers, sourceOf(Buffer.from(JSON.stringify(body))))
  }

  /** Sends an error, redacted, because the text may come from the provider. */
  sendError(status: number, headers: HeaderBlock, body: Buffer): void {
    redactHeaders(headers, (text) => this.#attempts.redact(text))
    const text = body.toString('latin1')
    const redacted = this.#attempts.redact(text)
    if (redacted !== text) headers.remove('content-length')
    this.send(status, headers, sourceOf(redacted === text ? body : Buffer.from(redacted, 'latin1')))
  }

  upgrade(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.isOver = true
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  /** Ends the call without a response of any provider. */
  fail(error: UpstreamError): void {
    this.isOver = true
    this.#handler.failed(error)
  }

  /** Sends an error in the client's format. */
  sendChatError(error: ChatError, headers: HeaderBlock | null = null): void {
    this.#attempts.lease?.ended()
    const { status, body } = this.#format.encodeError(error)
    this.sendError(status, headersFor(headers, 'application/json'), Buffer.from(JSON.stringify(body)))
  }

  refuseField({ field, message, details }: UnsupportedField): void {
    this.#rx.reason = 'InvalidRequest'
    this.#rx.notes = { code: 'unsupported_field', field, provider: this.#record.providerName }
    this.#rx.error = `failed to process LLM request: ${field}: ${message}`
    // Not every format has a member for the name of the field.
    const error: ChatError = { status: 400, kind: 'invalid', message: `${field}: ${message}`, param: field }
    this.sendChatError(details === undefined ? error : { ...error, details })
  }

  /** Sends the failure of a policy of the provider. */
  refuseFailure({ status, message, reason, reply }: Failure): void {
    this.#rx.reason = reason
    if (reply === undefined) this.#rx.error = message
    if (reply === undefined || reply.failure !== null) return this.sendChatError({ status, kind: 'api', message })
    this.#attempts.lease?.ended()
    this.sendError(status, reply.headers, reply.body)
  }

  /** Sends the refusal of a budget. */
  refuseSpending({ status, code, message, retryAfter }: SpendingRefusal): void {
    this.#rx.reason = 'RateLimit'
    this.#rx.error = message
    this.#rx.note({ code, reason: message })
    const headers = HeaderBlock.of(retryAfter === null ? [] : [['retry-after', String(retryAfter)]])
    const kind = kindOfStatus(status)
    this.sendChatError({ status, kind, message, code }, headers)
  }

  /** Replaces a response that the client cannot get with an error; logs and records have the reason. */
  refuseAnswer(error: ChatError, code: AnswerFaultCode, why: string = error.message): void {
    this.noteFault(code, why)
    this.sendChatError(error)
  }

  /** Logs, metrics and records count the request as failed by its backend. */
  noteFault(code: AnswerFaultCode | StreamFaultCode, message: string): void {
    noteAnswerFault(this.#rx, this.#record, { code, error: this.#attempts.redact(message) })
  }

  /** Sends a rejection of a guard. It is final: another provider would get the same texts. */
  reject({ status, body, reason }: Rejection): void {
    this.#attempts.lease?.ended()
    this.#rx.reason = 'PromptGuard'
    this.#rx.error = reason
    const headers = HeaderBlock.of([['content-type', 'text/plain']])
    this.send(status, headers, sourceOf(Buffer.from(body)))
  }
}

/** The provider's headers that are still true for the body that the client gets. */
export function headersFor(upstream: HeaderBlock | null, contentType: string): HeaderBlock {
  const headers = upstream?.clone() ?? new HeaderBlock()
  headers.remove('content-length')
  headers.remove('content-encoding')
  headers.set('content-type', contentType)
  return headers
}

/** Responds with a failure in place of a provider. */
export function sendFailure(rx: RequestContext, handler: UpstreamHandler, failure: Failure): void {
  rx.error ??= failure.message
  if (failure.code !== undefined) rx.notes ??= { code: failure.code }
  sendReply(rx, handler, failure.reply ?? failureReply(failure, rx.headers.get('content-type')))
}

/** Responds with the reply of a step in place of a provider. */
export function sendReply(rx: RequestContext, handler: UpstreamHandler, reply: Reply): void {
  const { status, headers, body, reason } = inClientsFormat(rx, reply)
  rx.reason = reason
  handler.responded({ status, headers, body: sourceOf(body) })
}
