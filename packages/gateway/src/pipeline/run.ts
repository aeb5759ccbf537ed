import { sourceOf } from '../net/body.ts'
import { Deadline } from '../net/deadlines.ts'
import type { Exchange, ExchangeObserver, RawConnection } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { splice } from '../net/splice.ts'
import { UpstreamError, type UpstreamResponse } from '../upstream/contract.ts'
import { BackendCall, type BackendCallServices, type BackendOutcome } from './backend-call.ts'
import type { CompiledListener } from './compiled.ts'
import { type Failure, failures } from './failure.ts'
import { GrpcStatusSink, readGrpcStatus } from './grpc-status.ts'
import { Reply } from './reply.ts'
import { Rx } from './request.ts'
import { rescue } from './rescue.ts'

/** What running a request takes from the worker. */
export interface RunServices extends BackendCallServices {
  random: () => number
  /** The present time as a Date header has it. */
  httpDate: () => string
  /** Called once per request when everything is over. */
  finished: (rx: Rx) => void
  /** A bug in a step: the request is answered, the error must be seen. */
  bug: (error: unknown) => void
}

/** Carries one request from its head to its log line. */
export function run(exchange: Exchange, listener: CompiledListener | Failure, services: RunServices): void {
  new RequestRun(exchange, services).start(listener)
}

class RequestRun implements ExchangeObserver, BackendOutcome {
  readonly #rx: Rx
  readonly #exchange: Exchange
  readonly #services: RunServices
  #call: BackendCall | null = null
  #deadline: Deadline | null = null
  /** The response head has been handed over. */
  #responding = false
  #over = false

  constructor(exchange: Exchange, services: RunServices) {
    this.#exchange = exchange
    this.#services = services
    this.#rx = new Rx(exchange, services.now())
    exchange.observer = this
  }

  start(listener: CompiledListener | Failure): void {
    const rx = this.#rx
    if ('status' in listener) return this.failed(listener)
    rx.listener = listener
    const match = listener.routes.find(rx)
    if (match === null) {
      return this.failed(rx.method === 'CONNECT' ? failures.methodNotAllowed : failures.routeNotFound)
    }
    rx.match = match
    rx.route = match.value
    this.#runSteps('request', 0)
  }

  /** Goes on to the next stage when all steps have run; stays synchronous until one really waits. */
  #runSteps(phase: 'request' | 'response', from: number): void {
    const route = this.#rx.route
    const steps = route === null ? null : phase === 'request' ? route.request : route.response
    if (steps !== null) {
      for (let i = from; i < steps.length; i++) {
        let result
        try {
          result = steps[i]!(this.#rx)
        } catch (error) {
          return this.#bug(error)
        }
        if (result === undefined) continue
        if (result instanceof Reply) return this.#stop(phase, result)
        result.then(
          (reply) => {
            if (this.#over) return
            if (reply instanceof Reply) this.#stop(phase, reply)
            else this.#runSteps(phase, i + 1)
          },
          (error: unknown) => this.#bug(error),
        )
        return
      }
    }
    if (phase === 'request') this.#callBackend()
    else this.#respond()
  }

  /** A reply of a request step meets the response steps; one of a response step skips those that are left. */
  #stop(phase: 'request' | 'response', reply: Reply): void {
    if (phase === 'response') this.#rx.responseBody?.cancel(ABANDONED)
    this.#use(reply)
    if (phase === 'request') this.#runSteps('response', 0)
    else this.#respond()
  }

  // The backend.

  #callBackend(): void {
    const rx = this.#rx
    const route = rx.route!
    const refusal = this.#protocolRefusal()
    if (refusal !== null) return this.failed(refusal)
    const index = route.pick === null ? -1 : route.pick(route.backends.length === 1 ? 0 : this.#services.random())
    if (index === -1) return this.failed(failures.noValidBackends)
    rx.backendIndex = index
    if (rx.requestTimeoutMs > 0) {
      this.#deadline = new Deadline(() => this.#timedOut())
      this.#services.deadlines.set(this.#deadline, rx.requestTimeoutMs)
    }
    this.#call = new BackendCall(rx, route.backends[index]!, this.#services, this)
    this.#call.start()
  }

  /** Changing the protocol is for the route to allow. */
  #protocolRefusal(): Failure | null {
    const { upgrades, method } = this.#rx
    if (method === 'CONNECT' && !upgrades.has('connect')) return failures.methodNotAllowed
    const upgrade = this.#exchange.upgrade
    if (upgrade === '' || upgrades.has(upgrade)) return null
    // An offer of HTTP/2 may be ignored (RFC 9110 section 7.8); forwarding one is a way to smuggle.
    return upgrade === 'h2c' ? null : failures.upgradeNotAllowed
  }

  #timedOut(): void {
    if (!this.#responding) return this.failed(failures.requestTimeout)
    this.#call?.cancel(TIMED_OUT)
    this.#rx.reason = 'Timeout'
    this.#rx.error = failures.requestTimeout.message
    this.#exchange.reset(TIMED_OUT)
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#exchange.inform(status, headers)
  }

  responded(response: UpstreamResponse): void {
    const rx = this.#rx
    rx.status = response.status
    rx.responseHeaders = response.headers
    rx.responseBody = response.body
    this.#runSteps('response', 0)
  }

  tunnelled(status: number, headers: HeaderBlock, backend: RawConnection): void {
    this.#rx.status = status
    this.#rx.responseHeaders = headers
    const client = this.#exchange.takeOver(status, headers)
    if (client === null) {
      backend.socket.destroy()
      return this.failed(failures.upgradeFailed)
    }
    this.#responding = true
    // The response was the change of protocol; what follows has no end that a limit could be about.
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    splice(client, backend, (sent, received) => {
      this.#rx.tunnelBytesIn = sent
      this.#rx.tunnelBytesOut = received
      this.#finish()
    })
  }

  // The response.

  failed(failure: Failure): void {
    this.#rx.error ??= failure.message
    this.#stop('request', rescue(failure, this.#rx.headers.get('content-type')))
  }

  #bug(error: unknown): void {
    this.#services.bug(error)
    if (this.#over) return
    if (this.#responding) this.#exchange.reset(new Error('internal error'))
    else this.#stop('response', rescue(failures.internal, null))
  }

  #use(reply: Reply): void {
    const rx = this.#rx
    if (this.#call !== null) this.#call.cancel(ABANDONED)
    else if (rx.body !== this.#exchange.body) rx.body.cancel(ABANDONED)
    this.#call = null
    rx.reason = reply.reason
    rx.status = reply.status
    rx.responseHeaders = reply.headers
    rx.responseHeaders.add('date', this.#services.httpDate())
    rx.responseBody = sourceOf(reply.body)
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
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    this.#rx.durationMs = this.#services.now() - this.#rx.startedAt
    this.#services.finished(this.#rx)
  }
}

const ABANDONED = new Error('response not needed')
const TIMED_OUT = new Error('request timeout')
