import type { Source } from '@portico/http'
import { brokenOff, bufferRequest, bufferResponse } from '../body/buffered-body.ts'
import type { BufferedBody } from '../context/body-use.ts'
import { type EditableMessage, editableRequest, editableResponse } from '../policy/editable-message.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import { follow } from '../call/follow.ts'
import { failureReply } from '../compiled/failure-reply.ts'
import type { Reply } from '../context/reply.ts'
import type { StepResult } from '../context/step.ts'
import type { HeaderMap } from '../../protos/envoy/config/core/v3/base.ts'
import { headerMap } from './mutation.ts'

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
  headerMap(): HeaderMap
  /** The reply when the body breaks off before anything was sent; null when the client has left. */
  brokenOff(cause: Error): Reply | null
  /** Reads as much as may be kept; `whole` refuses a body with more. */
  read(use: 'whole' | 'prefix', limit: number): StepResult
  /** Follows work in the background; an exception in it ends the request. */
  follow(work: Promise<unknown>): void
}

export function requestSide(rx: RequestContext): Side {
  return {
    name: 'request',
    message: editableRequest(rx),
    part: ':path',
    hasBody: rx.body.length !== 0 && rx.method !== 'CONNECT' && rx.exchange.upgrade === '',
    get body() {
      return rx.body
    },
    set body(body) {
      rx.body = body
    },
    get buffered() {
      return rx.bufferedBody
    },
    set buffered(buffered) {
      rx.bufferedBody = buffered
    },
    headerMap() {
      const { method, scheme, currentAuthority, upstreamTarget, headers } = rx
      const first = [
        [':method', method],
        [':scheme', scheme],
        [':authority', currentAuthority],
        [':path', upstreamTarget],
      ] as const
      return headerMap(first, headers)
    },
    brokenOff: () => null,
    read: (use, limit) => bufferRequest(use, limit)(rx),
    follow: (work) => follow(rx, work),
  }
}

export function responseSide(rx: AnsweredRequest): Side {
  return {
    name: 'response',
    message: editableResponse(rx),
    part: ':status',
    hasBody: rx.responseBody.length !== 0,
    get body() {
      return rx.responseBody
    },
    set body(body) {
      rx.responseBody = body
    },
    get buffered() {
      return rx.bufferedResponse
    },
    set buffered(buffered) {
      rx.bufferedResponse = buffered
    },
    headerMap: () => headerMap([[':status', String(rx.status)]], rx.responseHeaders),
    brokenOff: (cause) => failureReply(brokenOff(cause), rx.headers.get('content-type')),
    read: (use, limit) => bufferResponse(use, limit)(rx),
    follow: (work) => follow(rx, work),
  }
}
