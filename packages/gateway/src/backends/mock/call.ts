import { HeaderBlock, sourceOf } from '@portico/http'
import {
  type ChatError,
  type ChatRequest,
  type ClientFormat,
  type JsonObject,
  type ResponseContext,
  UnsupportedField,
} from '@portico/chat'
import { parseJsonObject } from '@portico/http/json'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { tracedSend } from '../../pipeline/traced/traced-send.ts'
import { targetPath } from '../../formats/query-parameters.ts'
import { type UpstreamCall, UpstreamError, type UpstreamHandler } from '@portico/http/client'
import { type MockAnswer, mockProvider } from './answer.ts'
import { readBody } from './read-body.ts'
import type { MockConfig } from '../../llm/providers/mock/schema.ts'
import { type Later, timedBody } from './timed-body.ts'

export interface MockServices {
  config: MockConfig
  /** The formats that the mock speaks, each under the path of its vendor. */
  formats: Readonly<Record<'completions' | 'messages' | 'responses', ClientFormat>>
  random: () => number
  /** Milliseconds since 1970. */
  clock: () => number
  newId: (prefix: string) => string
  later: Later
  maxBytes: number
}

/** The mock as a backend, so that policies in front of a provider apply to it too. */
export function mockBackend(identity: BackendIdentity, services: MockServices): CompiledBackend {
  const answerTo = mockProvider(services.config, services)
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    send: tracedSend(identity, ({ method, target, body }, _context, handler) => {
      const call = new MockCall(handler, services)
      const format = formatOf(targetPath(target), services.formats)
      readBody(body, services.maxBytes, (bytes) => {
        if (method === 'GET') call.list()
        else if (format === null) call.refuse(NOT_FOUND, null)
        else call.answer(bytes, format, answerTo)
      })
      return call
    }),
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'the mock does not support tunnels', true))
      return { cancel() {} }
    },
  }
}

/** The response header that says that the mock made the response. */
export const MOCK_HEADER = 'x-portico-mock'

class MockCall implements UpstreamCall {
  readonly #handler: UpstreamHandler
  readonly #services: MockServices
  #callOff: (() => void) | null = null
  #isCancelled = false

  constructor(handler: UpstreamHandler, services: MockServices) {
    this.#handler = handler
    this.#services = services
  }

  cancel(): void {
    this.#isCancelled = true
    this.#callOff?.()
  }

  list(): void {
    const { model } = this.#services.config
    const data = [{ id: model, object: 'model', created: 0, owned_by: 'portico-mock' }]
    this.#respond(200, { object: 'list', data })
  }

  refuse(error: ChatError, format: ClientFormat | null, retryAfterMs: number | null = null): void {
    const { status, body } = (format ?? this.#services.formats.completions).encodeError(error)
    const retry: [string, string][] =
      retryAfterMs === null ? [] : [['retry-after', String(Math.ceil(retryAfterMs / 1000))]]
    this.#respond(status, body, retry)
  }

  answer(bytes: Buffer | null, format: ClientFormat, answerTo: (request: ChatRequest) => MockAnswer): void {
    const body = bytes === null ? null : parseJsonObject(bytes.toString('utf8'))
    if (body === null) return this.refuse(UNREADABLE, format)
    const request = format.decodeRequest(body)
    if (request instanceof UnsupportedField) {
      const { field: param, message } = request
      return this.refuse({ status: 400, kind: 'invalid', message: `${param} ${message}`, param }, format)
    }
    const answer = answerTo(request)
    if (answer.kind === 'failed') {
      return this.#later(answer.afterMs, () => this.refuse(answer.error, format, answer.retryAfterMs))
    }
    const { clock, newId } = this.#services
    const now = Math.floor(clock() / 1000)
    const context: ResponseContext = { request, model: request.model, now, newId, toolNames: new Map() }
    if (request.stream) return this.#stream(answer, format, context)
    const whole = format.encodeResponse(
      answer.events.map(({ event }) => event),
      context,
    )
    const tookMs = answer.events.reduce((sum, { afterMs }) => sum + afterMs, 0)
    this.#later(tookMs, () => this.#respond(200, whole))
  }

  #stream(
    { events, isCut }: Extract<MockAnswer, { kind: 'answered' }>,
    format: ClientFormat,
    context: ResponseContext,
  ): void {
    const encoder = format.createStreamEncoder(context)
    const texts = events.map(({ afterMs, event }) => ({ afterMs, text: encoder.event(event) }))
    if (!isCut) texts.push({ afterMs: 0, text: encoder.end() })
    const body = timedBody(
      texts,
      isCut ? new Error('the stream was cut (simulated by the config)') : null,
      this.#services.later,
    )
    const headers = HeaderBlock.of([
      ['content-type', 'text/event-stream'],
      [MOCK_HEADER, 'true'],
    ])
    if (!this.#isCancelled) this.#handler.responded({ status: 200, headers, body })
  }

  #later(ms: number, run: () => void): void {
    if (ms === 0) run()
    else if (!this.#isCancelled) this.#callOff = this.#services.later(ms, run)
  }

  #respond(status: number, body: JsonObject, more: [string, string][] = []): void {
    if (this.#isCancelled) return
    const headers = HeaderBlock.of([['content-type', 'application/json'], [MOCK_HEADER, 'true'], ...more])
    this.#handler.responded({ status, headers, body: sourceOf(Buffer.from(JSON.stringify(body))) })
  }
}

function formatOf(path: string, formats: MockServices['formats']): ClientFormat | null {
  if (path.endsWith('/chat/completions')) return formats.completions
  if (path.endsWith('/messages')) return formats.messages
  return path.endsWith('/responses') ? formats.responses : null
}

const NOT_FOUND: ChatError = { status: 404, kind: 'notFound', message: 'the mock answers chats only' }
const UNREADABLE: ChatError = { status: 400, kind: 'invalid', message: 'the body must be a JSON object' }
