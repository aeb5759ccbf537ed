import { sourceOf } from '../net/body.ts'
import { Deadline, type Deadlines } from '../net/deadlines.ts'
import type { Exchange, ExchangeObserver, RawConnection } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { splice } from '../net/splice.ts'
import {
  isIdempotent,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../upstream/contract.ts'
import type { CompiledBackend, CompiledListener } from './compiled.ts'
import { type Failure, failures, upstreamFailure } from './failure.ts'
import { GrpcStatusSink, readGrpcStatus } from './grpc-status.ts'
import { ReplayableBody } from './replayable-body.ts'
import { Reply } from './reply.ts'
import { Rx } from './request.ts'
import { rescue } from './rescue.ts'
import type { CallContext } from './step.ts'

/** What running a request takes from the worker. */
export interface RunServices {
  deadlines: Deadlines
  random: () => number
  now: () => number
  /** The present time as a Date header has it. */
  httpDate: () => string
  /** Told the milliseconds from a call to the head of its response. */
  callTimer: (milliseconds: number) => void
  /** Called once per request when everything is over. */
  finished: (rx: Rx) => void
  /** A bug in a step: the request is answered, the error must be seen. */
  bug: (error: unknown) => void
}

/** Carries one request from its head to its log line. */
export function run(exchange: Exchange, listener: CompiledListener | Failure, services: RunServices): void {
  new RequestRun(exchange, services).start(listener)
}

class RequestRun implements ExchangeObserver, UpstreamHandler, CallContext {
  readonly #rx: Rx
  readonly #exchange: Exchange
  readonly #services: RunServices
  #backend: CompiledBackend | null = null
  #call: UpstreamCall | null = null
  #requestDeadline: Deadline | null = null
  #attemptDeadline: Deadline | null = null
  /** The wait before the next attempt. */
  #pause: Deadline | null = null
  #replayable: ReplayableBody | null = null
  /** The response head has been handed over. */
  #responding = false
  #calledAt = 0
  #over = false

  constructor(exchange: Exchange, services: RunServices) {
    this.#exchange = exchange
    this.#services = services
    this.#rx = new Rx(exchange, services.now())
    exchange.observer = this
  }

  start(listener: CompiledListener | Failure): void {
    const rx = this.#rx
    if ('status' in listener) return this.#fail(listener)
    rx.listener = listener
    const match = listener.routes.find(rx)
    if (match === null) return this.#fail(rx.method === 'CONNECT' ? failures.methodNotAllowed : failures.routeNotFound)
    rx.match = match
    rx.route = match.value
    this.#runRequestSteps(0)
  }

  // Request steps.

  #runRequestSteps(from: number): void {
    const steps = this.#rx.route!.request
    if (steps !== null) {
      for (let i = from; i < steps.length; i++) {
        let result
        try {
          result = steps[i]!(this.#rx)
        } catch (error) {
          return this.#bug(error)
        }
        if (result === undefined) continue
        if (result instanceof Reply) return this.#reply(result)
        result.then(
          (reply) => {
            if (this.#over) return
            if (reply instanceof Reply) this.#reply(reply)
            else this.#runRequestSteps(i + 1)
          },
          (error: unknown) => this.#bug(error),
        )
        return
      }
    }
    this.#callBackend()
  }

  // The backend.

  get clientVersion(): string {
    return this.#exchange.version
  }

  get clientScheme(): 'http' | 'https' {
    return this.#rx.connection.scheme
  }

  connectingTo(endpoint: string): void {
    this.#rx.endpoint = endpoint
  }

  #callBackend(): void {
    const rx = this.#rx
    const route = rx.route!
    if (rx.method === 'CONNECT' && !rx.upgrades.has('connect')) return this.#fail(failures.methodNotAllowed)
    const upgrade = this.#exchange.upgrade
    if (upgrade !== '' && !rx.upgrades.has(upgrade)) {
      // An offer of HTTP/2 may be ignored (RFC 9110 section 7.8); forwarding one is a way to smuggle.
      if (upgrade !== 'h2c') return this.#fail(failures.upgradeNotAllowed)
    }
    const index = route.pick === null ? -1 : route.pick(route.backends.length === 1 ? 0 : this.#services.random())
    if (index === -1) return this.#fail(failures.noValidBackends)
    rx.backendIndex = index
    this.#backend = route.backends[index]!
    if (rx.requestTimeoutMs > 0) {
      this.#requestDeadline = new Deadline(() => this.#timedOut())
      this.#services.deadlines.set(this.#requestDeadline, rx.requestTimeoutMs)
    }
    if (rx.method === 'CONNECT') return this.#tunnel()
    if (rx.retry !== null && rx.body.length !== 0) {
      this.#replayable = ReplayableBody.wrap(rx.body)
      if (this.#replayable !== null) rx.body = this.#replayable
    }
    this.#attempt()
  }

  #attempt(): void {
    const rx = this.#rx
    const backend = this.#backend!
    const upgrade = this.#exchange.upgrade
    const request: UpstreamRequest = {
      method: rx.method,
      target: rx.upstreamTarget,
      authority: rx.authorityFor(backend.hostname),
      scheme: rx.connection.scheme,
      headers: rx.headers,
      body: rx.body,
      upgrade: upgrade !== '' && rx.upgrades.has(upgrade) ? upgrade : '',
      teTrailers: this.#exchange.teTrailers,
    }
    if (backend.requestTimeoutMs > 0) {
      this.#attemptDeadline ??= new Deadline(() => this.#attemptTimedOut())
      this.#services.deadlines.set(this.#attemptDeadline, backend.requestTimeoutMs)
    }
    this.#calledAt = this.#services.now()
    this.#call = backend.send(request, this, this)
  }

  #attemptTimedOut(): void {
    this.#call?.cancel(TIMED_OUT)
    this.failed(new UpstreamError('response_timeout', 'no response in time', false))
  }

  #timedOut(): void {
    this.#call?.cancel(TIMED_OUT)
    if (!this.#responding) return this.#fail(failures.requestTimeout)
    this.#rx.reason = 'Timeout'
    this.#rx.error = failures.requestTimeout.message
    this.#exchange.reset(TIMED_OUT)
  }

  informed(status: number, headers: HeaderBlock): void {
    if (!this.#over && status !== 100) this.#exchange.inform(status, headers)
  }

  responded(response: UpstreamResponse): void {
    if (this.#over) return response.body.cancel(ABANDONED)
    this.#clearAttempt()
    this.#services.callTimer(this.#services.now() - this.#calledAt)
    const rx = this.#rx
    if (rx.retry !== null && rx.retry.codes.has(response.status) && this.#canRetry(true)) {
      // First, because it cancels what the old attempt still reads of the request body.
      response.body.cancel(ABANDONED)
      return this.#retry()
    }
    this.#replayable?.settle()
    rx.status = response.status
    rx.responseHeaders = response.headers
    rx.responseBody = response.body
    this.#runResponseSteps(0)
  }

  failed(error: UpstreamError): void {
    if (this.#over) return
    this.#clearAttempt()
    this.#rx.error = error.message
    if (this.#rx.retry !== null && this.#canRetry(isRepeatable(error, this.#rx.method))) return this.#retry()
    this.#fail(upstreamFailure(error))
  }

  #canRetry(safe: boolean): boolean {
    const rx = this.#rx
    if (!safe || rx.retryAttempt >= rx.retry!.attempts) return false
    return this.#replayable === null ? rx.body.length === 0 : this.#replayable.whole
  }

  #retry(): void {
    const rx = this.#rx
    const rule = rx.retry!
    this.#replayable?.rewind()
    rx.retryAttempt++
    rx.headers.set('x-retry-attempt', String(rx.retryAttempt))
    this.#call = null
    rx.error = null
    if (rule.backoffMs === 0) return this.#again()
    this.#pause ??= new Deadline(() => this.#again())
    this.#services.deadlines.set(this.#pause, rule.backoffMs)
  }

  #again(): void {
    if (this.#rx.method === 'CONNECT') this.#tunnel()
    else this.#attempt()
  }

  #clearAttempt(): void {
    if (this.#attemptDeadline !== null) this.#services.deadlines.clear(this.#attemptDeadline)
    if (this.#pause !== null) this.#services.deadlines.clear(this.#pause)
  }

  // Tunnels.

  upgraded(status: number, headers: HeaderBlock, backend: RawConnection): void {
    if (this.#over) {
      backend.socket.destroy()
      return
    }
    this.#clearAttempt()
    this.#rx.status = status
    this.#rx.responseHeaders = headers
    const client = this.#exchange.takeOver(status, headers)
    if (client === null) {
      backend.socket.destroy()
      return this.#fail(failures.upgradeFailed)
    }
    this.#splice(client, backend)
  }

  #tunnel(): void {
    this.#call = this.#backend!.connect(this.#rx.authority, this, (error, socket) => {
      if (this.#over) {
        socket?.destroy()
        return
      }
      if (socket === null) return this.failed(error!)
      this.upgraded(200, new Reply(200, { reason: 'Upstream' }).headers, { socket, early: null })
    })
  }

  #splice(client: RawConnection, backend: RawConnection): void {
    this.#responding = true
    this.#call = null
    // The response was the change of protocol; what follows has no end that a limit could be about.
    if (this.#requestDeadline !== null) this.#services.deadlines.clear(this.#requestDeadline)
    splice(client, backend, (sent, received) => {
      this.#rx.tunnelBytesIn = sent
      this.#rx.tunnelBytesOut = received
      this.#finish()
    })
  }

  // The response.

  #fail(failure: Failure): void {
    this.#rx.error ??= failure.message
    this.#reply(rescue(failure, this.#rx.headers.get('content-type')))
  }

  #bug(error: unknown): void {
    this.#services.bug(error)
    if (this.#over) return
    if (this.#responding) this.#exchange.reset(new Error('internal error'))
    else this.#send(rescue(failures.internal, null))
  }

  #reply(reply: Reply): void {
    this.#use(reply)
    this.#runResponseSteps(0)
  }

  #send(reply: Reply): void {
    this.#use(reply)
    this.#respond()
  }

  #use(reply: Reply): void {
    const rx = this.#rx
    this.#call?.cancel(ABANDONED)
    this.#call = null
    this.#clearAttempt()
    this.#dropRequestBody()
    rx.reason = reply.reason
    rx.status = reply.status
    rx.responseHeaders = reply.headers
    rx.responseHeaders.add('date', this.#services.httpDate())
    rx.responseBody = sourceOf(reply.body)
  }

  /** Whoever stands between the client and the backend must hear that there will be no backend. */
  #dropRequestBody(): void {
    if (this.#replayable !== null) this.#replayable.settle()
    else if (this.#rx.body !== this.#exchange.body) this.#rx.body.cancel(ABANDONED)
  }

  #runResponseSteps(from: number): void {
    const steps = this.#rx.route === null ? null : this.#rx.route.response
    if (steps !== null) {
      for (let i = from; i < steps.length; i++) {
        let result
        try {
          result = steps[i]!(this.#rx)
        } catch (error) {
          return this.#bug(error)
        }
        if (result === undefined) continue
        if (result instanceof Reply) return this.#replace(result)
        result.then(
          (reply) => {
            if (this.#over) return
            if (reply instanceof Reply) this.#replace(reply)
            else this.#runResponseSteps(i + 1)
          },
          (error: unknown) => this.#bug(error),
        )
        return
      }
    }
    this.#respond()
  }

  /** A failing response policy replaces the response; the remaining steps are skipped. */
  #replace(reply: Reply): void {
    this.#rx.responseBody?.cancel(ABANDONED)
    this.#send(reply)
  }

  #respond(): void {
    const rx = this.#rx
    const body = rx.responseBody!
    this.#responding = true
    const sink = this.#exchange.respond(rx.status, rx.responseHeaders!, body.length)
    // Clients of gRPC always accept trailers; nobody else pays for the look.
    if (!this.#exchange.teTrailers) return body.pipe(sink)
    readGrpcStatus(rx, rx.responseHeaders)
    body.pipe(new GrpcStatusSink(sink, rx))
  }

  // The end.

  sent(): void {
    this.#finish()
  }

  gone(cause: Error): void {
    if (this.#over) return
    const rx = this.#rx
    if (rx.reason === 'Upstream') rx.reason = cause instanceof UpstreamError ? 'UpstreamFailure' : 'ClientGone'
    rx.error ??= cause.message
    this.#call?.cancel(cause)
    this.#finish()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#clearAttempt()
    if (this.#requestDeadline !== null) this.#services.deadlines.clear(this.#requestDeadline)
    this.#rx.durationMs = this.#services.now() - this.#rx.startedAt
    this.#services.finished(this.#rx)
  }
}

/** A refused destination stays refused; anything else may work the next time, where it can do no harm twice. */
function isRepeatable(error: UpstreamError, method: string): boolean {
  return error.code !== 'address_refused' && (error.unsent || isIdempotent(method))
}

const ABANDONED = new Error('response not needed')
const TIMED_OUT = new Error('request timeout')
