import { sourceOf } from '../net/body.ts'
import { Deadline } from '../net/deadlines.ts'
import type { Exchange, ExchangeObserver, RawConnection } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { splice } from '../net/splice.ts'
import { UpstreamError, type UpstreamResponse } from '../upstream/upstream-types.ts'
import { BackendCall, type BackendCallServices, type BackendOutcome } from './backend-call.ts'
import { wholeBody } from './body/body-use.ts'
import type { CompiledListener, CompiledRoute, StepList } from './compiled.ts'
import { type Failure, failures } from './failure.ts'
import { GrpcStatusSink, readGrpcStatus } from './body/grpc-status.ts'
import { countHop } from './max-forwards.ts'
import { Reply } from './reply.ts'
import { type AnsweredRequest, RequestContext, type RequestRunner } from './request-context.ts'
import { failureReply, inClientsFormat } from './failure-reply.ts'
import type { RouteCandidate } from './route/route-table.ts'
import { type Specimens, STREAM } from './specimens.ts'
import { type PolicyPhase, RequestTrace, type TraceServices, type TraceSink } from './trace.ts'

/** Says which requests are watched. */
export interface Tracer {
  /** Whether anybody waits at all: read for every request, so it must cost nothing. */
  readonly armed: boolean
  claim(rx: RequestContext): TraceSink | null
}

/** Says which requests have spans, and begins them. */
export interface RequestTracing {
  begin(rx: RequestContext): void
}

/** What requests are called by client, backend and gateway. */
export interface RequestIds {
  begin(rx: RequestContext): void
  /** Before the head of an answer leaves. */
  answering(rx: AnsweredRequest): void
}

/** Copies bodies for records, where the config asks for it. */
export interface KeepBodies {
  /** Before the backend is called. */
  request(rx: RequestContext): void
  /** Before an answer leaves. */
  response(rx: AnsweredRequest): void
}

/** What running a request takes from the worker. */
export interface RunServices extends BackendCallServices, TraceServices {
  random: () => number
  /** The present time as a Date header has it. */
  httpDate: () => string
  tracer: Tracer
  /** Null where no spans are made. */
  tracing: RequestTracing | null
  /** Null where nobody names requests. */
  requestIds: RequestIds | null
  /** Null where no bodies are kept. */
  keepBodies: KeepBodies | null
  /** Name of the record that a request will have; null where there will be none. */
  recordId: (rx: RequestContext) => string | null
  specimens: Specimens
  /** Called once per request when everything is over. */
  finished: (rx: RequestContext) => void
}

/** Carries one request from its head to its log line. */
export function run(exchange: Exchange, listener: CompiledListener | Failure, services: RunServices): void {
  new RequestRun(exchange, services).start(listener)
}

/** Lists of steps in the order a request meets them: before and after routing, then the same way back. */
type Stage = 'gateway' | 'route' | 'backendResponse' | 'routeResponse' | 'gatewayResponse'

// The `!` cost nothing where every request passes: names and functions are of one length, and a stage is reached only
// with what it needs.
class RequestRun implements ExchangeObserver, BackendOutcome, RequestRunner {
  readonly #rx: RequestContext
  readonly #exchange: Exchange
  readonly #services: RunServices
  #listener: CompiledListener | null = null
  #route: CompiledRoute | null = null
  #call: BackendCall | null = null
  #deadline: Deadline | null = null
  /** The response head has been handed over. */
  #responding = false
  #over = false
  /** Changes when the request is interrupted: what steps of an earlier turn still find out is not wanted. */
  #turn = 0

  constructor(exchange: Exchange, services: RunServices) {
    this.#exchange = exchange
    this.#services = services
    this.#rx = new RequestContext(exchange, services.now())
    this.#rx.runner = this
    exchange.observer = this
  }

  start(listener: CompiledListener | Failure): void {
    const rx = this.#rx
    if (this.#services.tracer.armed) this.#watch()
    if (this.#services.tracing !== null) this.#services.tracing.begin(rx)
    if (this.#services.requestIds !== null) this.#services.requestIds.begin(rx)
    if ('status' in listener) return this.failed(listener)
    this.#listener = rx.listener = listener
    if (listener.request === null) this.#chooseRoute(listener)
    else this.#runSteps('gateway', listener.request, 0)
  }

  #watch(): void {
    const sink = this.#services.tracer.claim(this.#rx)
    if (sink === null) return
    this.#rx.trace = new RequestTrace(this.#rx, sink, this.#services)
    this.#rx.trace.started()
  }

  #chooseRoute(listener: CompiledListener): void {
    const rx = this.#rx
    rx.trace?.snapshot('gateway policies')
    const match = rx.trace === null ? listener.routes.find(rx) : this.#explainRoute(listener, rx.trace)
    if (match === null) {
      return this.failed(rx.method === 'CONNECT' ? failures.methodNotAllowed : failures.routeNotFound)
    }
    rx.match = match
    const route = (this.#route = rx.route = match.value)
    if (rx.trace !== null) rx.trace.selected({ ...listener.effectivePolicy, ...route.effectivePolicy })
    const steps = route.request
    if (steps === null) this.#callBackend(route)
    else this.#runSteps('route', steps, 0)
  }

  #explainRoute(listener: CompiledListener, trace: RequestTrace): RouteCandidate<CompiledRoute> | null {
    const { found, evaluated, rejected } = listener.routes.explain(this.#rx)
    trace.routed(found === null ? null : found.value.key, evaluated, rejected)
    return found
  }

  /** Goes on to the next stage when all steps have run; stays synchronous until one really waits. */
  #runSteps(stage: Stage, steps: StepList, from: number): void {
    const rx = this.#rx
    const { run } = steps
    for (let i = from; i < run.length; i++) {
      let result
      try {
        result = run[i]!(rx)
      } catch (error) {
        return this.#bug(error)
      }
      if (result === undefined) {
        if (rx.trace !== null) rx.trace.policy(steps.names[i]!, phaseOf[stage])
        continue
      }
      if (result instanceof Reply) return this.#stepStopped(stage, steps, i, result)
      const turn = this.#turn
      result.then(
        (reply) => {
          if (this.#over || turn !== this.#turn) return
          if (reply instanceof Reply) return this.#stepStopped(stage, steps, i, reply)
          if (rx.trace !== null) rx.trace.policy(steps.names[i]!, phaseOf[stage])
          this.#runSteps(stage, steps, i + 1)
        },
        (error: unknown) => {
          if (turn === this.#turn) this.#bug(error)
          else this.#services.bug(error)
        },
      )
      return
    }
    this.#next(stage)
  }

  #next(stage: Stage): void {
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
    if (steps === null) this.#next(stage)
    // Whoever comes here has set what an answer consists of.
    else this.#runSteps(stage, steps as StepList, 0)
  }

  #stepStopped(stage: Stage, steps: StepList, index: number, reply: Reply): void {
    const { trace } = this.#rx
    const phase = phaseOf[stage]
    this.#rx.decision ??= {
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

  /** A reply of a request step meets the response steps; one of a response step skips those that are left. */
  #stop(fromResponse: boolean, reply: Reply): void {
    if (fromResponse) this.#rx.responseBody?.cancel(ABANDONED)
    this.#use(reply)
    if (fromResponse) this.#respond()
    else this.#respondThrough('routeResponse', this.#route?.response ?? null)
  }

  interrupt(reply: Reply): boolean {
    if (this.#over || this.#responding) return false
    this.#turn++
    this.#stop(this.#rx.responseBody !== null, reply)
    return true
  }

  // The backend.

  #callBackend(route: CompiledRoute): void {
    const rx = this.#rx
    rx.trace?.snapshot('route policies')
    const refusal = this.#protocolRefusal()
    if (refusal !== null) return this.failed(refusal)
    const answered = countHop(rx)
    if (answered !== null) return this.#stop(false, answered)
    const index = this.#pick(route)
    const backend = route.backends[index]
    if (backend === undefined) return this.failed(failures.noValidBackends)
    rx.backendIndex = index
    if (rx.requestTimeoutMs > 0) {
      this.#deadline = new Deadline(() => this.#timedOut())
      this.#services.deadlines.set(this.#deadline, rx.requestTimeoutMs)
    }
    if (this.#services.keepBodies !== null) this.#services.keepBodies.request(rx)
    this.#call = new BackendCall(rx, backend, this.#services, this)
    this.#call.start()
  }

  /** -1 when there is none. */
  #pick({ pick, backends }: CompiledRoute): number {
    if (pick === null) return -1
    if (backends.length === 1) return pick(0)
    const { sticky } = this.#rx
    if (sticky === null) return pick(this.#services.random())
    return pick(
      this.#services.random(),
      backends.findIndex(({ key }) => key === sticky.backend),
    )
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
    // Steps that wait, for services or for the rest of a body, hear of it: what they make of that is no answer any more.
    this.#turn++
    this.#rx.giveUpCallouts()
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
    rx.trace?.responseSnapshot('backend response ready')
    this.#respondThrough('backendResponse', this.#route?.backends[rx.backendIndex]?.response ?? null)
  }

  tunnelled(status: number, headers: HeaderBlock, backend: RawConnection): void {
    this.#rx.status = status
    this.#rx.responseHeaders = headers
    this.#rx.trace?.responseSnapshot('backend response ready')
    this.#rx.trace?.responseSnapshot('final response')
    const client = this.#exchange.takeOver(status, headers)
    if (client === null) {
      backend.socket.destroy()
      return this.failed(failures.upgradeFailed)
    }
    this.#responding = true
    this.#closeOpen(null)
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
    if (failure.code !== undefined && this.#rx.notes === null) this.#rx.notes = { code: failure.code }
    this.#stop(false, failure.reply ?? failureReply(failure, this.#rx.headers.get('content-type')))
  }

  #bug(error: unknown): void {
    this.#services.bug(error)
    if (this.#over) return
    if (this.#responding) this.#exchange.reset(new Error('internal error'))
    else this.#stop(true, failureReply(failures.internal, null))
  }

  #use(made: Reply): void {
    const rx = this.#rx
    const reply = inClientsFormat(rx, made)
    if (this.#call !== null) this.#call.cancel(ABANDONED)
    else if (rx.body !== this.#exchange.body) rx.body.cancel(ABANDONED)
    this.#call = null
    rx.reason = reply.reason
    rx.status = reply.status
    rx.responseHeaders = reply.headers
    rx.responseHeaders.add('date', this.#services.httpDate())
    rx.responseBody = sourceOf(reply.body)
    rx.bufferedResponse = wholeBody(reply.body)
  }

  #respond(): void {
    const rx = this.#rx as AnsweredRequest
    if (this.#services.keepBodies !== null) this.#services.keepBodies.response(rx)
    const body = rx.responseBody
    this.#responding = true
    if (rx.reason !== 'Upstream' || rx.mcp !== null) this.#nameDecision(rx)
    if (this.#services.requestIds !== null) this.#services.requestIds.answering(rx)
    rx.trace?.responseSnapshot('final response')
    const sink = this.#exchange.respond(rx.status, rx.responseHeaders, body.length)
    // Clients of gRPC always accept trailers; nobody else pays for the look.
    if (!this.#exchange.teTrailers) return body.pipe(sink)
    readGrpcStatus(rx, rx.responseHeaders)
    body.pipe(new GrpcStatusSink(sink, rx))
  }

  /** Callers of a refusal get the name of its record, and nothing else of it. */
  #nameDecision(rx: AnsweredRequest): void {
    if (rx.reason === 'DirectResponse' || (rx.reason === 'Upstream' && rx.mcp?.outcome !== 'denied')) return
    rx.decisionId = this.#services.recordId(rx)
    if (rx.decisionId !== null) rx.responseHeaders.addChecked('x-portico-decision', rx.decisionId)
  }

  // The end.

  sent(): void {
    this.#finish()
    const { llm, backendIndex } = this.#rx
    const backend = this.#route === null ? undefined : this.#route.backends[backendIndex]
    const kind = backend === undefined ? '' : backend.kind
    this.#services.specimens.keep(this, this.#exchange, llm !== null && llm.streaming ? STREAM : kind)
  }

  gone(cause: Error): void {
    if (this.#over) return
    const rx = this.#rx
    if (rx.reason === 'Upstream') rx.reason = cause instanceof UpstreamError ? 'UpstreamFailure' : 'ClientGone'
    rx.error ??= cause.message
    this.#call?.cancel(cause)
    this.#finish(cause)
  }

  #finish(cause: Error | null = null): void {
    if (this.#over) return
    this.#over = this.#rx.isOver = true
    this.#closeOpen(cause)
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    if (this.#rx.callouts !== null) this.#rx.giveUpCallouts()
    this.#rx.durationMs = this.#services.now() - this.#rx.startedAt
    if (this.#route !== null) this.#runDone(this.#route)
    this.#rx.trace?.finished()
    this.#services.finished(this.#rx)
  }

  #closeOpen(cause: Error | null): void {
    if (this.#rx.open === null) return
    for (const call of this.#rx.open.values()) call.close(cause)
    this.#rx.open = null
  }

  #runDone({ done }: CompiledRoute): void {
    if (done === null) return
    try {
      for (const step of done) step(this.#rx)
    } catch (error) {
      this.#services.bug(error)
    }
  }
}

const phaseOf: Record<Stage, PolicyPhase> = {
  gateway: 'gateway',
  route: 'route',
  backendResponse: 'response',
  routeResponse: 'response',
  gatewayResponse: 'response',
}

const ABANDONED = new Error('response not needed')
const TIMED_OUT = new Error('request timeout')
