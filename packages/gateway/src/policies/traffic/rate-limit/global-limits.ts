import { Double, isCelError, type Result, toText, Uint } from '@portico/cel'
import { ConfigFault } from '../../../pipeline/config-fault.ts'
import type { Expression } from '../../../pipeline/expression.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import { applyEdit, headerEdit } from '../../../pipeline/header-edit.ts'
import { Reply } from '../../../pipeline/reply.ts'
import type { HeaderEdit, RateLimitState, RequestContext, TokenAccount } from '../../../pipeline/request-context.ts'
import { type BodyUse, widest } from '../../../pipeline/body/body-use.ts'
import type { BackendClient, Env } from '../../../pipeline/step.ts'
import { callUnary, type GrpcMethod } from '../../../upstream/grpc/call.ts'
import { HeaderBlock } from '../../../net/header-block.ts'
import type { HeaderValue } from '../../../wire/protos/envoy/config/core/v3/base.ts'
import { RateLimitRequest, RateLimitResponse } from '../../../wire/protos/envoy/service/ratelimit/v3/rls.ts'
import { exceeded } from './local-limits.ts'
import type { GlobalLimitConfig } from './schema.ts'

const shouldRateLimit: GrpcMethod<RateLimitRequest, RateLimitResponse> = {
  path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  encode: (request) => RateLimitRequest.encode(request).finish(),
  decode: (message) => RateLimitResponse.decode(message),
}

interface Descriptor {
  entries: readonly (readonly [key: string, value: string])[]
  /** What is counted; null leaves it at one, 0 only asks. */
  hits: number | null
}

export function globalLimits(config: GlobalLimitConfig, env: Env): GlobalLimits {
  return new GlobalLimits(config, env)
}

/** Limits that a server counts for all gateways. */
export class GlobalLimits {
  readonly requestBody: BodyUse
  readonly #config: GlobalLimitConfig
  readonly #env: Env
  readonly #client: BackendClient
  readonly #authority: string
  readonly #rules: readonly Rule[]
  /** What tokens of a request are counted by, as it was when it was let go on: headers may change on the way. */
  readonly #tokenEntries = new WeakMap<RequestContext, readonly TokenEntries[]>()

  constructor(config: GlobalLimitConfig, env: Env) {
    const key = config.backendRef.name ?? config.backendRef.host
    this.#config = config
    this.#env = env
    this.#client = env.client(key)
    this.#authority = env.describe(key).address
    this.#rules = config.descriptors.map((_, index) => ruleOf(config, index, env))
    const expressions = this.#rules.flatMap(({ entries, cost, unit }) => [
      ...entries.map(({ value }) => value),
      ...(cost === null || unit === 'Tokens' ? [] : [cost]),
    ])
    this.requestBody = widest(expressions.map(({ requestBody }) => requestBody))
  }

  /** Asks about a request, unless no descriptor applies to it; a reply where it may not go on. */
  take(rx: RequestContext): Promise<Reply | undefined> | undefined {
    const asked = this.#rules.flatMap((rule) => descriptorOf(rule, rx))
    if (asked.length === 0) {
      rx.trace?.note({ code: 'no_descriptor' })
      return undefined
    }
    return new Promise((resolve) => {
      this.#ask(asked, rx, (cause, response) => {
        const reply = response === null ? this.#unasked(cause, rx) : this.#judge(response, rx)
        if (reply === undefined) this.#remember(asked, rx)
        resolve(reply)
      })
    })
  }

  #remember(asked: readonly (Descriptor & { rule: Rule })[], rx: RequestContext): void {
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

  /** What a request has cost is told when it is over; nobody waits for the answer. */
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
    this.#ask(counted, rx, (cause, response) => {
      if (response === null) this.#env.log.warn('tokens could not be counted', { cause, route: rx.routeName })
    })
  }

  #ask(
    descriptors: readonly Descriptor[],
    rx: RequestContext,
    done: (cause: string, response: RateLimitResponse | null) => void,
  ): void {
    const context = { rx, clientVersion: 'HTTP/1.1', clientScheme: 'http' as const, connectingTo: () => {} }
    const { domain, timeout } = this.#config
    callUnary(
      shouldRateLimit,
      { domain, descriptors: descriptors.map(messageOf), hitsAddend: 0 },
      {
        send: (request, handler) => this.#client.send(request, context, handler),
        authority: this.#authority,
        deadlines: this.#env.deadlines,
        timeoutMs: timeout,
        maxMessageBytes: MAX_ANSWER,
      },
      (error, response) => {
        const isKnown = response !== null && response.overallCode !== UNKNOWN
        done(error?.message ?? 'the answer says nothing', isKnown ? response : null)
      },
    )
  }

  #judge(response: RateLimitResponse, rx: RequestContext): Reply | undefined {
    const state = tightest(response)
    if (state !== null) rx.rateLimit = tighter(rx.rateLimit, state)
    rx.limitHeaders = edits(response.responseHeadersToAdd)
    const isOver = response.overallCode !== OK
    rx.trace?.note({ code: isOver ? 'rate_limited' : 'within_limit', domain: this.#config.domain, ...state })
    if (!isOver) {
      for (const edit of edits(response.requestHeadersToAdd)) applyEdit(edit, rx.headers)
      return undefined
    }
    rx.rateLimit = state ?? rx.rateLimit
    rx.error = `${exceeded.message}: ${this.#config.domain}`
    const reply =
      response.rawBody.length === 0
        ? failureReply(exceeded, rx.headers.get('content-type'))
        : new Reply(exceeded.status, {
            headers: new HeaderBlock(),
            body: Buffer.from(response.rawBody),
            reason: 'RateLimit',
          })
    if (state !== null) reply.headers.add('retry-after', String(state.resetSeconds))
    return reply
  }

  #unasked(cause: string, rx: RequestContext): Reply | undefined {
    const { failureMode } = this.#config
    rx.trace?.note({ code: 'no_decision', cause, failureMode })
    this.#env.log.warn('the server of limits could not be asked', { cause, failureMode, route: rx.routeName })
    if (failureMode === 'FailOpen') return undefined
    rx.error = `${failed.message}: ${cause}`
    return failureReply(failed, rx.headers.get('content-type'))
  }
}

function messageOf({ entries, hits }: Descriptor): RateLimitRequest['descriptors'][number] {
  return {
    entries: entries.map(([key, value]) => ({ key, value })),
    limit: undefined,
    hitsAddend: hits ?? undefined,
  }
}

interface TokenEntries {
  entries: Descriptor['entries']
  cost: Expression | null
}

interface Rule {
  entries: readonly { name: string; value: Expression }[]
  unit: 'Requests' | 'Tokens'
  cost: Expression | null
}

function ruleOf(config: GlobalLimitConfig, index: number, env: Env): Rule {
  const { entries = [], unit = 'Requests', cost } = config.descriptors[index] ?? {}
  return {
    entries: entries.map(({ name, expression }) => ({ name, value: env.cel(expression, 'request') })),
    unit,
    cost: cost === undefined ? null : costOf(config, index, cost, unit, env),
  }
}

/** Of a request it is known before there is a response. */
function costOf(config: GlobalLimitConfig, index: number, cost: string, unit: Rule['unit'], env: Env): Expression {
  if (unit === 'Tokens') return env.cel(cost, 'log')
  try {
    return env.cel(cost, 'request')
  } catch (error) {
    const found = `found ${error instanceof Error ? error.message : String(error)}`
    const expected = 'what is known of the request, or `unit: Tokens`'
    throw new ConfigFault(config, ['descriptors', index, 'cost'], { found, expected })
  }
}

function descriptorOf(rule: Rule, rx: RequestContext): (Descriptor & { rule: Rule })[] {
  const entries = entriesOf(rule, rx)
  if (entries === null) return []
  if (rule.unit === 'Tokens') return [{ rule, entries, hits: 0 }]
  if (rule.cost === null) return [{ rule, entries, hits: null }]
  const hits = wholeNumber(rule.cost.evaluate(rx))
  return hits === null ? [] : [{ rule, entries, hits }]
}

/** Null when one of them has no value. */
function entriesOf({ entries }: Rule, rx: RequestContext): Descriptor['entries'] | null {
  const found: [string, string][] = []
  for (const { name, value } of entries) {
    const result = value.evaluate(rx)
    if (!isScalar(result)) return null
    found.push([name, toText(result)])
  }
  return found
}

/** Providers and expressions say what they like; a server counts whole numbers. */
function wholeNumber(result: Result): number | null {
  const value = isScalar(result) && typeof result !== 'boolean' ? Math.ceil(Number(toText(result))) : Number.NaN
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null
}

function isScalar(result: Result): boolean {
  if (isCelError(result) || result === null) return false
  return typeof result !== 'object' || result instanceof Uint || result instanceof Double
}

function edits(headers: readonly HeaderValue[]): HeaderEdit[] {
  return headers.flatMap(({ key, value, rawValue }) => {
    const text = value === '' ? Buffer.from(rawValue).toString('utf8') : value
    return headerEdit(key, text, 'set') ?? []
  })
}

/** The limit that is nearest to its end, of those that the server tells. */
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
const MAX_ANSWER = 1024 * 1024
const failed: Failure = { status: 500, message: 'rate limit failed', reason: 'RateLimit' }
