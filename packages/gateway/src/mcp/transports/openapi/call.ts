import type { OpenApiOperation, OpenApiTools } from '../../../formats/openapi/operation.ts'
import type { CompiledBackend } from '../../../pipeline/compiled/compiled.ts'
import { collect, emptySource, HeaderBlock, sourceOf } from '@portico/http'
import { sendAttempt } from '../../../pipeline/call/attempt.ts'
import type { UpstreamCall, UpstreamError, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import type { LocalServer } from '../local-server.ts'
import { connectionFailure, stopped } from '../failures.ts'
import type { Caller, LinkCall, TargetFailure } from '../../transport.ts'
import type { ApiRequest } from './encode-request.ts'

export interface OpenapiOptions {
  connection: CompiledBackend
  tools: OpenApiTools
  /** The value of the `Host` header. */
  authority: string
  /** The largest response. */
  maxMessageBytes: number
  bug: (error: unknown) => void
}

export interface OpenapiServices extends OpenapiOptions {
  server: LocalServer
  operationsByName: ReadonlyMap<string, OpenApiOperation>
}

interface ApiOutcome {
  answered(status: number, contentType: string, body: Buffer): void
  failed(failure: TargetFailure): void
}

/** One request to the API, and its complete response. */
export class ApiCall implements LinkCall, UpstreamHandler {
  readonly #caller: Caller
  readonly #services: OpenapiServices
  readonly #outcome: ApiOutcome
  #call: UpstreamCall | null = null
  #isOver = false

  constructor(caller: Caller, services: OpenapiServices, outcome: ApiOutcome) {
    this.#caller = caller
    this.#services = services
    this.#outcome = outcome
  }

  start(request: ApiRequest): this {
    const { rx, context, headers } = this.#caller
    const { connection, authority, bug } = this.#services
    const outgoing = {
      method: request.method,
      target: request.target,
      authority,
      headers: apiHeaders(request, headers),
      body: request.body === null ? emptySource : sourceOf(request.body.bytes),
      upgrade: '',
      teTrailers: false,
    }
    sendAttempt(connection, {
      outgoing,
      rx,
      context,
      bug,
      handler: this,
      isWanted: () => !this.#isOver,
      refused: (why) => {
        if (this.#end()) this.#outcome.failed(stopped(why))
      },
      sent: (call) => (this.#call = call),
    })
    return this
  }

  cancel(cause: Error): void {
    if (!this.#end()) return
    this.#call?.cancel(cause)
  }

  /** Does nothing: the response is a single message. */
  resume(): void {}

  informed(): void {}

  upgraded(_status: number, _headers: HeaderBlock, raw: { socket: { destroy(): void } }): void {
    raw.socket.destroy()
    this.#fail('bad_answer', 'it switched the protocol')
  }

  failed(error: UpstreamError): void {
    if (this.#end()) this.#outcome.failed(connectionFailure(error))
  }

  responded({ status, headers, body }: UpstreamResponse): void {
    if (this.#isOver) return body.cancel(NOT_NEEDED)
    const encoding = headers.get('content-encoding')
    if (encoding !== null && encoding.toLowerCase() !== 'identity') {
      body.cancel(NOT_NEEDED)
      return this.#fail('bad_answer', 'it used a content encoding that was not requested')
    }
    const { maxMessageBytes } = this.#services
    collect(body, maxMessageBytes, (bytes) => {
      if (this.#isOver) return
      if (bytes === null)
        return this.#fail('broken', `the answer broke off, or is larger than ${maxMessageBytes} bytes`)
      this.#end()
      this.#outcome.answered(status, headers.get('content-type') ?? '', bytes)
    })
  }

  #fail(code: TargetFailure['code'], message: string): void {
    if (this.#end()) this.#outcome.failed({ code, message })
  }

  /** Marks the call as over; false when it was over already. */
  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    return true
  }
}

/** Returns the headers of a request to the API: those in the document, and the client's headers that identify the request. */
function apiHeaders({ headers, cookies, accept, body }: ApiRequest, ofClient: HeaderBlock): HeaderBlock {
  const all = new HeaderBlock()
  ofClient.forEach((name, value) => {
    if (isPassedOn(name.toLowerCase())) all.add(name, value)
  })
  all.set('accept', accept)
  all.set('accept-encoding', 'identity')
  if (body !== null) all.set('content-type', body.contentType)
  if (cookies.length > 0) all.set('cookie', [all.get('cookie') ?? [], cookies].flat().join('; '))
  for (const [name, value] of headers) if (!all.has(name)) all.add(name, value)
  return all
}

/** The client's headers that are forwarded; credentials are present only if the config allows them. */
function isPassedOn(name: string): boolean {
  return PASSED_ON.has(name) || name.startsWith('x-forwarded-')
}

const PASSED_ON = new Set([
  'authorization',
  'baggage',
  'cookie',
  'forwarded',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
])

const NOT_NEEDED = new Error('the rest of the body is not needed')
