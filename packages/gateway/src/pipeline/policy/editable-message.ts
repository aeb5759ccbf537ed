import { type HeaderBlock, isAmbiguousPath, isAuthority, sourceOf } from '@portico/http'
import { wholeBody } from '../context/body-use.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'

/** A request or response whose parts can be replaced. */
export interface EditableMessage {
  readonly headers: HeaderBlock
  /** Replaces a part of the first line; returns false when the value is not valid there. */
  setPart(name: string, value: string): boolean
  /** Replaces the body; `content` is called only if the message can have a body. */
  replaceBody(content: () => Buffer): void
}

/** Edits the request for all later steps and the backend. */
export function editableRequest(rx: RequestContext): EditableMessage {
  return {
    headers: rx.headers,
    setPart(name, value) {
      if (!isRequestPart(name, value) || rx.method === 'CONNECT') return false
      if (name === ':method') rx.method = value
      else if (name === ':path') rx.setTarget(value)
      else rx.setAuthority(value)
      return true
    },
    replaceBody(content) {
      // The head of these requests is followed by another protocol, not by a body.
      if (rx.method === 'CONNECT' || rx.exchange.upgrade !== '') return
      const bytes = content()
      const trailers = rx.bufferedBody?.trailers ?? null
      dropBody(rx)
      announceLength(rx.headers, bytes.length)
      rx.body = sourceOf(bytes, trailers)
      rx.bufferedBody = wholeBody(bytes, trailers)
    },
  }
}

/** Edits one attempt; the next attempt starts from the unchanged request. */
export function editableAttempt(outgoing: OutgoingRequest, rx: RequestContext): EditableMessage {
  return {
    headers: outgoing.headers,
    setPart(name, value) {
      if (!isRequestPart(name, value)) return false
      if (name === ':method') outgoing.method = value
      else if (name === ':path') outgoing.target = value
      else outgoing.authority = value
      return true
    },
    replaceBody(content) {
      if (outgoing.upgrade !== '') return
      const bytes = content()
      dropBody(rx)
      announceLength(outgoing.headers, bytes.length)
      outgoing.body = sourceOf(bytes, rx.bufferedBody?.trailers ?? null)
    },
  }
}

/** Edits the response before it is sent. */
export function editableResponse(rx: AnsweredRequest): EditableMessage {
  const headers = rx.responseHeaders
  return {
    headers,
    setPart(name, value) {
      if (name !== ':status' || !/^[2-5][0-9][0-9]$/.test(value)) return false
      rx.status = Number(value)
      return true
    },
    replaceBody(content) {
      if (rx.status === 204 || rx.status === 304) return
      // `content-length` would be the length before the change.
      if (rx.exchange.method === 'HEAD') return headers.remove('content-length')
      const bytes = content()
      const trailers = rx.bufferedResponse?.trailers ?? null
      rx.responseBody.cancel(REPLACED)
      announceLength(headers, bytes.length)
      rx.responseBody = sourceOf(bytes, trailers)
      rx.bufferedResponse = wholeBody(bytes, trailers)
    },
  }
}

/** Cancels a body that a policy made; the connection discards the rest of the client's own body. */
function dropBody(rx: RequestContext): void {
  if (rx.body !== rx.exchange.body) rx.body.cancel(REPLACED)
}

/** Corrects `content-length` if the message has one; otherwise the length is added when the message is written. */
function announceLength(headers: HeaderBlock, length: number): void {
  if (headers.has('content-length')) headers.set('content-length', String(length))
}

/** Whether the value is valid for a part of the request line; `host` is another name of `:authority`. */
function isRequestPart(name: string, value: string): boolean {
  switch (name) {
    case ':method':
      return isMethod(value)
    case ':path':
      return isPath(value)
    case ':authority':
    case 'host':
      return isAuthority(value)
    default:
      return false
  }
}

/** Whether the text is a method other than CONNECT, which would turn the request into a tunnel. */
function isMethod(text: string): boolean {
  return text !== 'CONNECT' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$/.test(text)
}

/** Whether clients may send this path: visible ASCII, no fragment, no backslash, no dot segments. */
function isPath(text: string): boolean {
  return text.length <= MAX_PATH && /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/.test(text) && !isAmbiguousPath(text)
}

const MAX_PATH = 32_768
const REPLACED = new Error('body replaced')
