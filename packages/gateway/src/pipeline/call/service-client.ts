import { follow } from './follow.ts'
import { prepareAttempt } from './attempt.ts'
import type { CompiledBackend } from '../compiled/compiled.ts'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamRequest } from '@portico/http/client'
import type { BackendClient, CallContext } from '../context/step.ts'

/**
 * Returns the client for calls of policies to a backend. The policies of the backend apply to calls that are made for a
 * request; calls of the gateway itself have no request that the policies could read.
 */
export function serviceClient(backend: CompiledBackend, bug: (error: unknown) => void): BackendClient {
  if (backend.request === null && backend.sign === null) return backend
  return {
    hostname: backend.hostname,
    send(outgoing, context, handler) {
      const { rx } = context
      if (rx === undefined) return backend.send(outgoing, context, handler)
      const call = new PreparedCall(backend, outgoing, context, handler)
      const prepared = prepareAttempt(backend, { outgoing, rx, isWanted: () => call.isWanted, bug })
      if (prepared instanceof Promise)
        follow(
          rx,
          prepared.then((failure) => call.go(failure?.message ?? null)),
        )
      else call.go(prepared?.message ?? null)
      return call
    },
  }
}

/** A call that is sent after the backend's policies have run, unless it was canceled meanwhile. */
class PreparedCall implements UpstreamCall {
  isWanted = true
  readonly #backend: CompiledBackend
  readonly #outgoing: UpstreamRequest
  readonly #context: CallContext
  readonly #handler: UpstreamHandler
  #call: UpstreamCall | null = null

  constructor(backend: CompiledBackend, outgoing: UpstreamRequest, context: CallContext, handler: UpstreamHandler) {
    this.#backend = backend
    this.#outgoing = outgoing
    this.#context = context
    this.#handler = handler
  }

  go(failure: string | null): void {
    if (!this.isWanted) return
    if (failure === null) this.#call = this.#backend.send(this.#outgoing, this.#context, this.#handler)
    else this.#handler.failed(new UpstreamError('connect_failed', failure, true))
  }

  cancel(cause: Error): void {
    this.isWanted = false
    this.#call?.cancel(cause)
  }
}
