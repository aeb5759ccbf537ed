import { Deadline, type Deadlines, HeaderBlock, sourceOf } from '@portico/http'
import { contained } from '@portico/http/faults'
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from '@portico/http/client'
import type { CompiledBackend } from '../compiled/compiled.ts'
import type { CallContext, Env } from '../context/step.ts'
import { type BackendRehearsal, noteRehearsal } from '../policy/rehearsal.ts'

/**
 * Returns a backend of which a share of the calls is delayed or answered with an error, as the rehearsal says. Retries,
 * failover and fallback treat the error as a response of the backend. Tunnels and datagrams are not affected.
 */
export function rehearsedBackend(backend: CompiledBackend, rehearsal: BackendRehearsal, env: Env): CompiledBackend {
  const { percentage, endsAt } = rehearsal
  const attachment = `rehearsal/${backend.key}`
  const services = {
    deadlines: env.deadlines,
    countDelay: env.rehearsed(attachment, 'delay'),
    countAbort: env.rehearsed(attachment, 'abort'),
  }
  return {
    ...backend,
    send(request, context, handler) {
      const isMeant = env.clock() < endsAt && env.random() * 100 < percentage
      if (!isMeant) return backend.send(request, context, handler)
      const call = new RehearsedCall({ backend, request, context, handler }, rehearsal, services)
      call.start()
      return call
    },
  }
}

/** The header that marks a response as sent by a rehearsal. */
export const REHEARSAL_HEADER = 'x-portico-rehearsal'

interface CallParts {
  readonly backend: CompiledBackend
  readonly request: UpstreamRequest
  readonly context: CallContext
  readonly handler: UpstreamHandler
}

interface RehearsalServices {
  readonly deadlines: Deadlines
  readonly countDelay: () => void
  readonly countAbort: () => void
}

class RehearsedCall implements UpstreamCall {
  readonly #parts: CallParts
  readonly #rehearsal: BackendRehearsal
  readonly #services: RehearsalServices
  readonly #pause = new Deadline(() => contained('request', () => this.#goOn()))
  /** The call to the real backend; null until the delay is over. */
  #call: UpstreamCall | null = null
  #isCancelled = false

  constructor(parts: CallParts, rehearsal: BackendRehearsal, services: RehearsalServices) {
    this.#parts = parts
    this.#rehearsal = rehearsal
    this.#services = services
  }

  start(): void {
    const { delayMs } = this.#rehearsal
    // The microtask keeps a response from arriving before `send` returns, because a caller may replace the call until then.
    if (delayMs === null) return queueMicrotask(() => contained('request', () => this.#goOn()))
    this.#services.countDelay()
    this.#note('delay', `${delayMs}ms`, { delayMs })
    this.#services.deadlines.set(this.#pause, delayMs)
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.#services.deadlines.clear(this.#pause)
    this.#call?.cancel(cause)
  }

  #goOn(): void {
    if (this.#isCancelled) return
    const { backend, request, context, handler } = this.#parts
    const { id, status } = this.#rehearsal
    if (status === null) {
      this.#call = backend.send(request, context, handler)
      return
    }
    this.#services.countAbort()
    this.#note('abort', String(status), { status })
    const headers = HeaderBlock.of([
      ['content-type', 'application/json'],
      [REHEARSAL_HEADER, id],
    ])
    handler.responded({ status, headers, body: sourceOf(BODY) })
  }

  #note(kind: 'delay' | 'abort', what: string, details: object): void {
    const { rx } = this.#parts.context
    if (rx === undefined) return
    noteRehearsal(rx, `${kind} ${what}`)
    if (rx.trace === null) return
    rx.trace.note({ rehearsal: this.#rehearsal.id, ...details })
    const { status } = this.#rehearsal
    rx.trace.policy(kind, 'backend', kind === 'abort' && status !== null ? { reason: 'Abort', status } : undefined)
  }
}

const BODY = Buffer.from('{"error":{"message":"answered by a rehearsal of the gateway","type":"rehearsal"}}\n')
