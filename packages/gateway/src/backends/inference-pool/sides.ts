import { type Source, sourceOf } from '@portico/http'
import type { UpstreamResponse } from '@portico/http/client'
import { follow } from '../../pipeline/call/follow.ts'
import type { BufferedBody } from '../../pipeline/context/body-use.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { requestLine, withFields } from '../../pipeline/ext-proc/fields.ts'
import type { Side } from '../../pipeline/ext-proc/side.ts'
import { type EditableMessage, editableAttempt } from '../../pipeline/policy/editable-message.ts'

/** One attempt, as a picker may see and change it. */
export class AttemptSide implements Side {
  readonly name = 'request'
  readonly part = ':path'
  readonly hasBody: boolean
  buffered: BufferedBody | null = null
  readonly #outgoing: OutgoingRequest
  readonly #rx: RequestContext

  constructor(outgoing: OutgoingRequest, rx: RequestContext) {
    this.#outgoing = outgoing
    this.#rx = rx
    this.hasBody = outgoing.body.length !== 0 && outgoing.upgrade === ''
  }

  get message(): EditableMessage {
    return editableAttempt(this.#outgoing, this.#rx)
  }

  get body(): Source {
    return this.#outgoing.body
  }

  set body(body) {
    this.#outgoing.body = body
  }

  fields(): string[] {
    const { method, authority, target, headers } = this.#outgoing
    return withFields(requestLine(method, this.#rx.scheme, authority, target), headers)
  }

  brokenOff(): null {
    return null
  }

  read(): never {
    throw new Error(UNBUFFERED)
  }

  follow(work: Promise<unknown>): void {
    follow(this.#rx, work)
  }
}

/** The response of an endpoint, as a picker may see and change it. */
export class AnswerSide implements Side, EditableMessage {
  readonly name = 'response'
  readonly part = ':status'
  readonly hasBody: boolean
  buffered: BufferedBody | null = null
  readonly brokenOff: Side['brokenOff']
  readonly headers: EditableMessage['headers']
  readonly #response: UpstreamResponse
  readonly #rx: RequestContext

  constructor(response: UpstreamResponse, rx: RequestContext, brokenOff: Side['brokenOff']) {
    this.#response = response
    this.#rx = rx
    this.brokenOff = brokenOff
    this.headers = response.headers
    this.hasBody = response.body.length !== 0
  }

  get message(): EditableMessage {
    return this
  }

  setPart(name: string, value: string): boolean {
    if (name !== ':status' || !/^[2-5][0-9][0-9]$/.test(value)) return false
    this.#response.status = Number(value)
    return true
  }

  replaceBody(content: () => Buffer): void {
    const response = this.#response
    if (response.body.length === 0) return
    response.body.cancel(REPLACED)
    this.headers.remove('content-length')
    response.body = sourceOf(content())
  }

  get body(): Source {
    return this.#response.body
  }

  set body(body) {
    this.#response.body = body
  }

  fields(): string[] {
    return withFields([':status', String(this.#response.status)], this.headers)
  }

  read(): never {
    throw new Error(UNBUFFERED)
  }

  follow(work: Promise<unknown>): void {
    follow(this.#rx, work)
  }
}

const UNBUFFERED = 'bodies of inference pools are streamed'
const REPLACED = new Error('body replaced')
