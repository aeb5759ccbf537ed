import { type HeaderBlock, isAmbiguousPath, isAuthority, sourceOf } from '@portico/http'
import { wholeBody } from '../context/body-use.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'

/** A message under way whose parts may be replaced. */
export interface EditableMessage {
  readonly headers: HeaderBlock
  /** Replaces a part of the first line; false when the value cannot stand there. */
  setPart(name: string, value: string): boolean
  /** `content` is asked only where a body can stand. */
  replaceBody(content: () => Buffer): void
}

/** The request, for everything that follows. */
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
      // What follows the head of these is another protocol.
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

/** One attempt only: the next one starts again from the request. */
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

/** The response that is about to leave. */
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
      // It would say how long the body was before the change.
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

/** What the client still sends of its own body is the connection's business. */
function dropBody(rx: RequestContext): void {
  if (rx.body !== rx.exchange.body) rx.body.cancel(REPLACED)
}

/** A message that says how long its body is must not be wrong; the others say it where they have to. */
function announceLength(headers: HeaderBlock, length: number): void {
  if (headers.has('content-length')) headers.set('content-length', String(length))
}

/** `host` is another name of `:authority`: it is not among the headers. */
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

/** As in a request line; CONNECT would make another kind of exchange of it. */
function isMethod(text: string): boolean {
  return text !== 'CONNECT' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$/.test(text)
}

/** As clients may send it: visible ASCII, no fragment, no backslash, nothing that backends might resolve. */
function isPath(text: string): boolean {
  return text.length <= MAX_PATH && /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/.test(text) && !isAmbiguousPath(text)
}

const MAX_PATH = 32_768
const REPLACED = new Error('body replaced')
