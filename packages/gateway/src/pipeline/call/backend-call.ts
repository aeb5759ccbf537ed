import { Deadline, type Deadlines, HeaderBlock, isAtHand, type RawConnection, ReplayableBody } from '@portico/http'
import { contained, InternalFault } from '@portico/http/faults'
import {
  isIdempotent,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamResponse,
} from '@portico/http/client'
import { marksUnhealthy, prepareAttempt } from './attempt.ts'
import type { CompiledBackend } from '../compiled/compiled.ts'
import { type Failure, failures, upstreamFailure } from '../context/failure.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { RequestContext, RetryRule } from '../context/request-context.ts'
import type { CallContext } from '../context/step.ts'

export interface BackendCallServices {
  deadlines: Deadlines
  now: () => number
  telemetry: {
    /** Called with the time from a call to the head of its response. */
    backendAnswered(rx: RequestContext, milliseconds: number): void
  }
  /** Reports an exception of a step, which is a bug; the request is answered all the same. */
  bug: (error: unknown) => void
}

/** The result of a call: one of `responded`, `tunnelled` and `failed`. Nothing is called after `cancel`. */
export interface BackendOutcome {
  informed(status: number, headers: HeaderBlock): void
  responded(response: UpstreamResponse): void
  tunnelled(status: number, headers: HeaderBlock, backend: RawConnection): void
  failed(failure: Failure): void
  /** Reports an exception from code that the call runs. */
  faulted(error: unknown): void
}

/** The call of one request to its backend: all attempts with their time limits, and the pauses between attempts. */
export class BackendCall implements UpstreamHandler, CallContext {
  readonly #rx: RequestContext
  readonly #backend: CompiledBackend
  readonly #services: BackendCallServices
  readonly #outcome: BackendOutcome
  readonly #replayable: ReplayableBody | null = null
  #call: UpstreamCall | null = null
  #limit: Deadline | null = null
  #pause: Deadline | null = null
  #calledAt = 0
  /** The method that was sent; policies of the backend may have changed it. */
  #method = ''
  /** Endpoints of earlier attempts; null when the request has no retry rule. */
  #tried: string[] | null = null
  /** The attempt whose policies have not all run yet. */
  #preparing: OutgoingRequest | null = null
  #over = false

  constructor(rx: RequestContext, backend: CompiledBackend, services: BackendCallServices, outcome: BackendOutcome) {
    this.#rx = rx
    this.#backend = backend
    this.#services = services
    this.#outcome = outcome
    if (rx.retry !== null && !isAtHand(rx.body)) {
      this.#replayable = ReplayableBody.wrap(rx.body)
      if (this.#replayable !== null) rx.body = this.#replayable
    }
  }

  get rx(): RequestContext {
    return this.#rx
  }

  get hops(): string {
    return this.#rx.exchange.hops
  }

  get clientVersion(): string {
    return this.#rx.exchange.version
  }

  get clientScheme(): 'http' | 'https' {
    return this.#rx.connection.scheme
  }

  get span(): CallContext['span'] {
    const { spans } = this.#rx
    return spans === null ? null : spans.parent
  }

  get clientAddress(): string {
    return this.#rx.connection.address
  }

  get belongsTo(): CallContext['belongsTo'] {
    const { sticky } = this.#rx
    if (sticky === null || sticky.backend !== this.#backend.key) return null
    return { endpoint: sticky.endpoint, isOnly: false }
  }

  connectingTo(endpoint: string): void {
    this.#rx.endpoint = endpoint
    if (this.#rx.retry !== null) (this.#tried ??= []).push(endpoint)
    this.#rx.trace?.callStarted(endpoint)
  }

  sentAgain(error: UpstreamError): void {
    const { trace, endpoint } = this.#rx
    if (trace === null) return
    trace.callFailed(this.#backend.name, error)
    trace.callStarted(endpoint ?? this.#backend.name)
  }

  hasTried(endpoint: string): boolean {
    return this.#tried !== null && this.#tried.includes(endpoint)
  }

  hasEvicted(): void {
    this.#rx.hasEvicted = true
  }

  isUnhealthy(response: UpstreamResponse): boolean {
    return marksUnhealthy(this.#backend.unhealthyCondition, this.#rx, response)
  }

  start(): void {
    if (this.#rx.retryAttempt === 0) this.#backend.retryBudget?.countRequest()
    if (this.#rx.method === 'CONNECT') this.#tunnel()
    else this.#attempt()
  }

  /** Cancels the call, and the response if it has begun. */
  cancel(cause: Error): void {
    this.#over = true
    this.#preparing = null
    this.#clear()
    this.#call?.cancel(cause)
    this.#call = null
    // Sources that wrap the client's body must learn that no backend will read them.
    if (this.#replayable !== null) this.#replayable.stopKeeping()
    else if (this.#rx.body !== this.#rx.exchange.body) this.#rx.body.cancel(cause)
  }

  #attempt(): void {
    const rx = this.#rx
    const backend = this.#backend
    const upgrade = rx.exchange.upgrade
    if (backend.requestTimeoutMs > 0) {
      this.#limit ??= new Deadline(() => this.#timedOut())
      this.#services.deadlines.set(this.#limit, backend.requestTimeoutMs)
    }
    this.#calledAt = this.#services.now()
    const outgoing: OutgoingRequest = {
      method: rx.method,
      target: rx.upstreamTarget,
      authority: rx.authorityFor(backend.hostname),
      headers: rx.headers,
      body: rx.body,
      upgrade: upgrade !== '' && rx.upgrades.has(upgrade) ? upgrade : '',
      teTrailers: rx.exchange.teTrailers,
      limitsHead: backend.limitsHead === true,
    }
    if (backend.request === null && backend.sign === null) this.#send(outgoing)
    else this.#prepare(outgoing)
  }

  /** Runs the backend's policies on a copy of the headers; every retry begins with a new copy. */
  #prepare(outgoing: OutgoingRequest): void {
    const rx = this.#rx
    outgoing.headers = rx.headers.clone()
    this.#preparing = outgoing
    const isWanted = (): boolean => this.#preparing === outgoing
    const prepared = prepareAttempt(this.#backend, { outgoing, rx, isWanted, bug: this.#services.bug })
    if (!(prepared instanceof Promise)) return this.#prepared(outgoing, prepared)
    prepared
      .then((failure) => {
        if (isWanted()) this.#prepared(outgoing, failure)
      })
      .catch((error: unknown) => this.#faulted(error))
  }

  #prepared(outgoing: OutgoingRequest, failure: Failure | undefined): void {
    this.#preparing = null
    if (failure === undefined) this.#send(outgoing)
    else this.#refused(failure)
  }

  #send(outgoing: OutgoingRequest): void {
    const rx = this.#rx
    const backend = this.#backend
    this.#method = outgoing.method
    if (rx.trace !== null && rx.retryAttempt === 0) rx.trace.sending(outgoing, backend)
    this.#call = backend.send(outgoing, this, this)
  }

  #refused(failure: Failure): void {
    this.#clear()
    this.#outcome.failed(failure)
  }

  #tunnel(): void {
    this.#call = this.#backend.connect(this.#rx.authority, this, (outcome) => {
      if (outcome instanceof UpstreamError) this.failed(outcome)
      else if (this.#over) outcome.destroy()
      else this.upgraded(200, new HeaderBlock(), { socket: outcome, early: null })
    })
  }

  /** Cancels the call after an internal error and reports the error. */
  #faulted(error: unknown): void {
    contained('request', () => this.cancel(FAULT))
    this.#outcome.faulted(error)
  }

  #timedOut(): void {
    const isUnsent = this.#preparing !== null
    if (isUnsent) this.#rx.giveUpCallouts()
    const error = new UpstreamError('response_timeout', 'no response in time', isUnsent)
    this.#preparing = null
    contained('request', () => this.#call?.cancel(error))
    this.failed(error)
  }

  informed(status: number, headers: HeaderBlock): void {
    if (!this.#over && status !== 100) this.#outcome.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    try {
      this.#responded(response)
    } catch (error) {
      this.#faulted(error)
    }
  }

  #responded(response: UpstreamResponse): void {
    if (this.#over) return response.body.cancel(ABANDONED)
    this.#clear()
    const now = (this.#rx.answeredAt = this.#services.now())
    this.#services.telemetry.backendAnswered(this.#rx, now - this.#calledAt)
    // A backend with several providers has already reported each provider's response to the trace.
    if (this.#rx.trace?.callIsOpen) this.#rx.trace.callEnded(response.status, null)
    const { retry } = this.#rx
    if (retry !== null && retry.codes.has(response.status) && this.#canRepeat(retry)) {
      // First, because the cancel also stops the old attempt from reading the request body.
      response.body.cancel(ABANDONED)
      this.#failedCall(response.status, null)
      return this.#repeatWithinBudget(retry)
    }
    this.#replayable?.stopKeeping()
    this.#outcome.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, backend: RawConnection): void {
    if (this.#over) {
      backend.socket.destroy()
      return
    }
    this.#clear()
    this.#call = null
    if (this.#rx.trace?.callIsOpen) this.#rx.trace.callEnded(status, null)
    this.#outcome.tunnelled(status, headers, backend)
  }

  failed(error: UpstreamError): void {
    try {
      this.#failed(error)
    } catch (thrown) {
      this.#faulted(thrown)
    }
  }

  #failed(error: UpstreamError): void {
    if (this.#over) return
    this.#clear()
    const rx = this.#rx
    rx.error = error.message
    this.#failedCall(null, `${error.code}: ${error.message}`)
    rx.trace?.callFailed(this.#backend.name, error)
    const { retry } = rx
    if (retry !== null && isRepeatable(error, this.#method) && this.#canRepeat(retry)) this.#repeatWithinBudget(retry)
    else this.#outcome.failed(upstreamFailure(error))
  }

  /** Keeps a failed call for the record of the request. */
  #failedCall(status: number | null, error: string | null): void {
    const target = this.#rx.endpoint ?? this.#backend.name
    const call = { target, status, error, from: this.#calledAt, to: this.#services.now() }
    this.#rx.answeredAt = 0
    if ((this.#rx.failedCalls ??= []).length < MAX_CALLS) this.#rx.failedCalls.push(call)
  }

  #canRepeat({ attempts }: RetryRule): boolean {
    return this.#rx.retryAttempt < attempts && isAtHand(this.#rx.body)
  }

  #repeatWithinBudget(retry: RetryRule): void {
    const { retryBudget } = this.#backend
    if (retryBudget === undefined || retryBudget.takeRetry()) return this.#repeat(retry)
    this.#outcome.failed(failures.retryBudgetSpent)
  }

  #repeat({ backoffMs: pauseMs }: RetryRule): void {
    const rx = this.#rx
    this.#replayable?.rewind()
    rx.retryAttempt++
    rx.headers.set('x-retry-attempt', String(rx.retryAttempt))
    rx.error = null
    this.#call = null
    if (pauseMs === 0) return this.start()
    this.#pause ??= new Deadline(() => {
      try {
        this.start()
      } catch (error) {
        this.#faulted(error)
      }
    })
    this.#services.deadlines.set(this.#pause, pauseMs)
  }

  #clear(): void {
    if (this.#limit !== null) this.#services.deadlines.clear(this.#limit)
    if (this.#pause !== null) this.#services.deadlines.clear(this.#pause)
  }
}

/** Whether a retry can help and is safe: a forbidden address stays forbidden, and a sent request must be idempotent. */
function isRepeatable(error: UpstreamError, method: string): boolean {
  if (error.code === 'address_refused' || error.code === 'invalid_backend') return false
  return error.unsent || isIdempotent(method)
}

const ABANDONED = new Error('response not needed')
const FAULT = new InternalFault()
const MAX_CALLS = 32
