import { follow } from '../../../pipeline/call/follow.ts'
import type { Expression } from '../../../pipeline/expression/expression.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import { allEdits, applyEdit, headerEdit, InvalidHeader, valueOf } from '../../../pipeline/policy/header-edit.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { Reply } from '../../../pipeline/context/reply.ts'
import type {
  HeaderEdit,
  RateLimitState,
  RequestContext,
  TokenAccount,
} from '../../../pipeline/context/request-context.ts'
import { CalloutFault, Callouts } from '../../../pipeline/callouts/callouts.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { HeaderBlock } from '@portico/http'
import type { HeaderValue } from '../../../protos/envoy/config/core/v3/base.ts'
import type { RateLimitResponse } from '../../../protos/envoy/service/ratelimit/v3/rls.ts'
import {
  type AskedDescriptor,
  type Descriptor,
  descriptorOf,
  type Rule,
  ruleOf,
  type TokenEntries,
  wholeNumber,
} from './descriptors.ts'
import type { limitMethod } from './limit-method.ts'
import { exceeded } from './local-limits.ts'
import type { GlobalLimitConfig } from './schema.ts'

export function globalLimits(config: GlobalLimitConfig, env: Env): GlobalLimits {
  const service = config.backendRef.name ?? config.backendRef.host
  if (env.isShadow && env.isLimitDomainHeld(service, config.domain)) {
    const found = `found the domain ${JSON.stringify(config.domain)} of an enforced rate limit at ${service}`
    throw new ConfigFault(config, ['domain'], {
      found,
      expected: 'a domain that only shadow policies use, because the service counts their requests too',
    })
  }
  return new GlobalLimits(config, env)
}

/** Limits that a server counts for all gateways. */
class GlobalLimits {
  readonly #config: GlobalLimitConfig
  readonly #env: Env
  readonly #callouts: Callouts
  readonly #rules: readonly Rule[]
  #method: typeof limitMethod | null = null
  /** The entries that count a request's tokens, evaluated when the request passed: its headers may change later. */
  readonly #tokenEntries = new WeakMap<RequestContext, readonly TokenEntries[]>()

  constructor(config: GlobalLimitConfig, env: Env) {
    this.#config = config
    this.#env = env
    this.#callouts = new Callouts('RateLimit', config.backendRef.name ?? config.backendRef.host, env)
    this.#rules = config.descriptors.map((_, index) => ruleOf(config, index, env))
  }

  /** Calls the rate limit service for a request, unless no descriptor applies; returns a reply when the request is denied. */
  take(rx: RequestContext): Promise<Reply | undefined> | undefined {
    const asked = this.#rules.flatMap((rule) => descriptorOf(rule, rx))
    if (asked.length > 0) return this.#decide(asked, rx)
    rx.trace?.note({ code: 'no_descriptor' })
    return undefined
  }

  async #decide(asked: readonly AskedDescriptor[], rx: RequestContext): Promise<Reply | undefined> {
    const answer = await this.#ask(asked, rx, false)
    const reply = answer instanceof CalloutFault ? this.#unasked(answer, rx) : this.#judge(answer, rx)
    if (reply === undefined) this.#remember(asked, rx)
    return reply
  }

  #remember(asked: readonly AskedDescriptor[], rx: RequestContext): void {
    const counted = asked
      .filter(({ rule }) => rule.unit === 'Tokens')
      .map(({ rule, entries }) => ({ entries, cost: rule.cost }))
    if (counted.length === 0) return
    this.#tokenEntries.set(rx, counted)
    // Sessions of many answers are counted as they go.
    const charge: TokenAccount['charge'] = (tokens) =>
      this.#tell(rx, (cost) => (cost === null ? wholeNumber(tokens) : null))
    rx.tokenAccounts = [...rx.tokenAccounts, { charge }]
  }

  /** Reports the cost of a request when it is over, without waiting for the answer. */
  report(rx: RequestContext, tokens: number): void {
    if (rx.llm === null) return
    this.#tell(rx, (cost) => wholeNumber(cost === null ? tokens : cost.evaluate(rx)))
  }

  #tell(rx: RequestContext, hitsOf: (cost: Expression | null) => number | null): void {
    const counted = (this.#tokenEntries.get(rx) ?? []).flatMap(({ entries, cost }) => {
      const hits = hitsOf(cost)
      return hits === null || hits === 0 ? [] : [{ entries, hits }]
    })
    if (counted.length === 0) return
    const told = this.#ask(counted, rx, true).then((answer) => {
      if (answer instanceof CalloutFault)
        this.#env.log.warn('rate limit service unavailable: tokens not counted', {
          cause: answer.cause,
          route: rx.routeName,
        })
    })
    follow(rx, told)
  }

  async #ask(
    descriptors: readonly Descriptor[],
    rx: RequestContext,
    isReport: boolean,
  ): Promise<RateLimitResponse | CalloutFault> {
    // Awaiting a module that is loaded already would still cost each request some microseconds.
    const limitMethod = (this.#method ??= (await import('./limit-method.ts')).limitMethod)
    const { domain, timeout: timeoutMs } = this.#config
    return this.#callouts.unary(rx, limitMethod, { domain, descriptors }, { timeoutMs, problemOf, isReport })
  }

  #judge(response: RateLimitResponse, rx: RequestContext): Reply | undefined {
    const state = tightest(response)
    if (state !== null) rx.rateLimit = tighter(rx.rateLimit, state)
    const isOver = response.overallCode !== OK
    const forClient = edits(response.responseHeadersToAdd)
    const forBackend = edits(response.requestHeadersToAdd)
    if (forClient instanceof InvalidHeader) {
      // A request that is over its limit is refused with or without the header.
      if (!isOver) return this.#unusable(forClient, rx)
    } else rx.limitHeaders = forClient
    const { domain } = this.#config
    if (isOver) rx.note({ code: 'rate_limited', domain, ...state })
    else rx.trace?.note({ code: 'within_limit', domain, ...state })
    if (!isOver) {
      if (forBackend instanceof InvalidHeader) return this.#unusable(forBackend, rx)
      for (const edit of forBackend) applyEdit(edit, rx.headers)
      return undefined
    }
    rx.rateLimit = state ?? rx.rateLimit
    rx.error = `${exceeded.message}: ${this.#config.domain}`
    const reply =
      response.rawBody.length === 0
        ? failureReply(exceeded, rx.headers.get('content-type'))
        : new Reply(exceeded.status, {
            // The default content type, unless the service sets one, so that browsers do not guess.
            headers: HeaderBlock.of([['content-type', 'text/plain']]),
            body: Buffer.from(response.rawBody),
            reason: 'RateLimit',
          })
    if (state !== null) reply.headers.add('retry-after', String(state.resetSeconds))
    return reply
  }

  /** An invalid header denies the request in every failure mode: the backend could mistake the client's own header for it. */
  #unusable({ header, message }: InvalidHeader, rx: RequestContext): Reply {
    this.#env.log.warn('the rate limit service sent an invalid header', { header, route: rx.routeName })
    rx.note({ code: 'invalid_header', header })
    rx.error = `${failed.message}: ${message}`
    return failureReply(failed, rx.headers.get('content-type'))
  }

  #unasked({ outcome, cause }: CalloutFault, rx: RequestContext): Reply | undefined {
    const { failureMode } = this.#config
    // Nobody gets the reply, and the server is not to blame.
    if (outcome === 'cancelled') return failureReply(gone, null)
    const note = { code: 'no_decision', cause, failureMode }
    this.#env.log.warn('rate limit service unavailable', { cause, failureMode, route: rx.routeName })
    if (failureMode === 'FailOpen') {
      rx.trace?.note(note)
      return undefined
    }
    rx.note(note)
    rx.error = `${failed.message}: ${cause}`
    return failureReply(failed, rx.headers.get('content-type'))
  }
}

function problemOf({ overallCode }: RateLimitResponse): string | null {
  return overallCode === UNKNOWN ? 'the rate limit service sent a response without a code' : null
}

function edits(headers: readonly HeaderValue[]): HeaderEdit[] | InvalidHeader {
  return allEdits(headers.map((header) => headerEdit(header.key, valueOf(header), 'set')))
}

/** The limit with the least remaining, among those that the service reports. */
function tightest({ statuses }: RateLimitResponse): RateLimitState | null {
  let state: RateLimitState | null = null
  for (const { currentLimit, limitRemaining, durationUntilReset } of statuses) {
    if (currentLimit === undefined) continue
    const resetSeconds = Math.ceil((durationUntilReset?.seconds ?? 0) + (durationUntilReset?.nanos ?? 0) / 1e9)
    state = tighter(state, { limit: currentLimit.requestsPerUnit, remaining: limitRemaining, resetSeconds })
  }
  return state
}

function tighter(a: RateLimitState | null, b: RateLimitState): RateLimitState {
  return a !== null && a.remaining <= b.remaining ? a : b
}

const UNKNOWN = 0
const OK = 1
const failed: Failure = { status: 500, message: 'rate limit failed', reason: 'RateLimit' }
const gone: Failure = { ...failed, reason: 'ClientGone' }
