import {
  Deadline,
  type Exchange,
  type ExchangeObserver,
  type HeaderBlock,
  type RawConnection,
  type Sink,
} from '@portico/http'
import { contained, InternalFault } from '@portico/http/faults'
import { splice } from '@portico/http/websocket'
import { faultOfBytes, webSocketFault } from './tunnel-faults.ts'
import { UpstreamError, type UpstreamResponse } from '@portico/http/client'
import { BackendCall, type BackendOutcome } from '../call/backend-call.ts'
import { countHop, protocolRefusal } from './before-backend.ts'
import { GrpcStatusSink, readGrpcStatus } from '../body/grpc-status.ts'
import type { CompiledListener, CompiledRoute, StepList } from '../compiled/compiled.ts'
import { failureReply, inClientsFormat } from '../compiled/failure-reply.ts'
import { type Failure, failures, upstreamFailure } from '../context/failure.ts'
import type { Reply } from '../context/reply.ts'
import { type AnsweredRequest, RequestContext, type RequestRunner } from '../context/request-context.ts'
import { answerWith, closeOpen, nameDecision } from './run-answer.ts'
import type { RequestLedger, RunServices, WatchedSink } from './run-services.ts'
import { phaseOf, runSteps, type Stage, type StagedRequest } from './run-steps.ts'
import { explainRoute } from './run-watch.ts'
import { pickBackend } from '../compiled/lazy-route.ts'
import { STREAM } from './shape-keepalive.ts'

/** Runs one request from its head to its access log line. */
export function run(exchange: Exchange, listener: CompiledListener | Failure, services: RunServices): void {
  new RequestRun(exchange, services).start(listener)
}

// The `!` are safe, because a stage begins only when its fields are set; checks would cost time for every request.
class RequestRun implements ExchangeObserver, BackendOutcome, RequestRunner, StagedRequest {
  readonly rx: RequestContext
  readonly #exchange: Exchange
  readonly #services: RunServices
  #listener: CompiledListener | null = null
  #route: CompiledRoute | null = null
  #call: BackendCall | null = null
  #deadline: Deadline | null = null
  /** The sink of the response if the client accepts trailers, as gRPC clients do. */
  #grpcSink: GrpcStatusSink | null = null
  /** Whether the response head was passed to the exchange. */
  #responding = false
  #hasFaulted = false
  /** Whether budgets and ledger have the cost of the request. */
  #isCharged = false
  /** The sink of the response of a model call that goes into the ledger. */
  #watchedSink: WatchedSink | null = null
  isOver = false
  turn = 0

  constructor(exchange: Exchange, services: RunServices) {
    this.#exchange = exchange
    this.#services = services
    this.rx = new RequestContext(exchange, services.now())
    this.rx.runner = this
    exchange.observer = this
  }

  start(listener: CompiledListener | Failure): void {
    try {
      this.#begin(listener)
    } catch (error) {
      this.faulted(error)
    }
  }

  #begin(listener: CompiledListener | Failure): void {
    const rx = this.rx
    this.#services.telemetry.started(rx)
    if ('status' in listener) return this.failed(listener)
    this.#listener = rx.listener = listener
    if (this.#exchange.hops !== '' && this.#isLoop()) return
    if (listener.request === null) this.#chooseRoute(listener)
    else runSteps(this, 'gateway', listener.request, 0)
  }

  /** Denies a request that has passed this gateway too often. */
  #isLoop(): boolean {
    const found = this.#services.hops.loopIn(this.#exchange.hops)
    if (found === null) return false
    this.rx.note({ code: 'loop_detected', ...found })
    this.failed(failures.loopDetected)
    return true
  }

  #chooseRoute(listener: CompiledListener): void {
    const rx = this.rx
    rx.trace?.snapshot('gateway policies')
    const match = rx.trace === null ? listener.routes.find(rx) : explainRoute(rx, listener, rx.trace)
    if (match === null) {
      return this.failed(rx.method === 'CONNECT' ? failures.methodNotAllowed : failures.routeNotFound)
    }
    rx.match = match
    const route = (this.#route = rx.route = match.value)
    if (rx.trace !== null) rx.trace.selected({ ...listener.effectivePolicy, ...route.effectivePolicy })
    const steps = route.request
    if (steps === null) this.#callBackend(route)
    else runSteps(this, 'route', steps, 0)
  }

  next(stage: Stage): void {
    try {
      this.#go(stage)
    } catch (error) {
      this.faulted(error)
    }
  }

  #go(stage: Stage): void {
    switch (stage) {
      case 'gateway':
        return this.#chooseRoute(this.#listener!)
      case 'route':
        return this.#callBackend(this.#route!)
      case 'backendResponse':
        return this.#respondThrough('routeResponse', this.#route?.response ?? null)
      case 'routeResponse':
        return this.#respondThrough('gatewayResponse', this.#listener?.response ?? null)
      case 'gatewayResponse':
        return this.#respond()
    }
  }

  #respondThrough(stage: Stage, steps: StepList<AnsweredRequest> | null): void {
    if (steps === null) this.next(stage)
    // All callers have set the fields of `AnsweredRequest`.
    else runSteps(this, stage, steps as StepList, 0)
  }

  stopped(stage: Stage, steps: StepList, index: number, reply: Reply): void {
    const { trace } = this.rx
    const phase = phaseOf[stage]
    this.rx.decision ??= {
      phase,
      names: steps.names,
      index,
      reason: reply.reason,
      status: reply.status,
      at: this.#services.now(),
    }
    if (trace !== null) {
      trace.policy(steps.names[index]!, phase, reply)
      trace.notReached(steps.names, index + 1, phase)
    }
    this.#stop(phase === 'response', reply)
  }

  /** Responds with a reply: replies of request steps pass the response steps, replies of response steps skip the rest. */
  #stop(fromResponse: boolean, reply: Reply): void {
    if (fromResponse) this.rx.responseBody?.cancel(ABANDONED)
    this.#use(reply)
    if (fromResponse) this.#respond()
    else this.#respondThrough('routeResponse', this.#route?.response ?? null)
  }

  interrupt(reply: Reply): boolean {
    if (this.isOver || this.#responding) return false
    this.turn++
    try {
      this.#stop(this.rx.responseBody !== null, reply)
    } catch (error) {
      this.faulted(error)
    }
    return true
  }

  // The backend call.

  #callBackend(route: CompiledRoute): void {
    const rx = this.rx
    rx.trace?.snapshot('route policies')
    if (this.#exchange.upgrade !== '' || rx.method === 'CONNECT') {
      const refusal = protocolRefusal(rx, this.#exchange.upgrade)
      if (refusal !== null) return this.failed(refusal)
    }
    if (rx.method === 'TRACE' || rx.method === 'OPTIONS') {
      const answered = countHop(rx)
      if (answered !== null) return this.#stop(false, answered)
    }
    const index = pickBackend(route, rx.sticky, this.#services.random)
    const backend = route.backends[index]
    if (backend === undefined) return this.failed(failures.noValidBackends)
    rx.backendIndex = index
    if (rx.requestTimeoutMs > 0) {
      this.#deadline = new Deadline(() => this.#timedOut())
      this.#services.deadlines.set(this.#deadline, rx.requestTimeoutMs)
    }
    this.#services.telemetry.calling(rx)
    if (rx.shadows !== null) rx.shadows.calling(rx)
    this.#call = new BackendCall(rx, backend, this.#services, this)
    this.#call.start()
  }

  #timedOut(): void {
    try {
      this.#endInTime()
    } catch (error) {
      this.faulted(error)
    }
  }

  #endInTime(): void {
    // The new turn makes the runner ignore the results of steps that still wait for services or bodies.
    this.turn++
    this.rx.giveUpCallouts()
    if (!this.#responding) return this.failed(failures.requestTimeout)
    // Set before the cancel, so that spans and traces of the call have the reason.
    this.rx.reason = 'Timeout'
    this.#call?.cancel(TIMED_OUT)
    this.rx.error = failures.requestTimeout.message
    this.rx.notes ??= { code: failures.requestTimeout.code }
    if (this.#grpcSink === null || !this.#grpcSink.expire(failures.requestTimeout.message)) {
      this.#exchange.reset(TIMED_OUT)
    }
  }

  informed(status: number, headers: HeaderBlock): void {
    this.#exchange.inform(status, headers)
  }

  responded(response: UpstreamResponse): void {
    try {
      this.#answerWith(response)
    } catch (error) {
      this.faulted(error)
    }
  }

  #answerWith(response: UpstreamResponse): void {
    const rx = this.rx
    rx.status = response.status
    rx.responseHeaders = response.headers
    rx.responseBody = response.body
    rx.trace?.responseSnapshot('backend response ready')
    this.#respondThrough('backendResponse', this.#route?.backends[rx.backendIndex]?.response ?? null)
  }

  tunnelled(status: number, headers: HeaderBlock, backend: RawConnection): void {
    try {
      this.#tunnel(status, headers, backend)
    } catch (error) {
      backend.socket.destroy()
      this.faulted(error)
    }
  }

  #tunnel(status: number, headers: HeaderBlock, backend: RawConnection): void {
    this.rx.status = status
    this.rx.responseHeaders = headers
    this.rx.trace?.responseSnapshot('backend response ready')
    this.rx.trace?.responseSnapshot('final response')
    const client = this.#exchange.takeOver(status, headers)
    if (client === null) {
      backend.socket.destroy()
      return this.failed(failures.upgradeFailed)
    }
    this.#responding = true
    if (this.rx.open !== null) closeOpen(this.rx, null)
    // The response has been sent: the time limit does not apply to the tunnel that follows.
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    const faultOf = this.#exchange.upgrade === 'websocket' ? webSocketFault(client, backend) : faultOfBytes
    splice(client, backend, (end) => {
      this.rx.tunnelBytesIn = end.bytesToBackend
      this.rx.tunnelBytesOut = end.bytesToClient
      const fault = faultOf(end)
      if (fault !== null) this.rx.responseBroken(fault)
      this.#finish()
    })
  }

  // The response.

  failed(failure: Failure): void {
    try {
      this.#fail(failure)
    } catch (error) {
      this.faulted(error)
    }
  }

  #fail(failure: Failure): void {
    this.rx.error ??= failure.message
    if (failure.code !== undefined && this.rx.notes === null) this.rx.notes = { code: failure.code }
    this.#stop(false, failure.reply ?? failureReply(failure, this.rx.headers.get('content-type')))
  }

  bug(error: unknown, isLate: boolean): void {
    if (isLate) this.#services.bug(error)
    else this.faulted(error)
  }

  /**
   * Handles an exception in work for this request. The client gets 500; the exchange is reset if a response has begun, or
   * on a second exception.
   */
  faulted(error: unknown): void {
    this.#services.bug(error)
    if (this.isOver) return
    this.turn++
    this.rx.error ??= failures.internal.message
    if (!this.#responding && !this.#hasFaulted) {
      this.#hasFaulted = true
      try {
        return this.#stop(true, failureReply(failures.internal, this.rx.headers.get('content-type')))
      } catch (second) {
        this.#services.bug(second)
      }
    }
    this.#cut()
  }

  /** Ends the exchange and logs the request, even if a step throws. */
  #cut(): void {
    const fault = new InternalFault()
    this.rx.reason = 'Internal'
    contained('request', () => this.#call?.cancel(fault))
    contained('request', () => this.#exchange.reset(fault))
    this.gone(fault)
  }

  #use(made: Reply): void {
    const rx = this.rx
    const reply = inClientsFormat(rx, made)
    rx.reason = reply.reason
    if (this.#call !== null) this.#call.cancel(ABANDONED)
    else if (rx.body !== this.#exchange.body) rx.body.cancel(ABANDONED)
    this.#call = null
    answerWith(rx, reply, this.#services.httpDate())
  }

  #respond(): void {
    const rx = this.rx as AnsweredRequest
    const { telemetry } = this.#services
    if (rx.reason !== 'Upstream' || rx.mcp?.outcome === 'denied') nameDecision(rx, telemetry)
    telemetry.responding(rx)
    const body = rx.responseBody
    rx.trace?.responseSnapshot('final response')
    const { ledger } = this.#services
    const isCharged = ledger !== null && rx.llm !== null
    // A response without a body ends with its head.
    if (isCharged && (body.length === 0 || hasNoBody(rx))) this.#charge()
    const out = this.#exchange.respond(rx.status, rx.responseHeaders, body.length)
    const sink = isCharged && !this.#isCharged ? this.#watchEnd(ledger, out, body.length) : out
    this.#responding = true
    // gRPC clients always accept trailers; other responses skip the search for a gRPC status.
    if (!this.#exchange.teTrailers) return body.pipe(sink)
    readGrpcStatus(rx, rx.responseHeaders)
    this.#grpcSink = new GrpcStatusSink(sink, rx)
    body.pipe(this.#grpcSink)
  }

  #watchEnd(ledger: RequestLedger, sink: Sink, length: number): Sink {
    return (this.#watchedSink = ledger.watchEnd(sink, length, this))
  }

  get isEnding(): boolean {
    return this.rx.llm !== null && this.rx.llm.isEnding
  }

  ending(): void {
    this.#charge()
  }

  /** Charges the request before the client can take its response for complete, so that a killed process loses no cost. */
  #charge(): void {
    if (this.#isCharged) return
    this.#isCharged = true
    const rx = this.rx
    rx.durationMs = this.#services.now() - rx.startedAt
    const { ledger } = this.#services
    if (ledger !== null && rx.llm !== null) contained('request', () => ledger.charge(rx))
    else if (rx.spending !== null) contained('request', () => rx.spending?.finish(rx))
  }

  get openRoute(): string | null {
    return this.isOver ? null : (this.#route?.key ?? '')
  }

  // The end.

  sent(): void {
    try {
      this.#finish()
      this.#keepShapes()
    } catch (error) {
      this.#services.bug(error)
    }
  }

  #keepShapes(): void {
    const { llm, backendIndex } = this.rx
    const backend = this.#route === null ? undefined : this.#route.backends[backendIndex]
    const kind = backend === undefined ? '' : backend.kind
    this.#services.shapeKeepalive.keep(this, this.#exchange, llm !== null && llm.streaming ? STREAM : kind)
  }

  unsent(cause: Error): boolean {
    if (this.isOver || !(cause instanceof UpstreamError)) return false
    const failure = upstreamFailure(cause)
    this.rx.responseBroken(cause)
    this.#responding = false
    this.#stop(true, failureReply(failure, this.rx.headers.get('content-type')))
    return true
  }

  gone(cause: Error): void {
    if (this.isOver) return
    this.rx.responseBroken(cause)
    contained('request', () => this.#call?.cancel(cause))
    try {
      this.#finish(cause)
    } catch (error) {
      this.#services.bug(error)
    }
  }

  #finish(cause: Error | null = null): void {
    if (this.isOver) return
    this.isOver = this.rx.isOver = true
    if (this.rx.open !== null) closeOpen(this.rx, cause)
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    if (this.rx.callouts !== null) this.rx.giveUpCallouts()
    if (this.#watchedSink !== null) this.#watchedSink.close()
    if (this.#isCharged) this.rx.durationMs = this.#services.now() - this.rx.startedAt
    else this.#charge()
    if (this.#route !== null) this.#runDone(this.#route)
    if (this.rx.keyUse !== null) contained('request', () => this.rx.keyUse?.finish(this.rx))
    if (this.rx.shadows === null) this.#tell()
    else this.rx.shadows.finish(this.rx, () => this.#tell())
  }

  #tell(): void {
    this.rx.trace?.finished()
    this.#services.telemetry.finished(this.rx)
  }

  #runDone({ done }: CompiledRoute): void {
    if (done === null) return
    try {
      for (const step of done) step(this.rx)
    } catch (error) {
      this.#services.bug(error)
    }
  }
}

/** Whether a response has no body, whatever its source says. */
function hasNoBody({ method, status }: RequestContext): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304
}

const ABANDONED = new Error('response not needed')
const TIMED_OUT = new Error('request timeout')
