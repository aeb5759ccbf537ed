import type { Source } from '@portico/http'
import { brokenOff, bufferRequest, bufferResponse } from '../body/buffered-body.ts'
import type { BufferedBody } from '../context/body-use.ts'
import { type EditableMessage, editableRequest, editableResponse } from '../policy/editable-message.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import { follow } from '../call/follow.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import type { Reply } from '../context/reply.ts'
import type { StepResult } from '../context/step.ts'
import { requestLine, withFields } from './fields.ts'

/** A request or a response, as far as a processor may see and change it. */
export interface Side {
  readonly name: 'request' | 'response'
  readonly message: EditableMessage
  /** The part of the first line that the processor may change. */
  readonly part: ':path' | ':status'
  /** Whether a body follows the head, and not another protocol. */
  readonly hasBody: boolean
  body: Source
  buffered: BufferedBody | null
  /** Names and values of the headers in turn, with those of the first line before them. */
  fields(): string[]
  /** The reply when the body breaks off before anything was sent; null when the client has left. */
  brokenOff(cause: Error): Reply | null
  /** Reads as much as may be kept; `whole` refuses a body with more. */
  read(use: 'whole' | 'prefix', limit: number): StepResult
  /** Follows work in the background; an exception in it ends the request. */
  follow(work: Promise<unknown>): void
}

/** The request of a client. A class, because an object with accessors of its own costs more than the rest of a step. */
class RequestSide implements Side {
  readonly name = 'request'
  readonly part = ':path'
  readonly hasBody: boolean
  readonly #rx: RequestContext

  constructor(rx: RequestContext) {
    this.#rx = rx
    this.hasBody = rx.body.length !== 0 && rx.method !== 'CONNECT' && rx.exchange.upgrade === ''
  }

  get message(): EditableMessage {
    return editableRequest(this.#rx)
  }

  get body(): Source {
    return this.#rx.body
  }

  set body(body) {
    this.#rx.body = body
  }

  get buffered(): BufferedBody | null {
    return this.#rx.bufferedBody
  }

  set buffered(buffered) {
    this.#rx.bufferedBody = buffered
  }

  fields(): string[] {
    const { method, scheme, currentAuthority, upstreamTarget, headers } = this.#rx
    return withFields(requestLine(method, scheme, currentAuthority, upstreamTarget), headers)
  }

  brokenOff(): null {
    return null
  }

  read(use: 'whole' | 'prefix', limit: number): StepResult {
    return bufferRequest(use, limit)(this.#rx)
  }

  follow(work: Promise<unknown>): void {
    follow(this.#rx, work)
  }
}

class ResponseSide implements Side {
  readonly name = 'response'
  readonly part = ':status'
  readonly hasBody: boolean
  readonly #rx: AnsweredRequest

  constructor(rx: AnsweredRequest) {
    this.#rx = rx
    this.hasBody = rx.responseBody.length !== 0
  }

  get message(): EditableMessage {
    return editableResponse(this.#rx)
  }

  get body(): Source {
    return this.#rx.responseBody
  }

  set body(body) {
    this.#rx.responseBody = body
  }

  get buffered(): BufferedBody | null {
    return this.#rx.bufferedResponse
  }

  set buffered(buffered) {
    this.#rx.bufferedResponse = buffered
  }

  fields(): string[] {
    return withFields([':status', String(this.#rx.status)], this.#rx.responseHeaders)
  }

  brokenOff(cause: Error): Reply {
    return failureReply(brokenOff(cause), this.#rx.headers.get('content-type'))
  }

  read(use: 'whole' | 'prefix', limit: number): StepResult {
    return bufferResponse(use, limit)(this.#rx)
  }

  follow(work: Promise<unknown>): void {
    follow(this.#rx, work)
  }
}

export function requestSide(rx: RequestContext): Side {
  return new RequestSide(rx)
}

export function responseSide(rx: AnsweredRequest): Side {
  return new ResponseSide(rx)
}
