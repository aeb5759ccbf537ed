import { Deadline, type Deadlines, type HeaderBlock, type RawConnection } from '@portico/http'
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@portico/http/client'
import type { CompiledBackend } from '../compiled/compiled.ts'
import type { CallContext } from '../context/step.ts'

/**
 * Returns the backend with its own time limit for the head of each response. Used for the parts of composite backends,
 * because `BackendCall` limits only the call to the composite backend.
 */
export function limitCalls(backend: CompiledBackend, deadlines: Deadlines): CompiledBackend {
  const { requestTimeoutMs } = backend
  if (requestTimeoutMs === 0) return backend
  return {
    ...backend,
    requestTimeoutMs: 0,
    send(request, context, handler) {
      const call = new LimitedCall(handler, deadlines)
      call.start(backend, request, context, requestTimeoutMs)
      return call
    },
  }
}

class LimitedCall implements UpstreamCall, UpstreamHandler {
  readonly #handler: UpstreamHandler
  readonly #deadlines: Deadlines
  readonly #limit = new Deadline(() => this.#expired())
  #call: UpstreamCall | null = null
  #isOver = false

  constructor(handler: UpstreamHandler, deadlines: Deadlines) {
    this.#handler = handler
    this.#deadlines = deadlines
  }

  start(backend: CompiledBackend, request: UpstreamRequest, context: CallContext, limitMs: number): void {
    this.#deadlines.set(this.#limit, limitMs)
    const call = backend.send(request, context, this)
    // `failed` may have run before `send` returned.
    this.#call = call
  }

  cancel(cause: Error): void {
    this.#end()
    this.#call?.cancel(cause)
  }

  informed(status: number, headers: HeaderBlock): void {
    if (!this.#isOver) this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    if (this.#end()) this.#handler.responded(response)
    else response.body.cancel(TOO_LATE)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    if (this.#end()) this.#handler.upgraded(status, headers, raw, protocol)
    else raw.socket.destroy()
  }

  failed(error: UpstreamError): void {
    if (this.#end()) this.#handler.failed(error)
  }

  #expired(): void {
    if (!this.#end()) return
    const error = new UpstreamError('response_timeout', 'no response in time', false)
    this.#call?.cancel(error)
    this.#handler.failed(error)
  }

  /** Returns false when the call was already over. */
  #end(): boolean {
    this.#deadlines.clear(this.#limit)
    const wasOpen = !this.#isOver
    this.#isOver = true
    return wasOpen
  }
}

const TOO_LATE = new Error('no response in time')
