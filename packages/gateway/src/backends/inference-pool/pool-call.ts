import { type HeaderBlock, type RawConnection, sourceOf } from '@portico/http'
import {
  chooseVersion,
  type Destination,
  type Resolver,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@portico/http/client'
import { follow } from '../../pipeline/call/follow.ts'
import { failureReply } from '../../pipeline/compiled/failure-reply.ts'
import { upstreamFailure } from '../../pipeline/context/failure.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import { Reply } from '../../pipeline/context/reply.ts'
import type { JsonObject, OpenCall, RequestContext } from '../../pipeline/context/request-context.ts'
import type { CallContext } from '../../pipeline/context/step.ts'
import { DuplexBody } from '../../pipeline/ext-proc/duplex-body.ts'
import type { ProcessedExchange } from '../../pipeline/ext-proc/processed-exchange.ts'
import { Processing } from '../../pipeline/ext-proc/processing.ts'
import type { EndpointPick } from '../../records/endpoint-pick.ts'
import { OfferedMembers } from './offered-members.ts'
import { PICKED, pickedEndpoints, SERVED, SUBSET } from './picked-endpoints.ts'
import type { Picker } from './picker.ts'
import { PoolContext, type PoolTries } from './pool-context.ts'
import { AnswerSide, AttemptSide } from './sides.ts'

/** The parts of a pool that its calls share. */
export interface PoolParts {
  readonly name: string
  readonly picker: Picker
  readonly destination: Destination
  readonly version: 'HTTP1' | 'HTTP2' | null
  /** Resolves to the members of the pool, as `ip:port`. */
  readonly members: Resolver
  readonly now: () => number
  /** Whether the pool is the backend of a route, and not a provider of an `ai` backend. */
  readonly isWhole: boolean
  /** The members of the last request; the same object while the members are the same. */
  offered: OfferedMembers | null
}

/**
 * One call to a pool: asks the picker, sends the request to the endpoints that the picker lists, and tells the picker
 * about the response.
 */
export class PoolCall implements UpstreamCall, UpstreamHandler, OpenCall, ProcessedExchange, PoolTries {
  readonly rx: RequestContext
  readonly #pool: PoolParts
  readonly #request: OutgoingRequest
  readonly #context: CallContext
  readonly #handler: UpstreamHandler
  readonly #processing: Processing
  #members = NO_MEMBERS
  #metadata: JsonObject | null = null
  #call: UpstreamCall | null = null
  #calledAt = 0
  #endpoint = ''
  /** The error behind a reply that is not the picker's own. */
  #fault: UpstreamError | null = null
  #body: UpstreamResponse['body'] | null = null
  #isResponding = false
  #isOver = false

  constructor(
    pool: PoolParts,
    rx: RequestContext,
    request: UpstreamRequest,
    context: CallContext,
    handler: UpstreamHandler,
  ) {
    this.rx = rx
    this.#pool = pool
    this.#request = { ...request, headers: request.headers.clone() }
    this.#context = context
    this.#handler = handler
    this.#processing = new Processing(this, pool.picker.settings)
  }

  start(): this {
    const { rx } = this
    ;(rx.open ??= new Map()).set(this, this)
    // An earlier attempt may have failed.
    if (rx.reason === 'InferencePool') rx.reason = 'Upstream'
    if (rx.pick !== null) rx.pick = rx.notes = null
    // Clients must not take part in the protocol of the picker.
    for (const name of [PICKED, SUBSET, SERVED]) this.#request.headers.removeAlike(name)
    const known = this.#pool.members.get('')
    if (known !== null) this.#ask(known)
    else {
      this.#pool.members.resolve('', (error, members) => {
        if (this.#isOver) return
        if (error === null) this.#ask(members)
        else if (error instanceof UpstreamError) this.failedWith(error)
        else this.failedWith(new UpstreamError('dns_failed', `${this.#pool.name}: ${error.message}`, true))
      })
    }
    return this
  }

  cancel(cause: Error): void {
    this.#isOver = true
    this.#processing.close(cause)
    this.#call?.cancel(cause)
    this.#dropBody(cause)
  }

  /** Stops the body that flows to the picker, unless an endpoint reads what comes back. */
  #dropBody(cause: Error): void {
    if (this.#call === null && this.#request.body instanceof DuplexBody) this.#request.body.cancel(cause)
  }

  /** The request of the client is over. */
  close(cause: Error | null): void {
    this.#processing.close(cause)
  }

  #ask(members: readonly string[]): void {
    const pool = this.#pool
    if (pool.offered?.all !== members) pool.offered = new OfferedMembers(members)
    this.#members = pool.offered
    const asked = this.#processing.run(new AttemptSide(this.#request, this.rx))
    follow(
      this.rx,
      asked.then((reply) => {
        if (this.#isOver) return
        if (reply instanceof Reply) this.#endWith(reply)
        else this.#use(pickedEndpoints(this.#metadata, this.#request.headers.get(PICKED)))
      }),
    )
  }

  #use(picked: readonly string[]): void {
    const { picker } = this.#pool
    const members = this.#members
    const order = picked.filter((endpoint) => members.has(endpoint))
    const strangers = order.length === picked.length ? NONE : picked.filter((endpoint) => !members.has(endpoint))
    const { rx } = this
    if (order.length > 0) {
      this.#tell({ picked, strangers, outcome: 'picked', cause: null })
      return this.#send(order)
    }
    // A fault of the picker was told when it happened.
    const cause = rx.pick?.cause ?? (picked.length === 0 ? 'it named no endpoint' : 'it named no member of the pool')
    if (picker.failureMode === 'FailOpen') {
      if (rx.pick?.outcome !== 'fallback') this.#tell({ picked, strangers, outcome: 'fallback', cause })
      return this.#send(undefined)
    }
    this.#tell({ picked, strangers, outcome: 'failed', cause })
    if (rx.notes !== null) rx.notes = { ...rx.notes, code: 'no_member_picked' }
    this.#processing.close(null)
    this.failedWith(new UpstreamError('no_member_picked', `endpoint picker: ${cause}`, true))
  }

  /** `order` is undefined when the gateway balances. */
  #send(order: readonly string[] | undefined): void {
    const { destination, version } = this.#pool
    this.#calledAt = this.#pool.now()
    const context = new PoolContext(this.#context, order, this)
    const request = this.#request
    const call = destination.send(request, chooseVersion(version, request, context), context, this)
    if (!this.#isOver) this.#call = call
  }

  tries(endpoint: string): void {
    this.#endpoint = endpoint
  }

  /** Keeps the failed try for the record of the request, which goes on to the next endpoint. */
  failedTry(error: UpstreamError): void {
    const { rx } = this
    const to = this.#pool.now()
    const call = {
      target: this.#endpoint,
      status: null,
      error: `${error.code}: ${error.message}`,
      from: this.#calledAt,
      to,
    }
    if ((rx.failedCalls ??= []).length < MAX_CALLS) rx.failedCalls.push(call)
    rx.trace?.callFailed(this.#pool.name, error)
    this.#calledAt = to
  }

  // From the endpoint.

  informed(status: number, headers: HeaderBlock): void {
    this.#handler.informed(status, headers)
  }

  responded(response: UpstreamResponse): void {
    if (this.#isOver) return response.body.cancel(UNWANTED)
    const { rx } = this
    if (rx.pick !== null) rx.pick.served = this.#endpoint
    this.#isResponding = true
    if (this.#processing.isOver) return this.#respond(response)
    const side = new AnswerSide(response, rx, (cause) => {
      this.#fault = cause instanceof UpstreamError ? cause : new UpstreamError('connection_lost', cause.message, false)
      return failureReply(upstreamFailure(this.#fault), null)
    })
    follow(
      rx,
      this.#processing.run(side).then((reply) => {
        if (this.#isOver) return
        if (reply instanceof Reply) this.#endWith(reply)
        else this.#respond(response)
      }),
    )
  }

  #respond(response: UpstreamResponse): void {
    this.#body = response.body
    this.#handler.responded(response)
  }

  upgraded(status: number, headers: HeaderBlock, raw: RawConnection, protocol: string): void {
    this.#processing.close(null)
    this.#handler.upgraded(status, headers, raw, protocol)
  }

  failed(error: UpstreamError): void {
    this.#processing.close(error)
    this.failedWith(error)
  }

  failedWith(error: UpstreamError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#dropBody(error)
    this.#handler.failed(error)
  }

  // From the picker.

  get canGoOn(): boolean {
    return this.#isResponding || this.#pool.picker.failureMode === 'FailOpen'
  }

  context(name: 'request' | 'response'): ReturnType<ProcessedExchange['context']> {
    if (name === 'response') return this.#members.servedBy(this.#endpoint)
    return this.#members.offer((endpoint) => this.#context.hasTried?.(endpoint) ?? false)
  }

  gotMetadata(metadata: JsonObject): void {
    if (!this.#isResponding) this.#metadata = { ...this.#metadata, ...metadata }
  }

  note(): void {}

  processorFailed(cause: string, goesOn: boolean): void {
    const { rx } = this
    const { name, picker } = this.#pool
    picker.log.warn('endpoint picker failed', {
      cause,
      pool: name,
      failureMode: picker.failureMode,
      route: rx.routeName,
    })
    if (!this.#isResponding)
      return this.#tell({ picked: [], strangers: [], outcome: goesOn ? 'fallback' : 'failed', cause })
    rx.trace?.emit({ type: 'policyEvent', kind: 'inferencePool', details: { cause } }, goesOn ? 'warn' : 'error')
  }

  processorAnswered({ status }: Reply, details: string): void {
    this.#tell({ picked: [], strangers: [], outcome: 'answered', cause: details === '' ? `status ${status}` : details })
  }

  failureReply(why: string): Reply {
    this.#fault = new UpstreamError('picker_failed', `endpoint picker failed: ${why}`, !this.#isResponding)
    return failureReply(upstreamFailure(this.#fault), null)
  }

  interrupt(reply: Reply): void {
    if (!this.#isOver) this.#endWith(reply)
  }

  /** Ends the call with the picker's own response, or with the error behind the reply. */
  #endWith({ status, headers, body }: Reply): void {
    const fault = this.#fault
    const sent = this.#body
    this.#isOver = true
    this.#call?.cancel(fault ?? UNWANTED)
    this.#dropBody(fault ?? UNWANTED)
    if (sent !== null) {
      const cause =
        fault ?? new UpstreamError('picker_failed', 'the endpoint picker answered after the response had begun', false)
      if (sent instanceof DuplexBody) sent.abort(cause)
    } else if (fault !== null) this.#handler.failed(fault)
    else {
      if (this.#pool.isWhole) this.rx.reason = 'InferencePool'
      this.#handler.responded({ status, headers, body: sourceOf(body) })
    }
  }

  #tell(pick: Omit<EndpointPick, 'pool' | 'served'>): void {
    const { rx } = this
    const { name, picker } = this.#pool
    rx.pick = { pool: name, ...pick, served: null }
    picker.count(pick.outcome)
    if (this.#pool.isWhole && (pick.outcome === 'failed' || pick.outcome === 'answered')) {
      const { cause, picked } = pick
      rx.notes = { code: CODES[pick.outcome], cause, failureMode: picker.failureMode, picked }
    }
    const level = pick.outcome === 'picked' ? undefined : pick.outcome === 'failed' ? 'error' : 'warn'
    rx.trace?.emit({ type: 'policyEvent', kind: 'inferencePool', details: { ...rx.pick } }, level)
  }
}

const CODES = { failed: 'picker_failed', answered: 'picker_answered' } as const
const NONE: readonly string[] = []
const NO_MEMBERS = new OfferedMembers(NONE)
const UNWANTED = new Error('response not needed')
const MAX_CALLS = 32
