import type { ServiceKind, CalloutOutcome, RecordCallout } from '../../telemetry/metrics/callout-metrics.ts'
import { callUnary, CANCELLED, DEADLINE_EXCEEDED, GrpcError, type GrpcMethod } from '@portico/http/grpc'
import { type UpstreamCall, UpstreamError, type UpstreamHandler, type UpstreamRequest } from '@portico/http/client'
import { fetchWhole, TooLate, type WholeAnswer } from './fetch-text.ts'
import type { GiveUp, RequestContext } from '../context/request-context.ts'
import type { CallPurpose } from '../spans/spanned-request.ts'
import type { BackendClient, CallContext, Env } from '../context/step.ts'

/** The reason why a call to an external service gave no usable answer. */
export class CalloutFault {
  readonly outcome: Exclude<CalloutOutcome, 'answered'>
  readonly cause: string
  /** Whether the service answered with a header that HTTP forbids. */
  readonly hasInvalidHeader: boolean

  constructor(outcome: CalloutFault['outcome'], cause: string, hasInvalidHeader = false) {
    this.outcome = outcome
    this.cause = cause
    this.hasInvalidHeader = hasInvalidHeader
  }
}

export interface CalloutOptions<Answer> {
  timeoutMs: number
  /** Returns the error that an answer reports about itself; null when it reports none. */
  problemOf?: (answer: Answer) => string | null
  /** Whether the call only reports to the service: it continues after the request is over, and traces leave it out. */
  isReport?: boolean
}

/**
 * The calls of one policy to an external service, with the policies of that service. Every call is timed, appears in
 * traces, and is canceled when its request is over.
 */
export class Callouts {
  /** The authority of the service, for `:authority` and Host. */
  readonly authority: string
  readonly #client: BackendClient
  readonly #env: Env
  readonly #record: RecordCallout
  readonly #purpose: CallPurpose

  constructor(kind: ServiceKind, backendKey: string, env: Env) {
    this.authority = env.describe(backendKey).address
    this.#client = env.client(backendKey)
    this.#env = env
    this.#record = env.callouts(kind)
    this.#purpose = PURPOSES[kind]
  }

  /** Makes a unary gRPC call. */
  unary<Request, Answer>(
    rx: RequestContext,
    method: GrpcMethod<Request, Answer>,
    message: Request,
    { timeoutMs, problemOf, isReport = false }: CalloutOptions<Answer>,
  ): Promise<Answer | CalloutFault> {
    if (rx.isOver && !isReport) return Promise.resolve(LEFT)
    const { authority } = this
    const { deadlines } = this.#env
    return new Promise((resolve) => {
      const send = (request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall => this.send(rx, request, handler)
      const options = { send, authority, deadlines, timeoutMs, maxMessageBytes: MAX_ANSWER }
      const end = this.begin(isReport ? null : rx, () => call.fail(ABANDONED))
      const call = callUnary(method, message, options, (error, answer) => {
        const told = answer === null ? grpcFault(error) : checked(answer, problemOf)
        end(told instanceof CalloutFault ? told.outcome : 'answered')
        resolve(told)
      })
    })
  }

  /** Sends an HTTP request and returns the whole response. */
  async fetch(
    rx: RequestContext,
    request: UpstreamRequest,
    { timeoutMs, problemOf }: CalloutOptions<WholeAnswer>,
  ): Promise<WholeAnswer | CalloutFault> {
    if (rx.isOver) return LEFT
    let fail: ((error: Error) => void) | null = null
    const end = this.begin(rx, () => fail?.(ABANDONED))
    const options = {
      context: contextOf(rx, this.#purpose),
      deadlines: this.#env.deadlines,
      maxBytes: MAX_ANSWER,
      timeoutMs,
      started: (giveUp: (error: Error) => void) => (fail = giveUp),
    }
    let told: WholeAnswer | CalloutFault
    try {
      told = checked(await fetchWhole(this.#client, request, options), problemOf)
    } catch (error) {
      told = httpFault(error)
    }
    end(told instanceof CalloutFault ? told.outcome : 'answered')
    return told
  }

  /** Sends a request without timing and tracing; the caller adds them with `begin`. */
  send(rx: RequestContext, request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    return this.#client.send(request, contextOf(rx, this.#purpose), handler)
  }

  /**
   * Begins a call; the returned function must be called with the outcome. `giveUp` is called when the request is over
   * before the call. A null `rx` makes the call a report.
   */
  begin(rx: RequestContext | null, giveUp: GiveUp): (outcome: CalloutOutcome) => void {
    const startedAt = this.#env.monotonic()
    if (rx !== null) (rx.callouts ??= new Set()).add(giveUp)
    return (outcome) => {
      const milliseconds = this.#env.monotonic() - startedAt
      this.#record(outcome, milliseconds, rx?.spans ?? null)
      rx?.callouts?.delete(giveUp)
      const microseconds = Math.round(milliseconds * 1000)
      rx?.trace?.note({ callout: { target: this.authority, outcome, microseconds } })
    }
  }
}

/** Returns the context of calls to the service; the version and scheme of the client do not matter to them. */
function contextOf(rx: RequestContext, purpose: CallPurpose): CallContext {
  const span = rx.spans === null ? null : rx.spans.parentFor(purpose)
  return { rx, hops: rx.exchange.hops, clientVersion: 'HTTP/1.1', clientScheme: 'http', connectingTo: () => {}, span }
}

/** The purposes of calls, as spans name them. */
const PURPOSES: Readonly<Record<ServiceKind, CallPurpose>> = {
  ExtAuthz: 'extAuth',
  ExtProc: 'extProc',
  EndpointPicker: 'endpointPicker',
  RateLimit: 'rateLimit',
  Embeddings: 'embeddings',
}

function checked<Answer>(answer: Answer, problemOf?: CalloutOptions<Answer>['problemOf']): Answer | CalloutFault {
  const problem = problemOf?.(answer) ?? null
  return problem === null ? answer : new CalloutFault('failed', problem)
}

function grpcFault(error: GrpcError | null): CalloutFault {
  if (error === ABANDONED) return LEFT
  const { code = 0, message = '' } = error ?? {}
  return new CalloutFault(code === DEADLINE_EXCEEDED ? 'timeout' : 'failed', `${message} (code ${code})`)
}

function httpFault(error: unknown): CalloutFault {
  if (error === ABANDONED) return LEFT
  const isLate = error instanceof TooLate || (error instanceof UpstreamError && error.code === 'response_timeout')
  const hasInvalidHeader = error instanceof UpstreamError && error.hasInvalidHeader
  const cause = error instanceof Error ? error.message : String(error)
  return new CalloutFault(isLate ? 'timeout' : 'failed', cause, hasInvalidHeader)
}

const ABANDONED = new GrpcError(CANCELLED, 'the caller no longer waits for the response')
const LEFT = new CalloutFault('cancelled', ABANDONED.message)
/** The longest response that is read, in bytes. */
const MAX_ANSWER = 1024 * 1024
