import { type ClientFormat, type JsonObject, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { collect, emptySource, type Source } from '@portico/http'
import type { UpstreamResponse } from '@portico/http/client'
import { parseJsonObject } from '@portico/http/json'
import type { ProviderCall } from '../../../llm/providers/provider.ts'
import type { Rejection } from '../../../llm/guards/guard.ts'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { tooLarge, UNREADABLE } from '../answer-faults.ts'
import type { FailoverCall, ModelCall } from '../failover-call.ts'
import { noteJob } from '../jobs/pass-answer.ts'
import type { ReadyProvider } from '../provider.ts'

/** A request about files or batches to one provider. */
export interface ResourceRequest {
  readonly kind: 'files' | 'batches'
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The part of the path after `/files` or `/batches`, with the query: `/file-1/content`. */
  readonly resource: string
  /** The model of the requests; empty when the request is for no model. */
  readonly model: string
  /** The body of the request; null without a body. */
  readonly body: { readonly source: Source; readonly contentType: string } | null
  /** Returns the response for the client; null when the response of the provider cannot be read. */
  read(answer: JsonObject): JsonObject | null
  /** Handles a successful response in place of `read`. */
  readonly pass?: (response: UpstreamResponse) => void
}

/** The request to the provider, or the reason why the client's request is refused. */
type PreparedRequest = ResourceRequest | UnsupportedField | Rejection

interface ResourceParts {
  readonly format: ClientFormat & UpstreamFormat
  requestFor(provider: ReadyProvider): PreparedRequest | Promise<PreparedRequest>
}

/** A call of one provider about files or batches. */
export class ResourceCall implements ModelCall {
  readonly #call: FailoverCall
  readonly #parts: ResourceParts
  #request: ResourceRequest | null = null

  constructor(call: FailoverCall, parts: ResourceParts) {
    this.#call = call
    this.#parts = parts
  }

  ask(provider: ReadyProvider): void {
    const call = this.#call
    const tries = call.attempts.count
    const prepared = nowOrLater(this.#parts.requestFor(provider), (request) => {
      if (!call.isCurrent(tries)) return
      if (request instanceof UnsupportedField) call.client.refuseField(request)
      else if ('resource' in request) this.#send(provider, request)
      else call.client.reject(request)
    })
    follow(call.rx, prepared)
  }

  #send(provider: ReadyProvider, request: ResourceRequest): void {
    const call = this.#call
    this.#request = request
    const { kind, method, resource, model, body } = request
    call.record.operation = kind === 'files' ? 'file' : 'batch'
    const isOpenAi = this.#parts.format.name !== 'messages'
    const format = isOpenAi ? 'completions' : 'messages'
    const sent: ProviderCall = { kind, format, model, stream: false, clientTarget: '', resource }
    const form = `${kind}.${isOpenAi ? 'openai' : 'anthropic'}`
    noteJob(call.rx, provider, { call: sent, from: form, to: form, losses: [] })
    const headers = call.headers.clone()
    for (const name of OWN_HEADERS) headers.remove(name)
    if (body !== null) headers.addChecked('content-type', body.contentType)
    headers.addChecked('accept-encoding', 'identity')
    call.sendRequest(provider, sent, {
      ...{ method, target: '', authority: '', headers, upgrade: '', teTrailers: false },
      body: body?.source ?? emptySource,
    })
  }

  answered(response: UpstreamResponse): void {
    const { status, headers, body } = response
    const request = this.#request
    if (request === null) throw new Error('a response came before any request was sent')
    const call = this.#call
    const { client, attempts, services, record } = call
    if (status < 300 && request.pass !== undefined) return request.pass(response)
    const tries = attempts.count
    collect(body, services.maxBytes, (bytes, cause) => {
      if (!call.isCurrent(tries)) return
      if (cause !== null) attempts.lease?.failed()
      attempts.lease?.ended()
      record.endedAt = services.now()
      if (status > 299) {
        return client.sendChatError(this.#parts.format.decodeError(status, bytes ?? Buffer.alloc(0)), headers)
      }
      const answer = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
      const result = answer === null ? null : request.read(answer)
      if (result !== null) return client.sendJson(status, result, headers)
      if (cause !== null) client.refuseAnswer(UNREADABLE, 'connection_lost', cause.message)
      else if (bytes === null) client.refuseAnswer(tooLarge(services.maxBytes), 'answer_too_large')
      else client.refuseAnswer(UNREADABLE, 'answer_unreadable')
    })
  }
}

/**
 * Client headers that are not forwarded: headers that describe the client's body, and headers that ask for a part of
 * the response, because results are counted as a whole.
 */
const OWN_HEADERS = [
  ...['content-length', 'content-encoding', 'content-type', 'accept-encoding'],
  ...['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
]
