import { hash } from 'node:crypto'
import { isCelError, toText } from '@portico/cel'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { LlmRecord } from '../../../records/llm-record.ts'
import type { ReadyProvider } from '../provider.ts'
import type { ChoiceServices, ChosenProvider, ProviderChoice, ProviderFailure } from '../provider-attempts.ts'
import { type FailureKind, failureKind } from './failure-kind.ts'
import type { Fallback, ModelRoute, ProviderRoute, RouteTarget, VirtualRoute } from './model-route.ts'

/** A provider that a request may use, and the virtual models that lead to the provider, the innermost first. */
interface Candidate {
  readonly route: ProviderRoute
  readonly via: readonly VirtualRoute[]
}

/** The providers of one request, in the order in which they are tried. Each is tried at most once. */
export class ModelChoice implements ProviderChoice {
  readonly count: number
  readonly #rx: RequestContext
  readonly #record: LlmRecord
  readonly #services: ChoiceServices
  #left: Candidate[]
  #current: Candidate | null = null
  /** The text of the choice so far: excluded and failed targets, each with its reason. */
  #passedOver: string[] = []

  constructor(route: ModelRoute, parts: { rx: RequestContext; record: LlmRecord; services: ChoiceServices }) {
    this.#rx = parts.rx
    this.#record = parts.record
    this.#services = parts.services
    this.count = route.kind === 'provider' ? 1 : route.count
    this.#left = this.#expand(route, [])
  }

  /** Whether all targets exclude the request. */
  get isEmpty(): boolean {
    return this.#left.length === 0
  }

  /** Why targets were passed over. */
  get exclusions(): string {
    return this.#passedOver.join('; ')
  }

  next(
    tried: ReadonlySet<ReadyProvider>,
    vendor?: string,
    failure: ProviderFailure | null = null,
  ): ChosenProvider | null {
    if (failure !== null && !this.#moveOn(failure)) return this.#end()
    const left = this.#left.filter(({ route: { provider } }) => {
      return !tried.has(provider) && (vendor === undefined || provider.vendor.name === vendor)
    })
    const chosen = left.find(({ route }) => !this.#isEvicted(route)) ?? left[0]
    if (chosen === undefined) return failure === null ? null : this.#end()
    for (const { route } of left.slice(0, left.indexOf(chosen))) this.#passOver(route, 'evicted')
    this.#left = left.filter((each) => each !== chosen)
    this.#current = chosen
    this.#note(chosen)
    const { provider } = chosen.route
    return { provider, lease: this.#services.endpoints.lease(provider.owner, provider.endpoint) }
  }

  /** Whether the config names a fallback for an error that would otherwise go to the client. */
  fallsBack(failure: ProviderFailure): boolean {
    const kind = failureKind(failure)
    return (kind === 'contextLength' || kind === 'contentFilter') && (this.#ruleFor(kind) ?? 'fail') !== 'fail'
  }

  /** Applies the rule for a failure; false when the call ends with it. */
  #moveOn(failure: ProviderFailure): boolean {
    const kind = failureKind(failure)
    const rule = kind === null ? 'next' : (this.#ruleFor(kind) ?? 'next')
    if (this.#current !== null) this.#passOver(this.#current.route, textOf(failure, kind))
    if (typeof rule !== 'string') this.#left = this.#continueWith(rule)
    return rule !== 'fail'
  }

  /** The targets of a fallback. Its conditions read the model that the client named, as before the first attempt. */
  #continueWith(route: ModelRoute): Candidate[] {
    const record = this.#record
    const called = record.requestModel
    record.requestModel = record.clientModel
    const candidates = this.#expand(route, [])
    record.requestModel = called
    return candidates
  }

  /** Records that no target is left. */
  #end(): null {
    this.#record.modelChoice = this.exclusions.slice(0, LONGEST_TEXT)
    return null
  }

  /** The innermost virtual model with a rule for the failure decides. */
  #ruleFor(kind: FailureKind): Fallback | undefined {
    return this.#current?.via.map(({ on }) => on[kind]).find((rule) => rule !== undefined)
  }

  #expand(route: ModelRoute, via: readonly VirtualRoute[]): Candidate[] {
    if (route.allow !== null && !route.allow.isTrue(this.#rx)) {
      this.#passOver(route, 'the client may not use it')
      return []
    }
    if (route.kind === 'provider') return [{ route, via }]
    const usable = route.targets.filter(({ when, route: target }) => {
      const exclusion = when?.exclusion(this.#rx) ?? null
      if (exclusion !== null) this.#passOver(target, exclusion)
      return exclusion === null
    })
    return this.#ordered(route, usable).flatMap((target) => this.#expand(target.route, [route, ...via]))
  }

  #ordered(route: VirtualRoute, targets: readonly RouteTarget[]): readonly RouteTarget[] {
    switch (route.by) {
      case 'Order':
      // The targets were sorted by price when the config was loaded.
      case 'Price':
        return targets
      case 'Weight':
        for (const target of targets) if (target.weight === 0) this.#passOver(target.route, 'weight 0')
        return drawn(targets, this.#services.random)
      case 'Speed': {
        const now = this.#services.monotonic()
        return sortedBy(targets, (target) => latencyOf(target.route, now))
      }
      case 'Hash': {
        const key = route.hash?.evaluate(this.#rx) ?? null
        const text = isCelError(key) ? '' : (toText(key) ?? '')
        return targets
          .map((target) => ({ target, score: hash('sha256', `${target.route.name} ${text}`) }))
          .sort((one, other) => (one.score < other.score ? -1 : 1))
          .map(({ target }) => target)
      }
    }
  }

  #isEvicted({ provider: { endpoint, owner } }: ProviderRoute): boolean {
    if (this.count === 1) return false
    return endpoint.standing(this.#services.monotonic(), owner.health?.eviction ?? null, false).evicted
  }

  #passOver(route: ModelRoute, why: string): void {
    this.#passedOver.push(`${labelOf(route)}: ${why}`)
  }

  /** Records the choice, in the form `smart → gpt-5.5: 8,412 prompt tokens ≥ 8,000; claude chosen`. */
  #note({ route, via }: Candidate): void {
    const [virtual] = via
    const by = virtual === undefined || virtual.by === 'Order' ? '' : ` by ${virtual.by.toLowerCase()}`
    const chosen = virtual === undefined && this.#passedOver.length === 0 ? labelOf(route) : `${route.name} chosen${by}`
    const text = [...this.#passedOver, chosen].join('; ')
    this.#record.modelChoice = text.slice(0, LONGEST_TEXT)
    const { clientModel } = this.#record
    this.#rx.trace?.emit({ type: 'llmModel', asked: clientModel, target: route.name, model: route.sent, choice: text })
  }
}

function labelOf(route: ModelRoute): string {
  return route.kind === 'virtual' || route.sent === route.name ? route.name : `${route.name} → ${route.sent}`
}

function textOf({ status, error, cause }: ProviderFailure, kind: FailureKind | null): string {
  const what = cause?.code ?? `status ${error?.status ?? status ?? 0}`
  return kind === null ? what : `${what} (${KINDS[kind]})`
}

const KINDS: Readonly<Record<FailureKind, string>> = {
  contextLength: 'prompt too long',
  contentFilter: 'content filter',
  rateLimit: 'rate limit',
  overload: 'overloaded',
  timeout: 'timeout',
}

/** The targets in random order, in which heavier targets tend to come first. Targets of weight 0 are left out. */
function drawn(targets: readonly RouteTarget[], random: () => number): RouteTarget[] {
  const weighted = targets.filter(({ weight }) => weight > 0)
  // Efraimidis and Spirakis: sorting by random^(1/weight) draws by weight without replacement.
  return sortedBy(weighted, ({ weight }) => -(random() ** (1 / weight)))
}

/**
 * Seconds; 0 for a target without a response yet, so that each target is measured. A target that has only failed comes
 * last for a while, and is tried again then.
 */
function latencyOf(route: ModelRoute, now: number): number {
  if (route.kind === 'virtual') return Math.min(...route.targets.map((target) => latencyOf(target.route, now)))
  const { endpoint, owner } = route.provider
  const { latency, health } = endpoint.standing(now, owner.health?.eviction ?? null, false)
  if (latency === 0 && endpoint.lastFailure !== null && now < endpoint.lastFailure.at + REST_MS) return Infinity
  return latency / Math.max(health, LEAST_HEALTH)
}

function sortedBy<Item>(items: readonly Item[], valueOf: (item: Item) => number): Item[] {
  return items
    .map((item) => ({ item, value: valueOf(item) }))
    .sort((one, other) => one.value - other.value)
    .map(({ item }) => item)
}

const LEAST_HEALTH = 0.01
/** Milliseconds from a failure of a target without a response to the next try. */
const REST_MS = 10_000
/** Longest text of a choice in records, in characters. */
const LONGEST_TEXT = 1_000
