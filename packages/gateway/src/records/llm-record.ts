import type { Usage } from '@portico/chat'
import type { CacheOutcome, CacheUseCounter } from './cache-outcome.ts'
import type { Cost } from './cost.ts'
import { LlmView } from './llm-view.ts'

export type ModelOperation =
  | 'chat'
  | 'embeddings'
  | 'count_tokens'
  | 'realtime'
  | 'moderation'
  | 'rerank'
  | 'image_generation'
  | 'image_edit'
  | 'image_variation'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'file'
  | 'batch'

/** The part of a response event that this record reads. */
type ObservedEvent =
  | { readonly type: 'start'; readonly model: string; readonly id: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: string }
  | { readonly type: 'partStart' | 'partDelta' | 'partEnd' | 'error' }

interface WholeAnswer {
  readonly id: string
  readonly model: string
  readonly usage: Usage | null
  readonly finish: string
}

/** One attempt to call a provider, and its outcome. */
export interface ProviderAttempt {
  /** Name in the config, or empty. */
  readonly providerName: string
  /** The vendor's name in telemetry. */
  readonly provider: string
  /** HTTP status, or the error code of a failed attempt; empty until the attempt ends. */
  outcome: string
  /** Whether the attempt failed in a way that another provider might not. */
  hasFailed: boolean
  /** The usage that a provider reported before the call moved on to another one; null when there was none. */
  charge: AttemptCharge | null
}

/** Usage that is charged although another provider served the request. */
export interface AttemptCharge {
  readonly operation: ModelOperation | null
  readonly provider: string
  readonly requestModel: string
  readonly responseModel: string
  readonly tokens: number
  /** Null when the price is unknown. */
  readonly costUsd: number | null
}

/** The part of a call that its cost depends on. */
export interface PricedCall {
  readonly requestModel: string
  readonly responseModel: string
  readonly usage: Usage
  readonly isEstimated: boolean
}

export type Pricer = (call: PricedCall) => Cost

/** The record of the model call behind one request. Expressions read it as `llm`; limits and metrics count by it. */
export class LlmRecord {
  /** Null when the gateway does not know the operation and only the provider does. */
  operation: ModelOperation | null = null
  /** The provider's name in telemetry, such as `openai` or `gcp.gemini`. */
  provider = ''
  /** Name of the provider in the config, or empty. */
  providerName = ''
  /** All attempts in order, retries included. */
  readonly attempts: ProviderAttempt[] = []
  /** The requested model: as the client named it, and after aliases, overrides and routing once a provider is called. */
  requestModel = ''
  /** The model that the client named, in backends that route by it; otherwise empty. */
  clientModel = ''
  /** How the model was chosen: targets that were passed over and why, and the chosen one; empty without routing. */
  modelChoice = ''
  /** Estimates the tokens of the prompt; null in backends that do not route by the model. */
  estimatePrompt: (() => number) | null = null
  #promptTokens: number | null = null
  /** The model that the provider reports. */
  responseModel = ''
  /** The provider's id of the response. */
  responseId = ''
  /** The finish reason; empty until the provider reports it. */
  finishReason = ''
  streaming = false
  /** Whether the record that ends a streamed response is on its way to the client. */
  isEnding = false
  usage: Usage = {}
  /** The usage that the provider reported for an answer that came from the cache. */
  savedUsage: Usage = {}
  /** Tokens charged to limits while the call was running; the remaining tokens are charged at its end. */
  chargedTokens = 0
  /** Whether part of the usage is estimated, because the stream broke off before the provider reported it. */
  isEstimated = false
  /** Prices calls to the current provider; null without a `prices` policy. */
  pricer: Pricer | null = null
  #cost: { readonly usage: Usage; readonly cost: Cost } | null = null
  /** The usage of embeddings that were computed to look this call up in the response cache. */
  lookups: readonly AttemptCharge[] = NO_LOOKUPS
  /** The outcome of the response cache; null when the provider has no cache. */
  cache: CacheOutcome | null = null
  /** Counts the outcome for the cache of the provider. */
  cacheUses: CacheUseCounter | null = null
  /** The id of the ledger entry, for a charge that may be sent again; null when the id of the request is used. */
  ledgerId: string | null = null
  /** Result of a count_tokens call; it does not count as usage. */
  countedTokens: number | null = null
  /** Milliseconds on the clock of `rx.startedAt`; -1 until the first token. */
  firstTokenAt = -1
  endedAt = -1

  /** Begins to call a provider: of an earlier attempt's response, only reported usage still counts. */
  beginAttempt(providerName: string, provider: string, pricer: Pricer | null): void {
    const earlier = this.attempts.at(-1)
    if (earlier !== undefined && this.hasUsage) earlier.charge = this.#charge()
    this.providerName = providerName
    this.provider = provider
    this.pricer = pricer
    this.cache = null
    this.responseModel = ''
    this.responseId = ''
    this.finishReason = ''
    this.isEnding = false
    this.usage = {}
    this.savedUsage = {}
    this.isEstimated = false
    this.firstTokenAt = -1
    this.endedAt = -1
  }

  /** Lists the call to the current provider. */
  addAttempt(): ProviderAttempt {
    const { providerName, provider } = this
    const attempt: ProviderAttempt = { providerName, provider, outcome: '', hasFailed: false, charge: null }
    this.attempts.push(attempt)
    return attempt
  }

  /** Updates the record from an event of the response. */
  observe(event: ObservedEvent, now: () => number): void {
    switch (event.type) {
      case 'start':
        if (event.model !== '') this.responseModel = event.model
        this.responseId = event.id
        return
      case 'partDelta':
        if (this.firstTokenAt === -1) this.firstTokenAt = now()
        return
      case 'usage':
        this.addUsage(event.usage)
        return
      case 'finish':
        this.finishReason = event.reason
        return
      case 'partStart':
      case 'partEnd':
      case 'error':
        return
    }
  }

  /** Updates the record from a whole response, without a stream. */
  observeWhole({ id, model, usage, finish }: WholeAnswer): void {
    this.responseId = id
    this.responseModel = model
    if (usage !== null) this.addUsage(usage)
    this.finishReason = finish
  }

  /** Adds usage that the provider reported. An answer from the cache has no usage of its own, but tells what was saved. */
  addUsage(usage: Usage): void {
    if (this.isCached) this.savedUsage = { ...this.savedUsage, ...usage }
    else this.usage = { ...this.usage, ...usage }
  }

  /** Whether the answer comes from the cache. */
  get isCached(): boolean {
    return this.cache?.status === 'hit'
  }

  /** Billionths of a US dollar that an answer from the cache saved; null when that is unknown. */
  get savedNanoDollars(): number | null {
    const { pricer, savedUsage: usage } = this
    if (pricer === null || !this.isCached || (usage.input === undefined && usage.output === undefined)) return null
    const { requestModel, responseModel } = this
    const cost = pricer({ requestModel, responseModel, usage, isEstimated: false })
    return cost.kind === 'known' ? cost.nanoDollars : null
  }

  /** The estimated tokens of the prompt, computed on first use; null when nothing estimates them. */
  get promptTokens(): number | null {
    this.#promptTokens ??= this.estimatePrompt?.() ?? null
    return this.#promptTokens
  }

  get inputTokens(): number {
    return this.usage.input ?? 0
  }

  get outputTokens(): number {
    return this.usage.output ?? 0
  }

  get totalTokens(): number {
    return this.inputTokens + this.outputTokens
  }

  /** The cost of the usage so far; null without a `prices` policy. It is computed once, because each report is a new object. */
  get cost(): Cost | null {
    const { pricer, usage } = this
    if (pricer === null) return null
    if (this.isCached) return FREE
    if (this.#cost?.usage !== usage) this.#cost = { usage, cost: pricer(this) }
    return this.#cost.cost
  }

  /** The cost of the current attempt in US dollars; null when it is unknown. */
  get ownCostUsd(): number | null {
    const { cost } = this
    return cost?.kind === 'known' ? cost.nanoDollars / 1e9 : null
  }

  /** The cost in US dollars, with that of earlier attempts; null when it is unknown. */
  get costUsd(): number | null {
    const { cost } = this
    const earlier = this.charged('usd')
    if (cost?.kind === 'known') return (cost.nanoDollars + earlier) / 1e9
    return earlier > 0 && !this.hasUsage ? earlier / 1e9 : null
  }

  /** Whether the current provider has reported tokens, or they were estimated. */
  get hasTokens(): boolean {
    return this.usage.input !== undefined || this.usage.output !== undefined
  }

  /** The units for logs, as `images:2`; null without units. */
  get unitsText(): string | null {
    const units = Object.entries(unitsOf(this.usage))
    return units.length === 0 ? null : units.map(([name, count]) => `${name}:${count}`).join(',')
  }

  /** Whether the current provider bills the call by other units than tokens. */
  get hasOtherUnits(): boolean {
    return Object.keys(unitsOf(this.usage)).length > 0
  }

  /** Whether the current provider has reported anything that may be charged. */
  get hasUsage(): boolean {
    return this.hasTokens || this.usage.calls !== undefined
  }

  /** The tokens, or the billionths of a US dollar, of the attempts before the current one and of lookups. */
  charged(unit: 'tokens' | 'usd'): number {
    const of = ({ tokens, costUsd }: AttemptCharge): number =>
      unit === 'tokens' ? Math.ceil(tokens) : Math.round((costUsd ?? 0) * 1e9)
    let sum = 0
    for (const charge of this.lookups) sum += of(charge)
    for (const { charge } of this.attempts) if (charge !== null) sum += of(charge)
    return sum
  }

  /** The usage of the whole call: of all attempts, and of lookups. */
  get charges(): AttemptCharge[] {
    const earlier = [...this.lookups, ...this.attempts.flatMap(({ charge }) => charge ?? [])]
    return this.hasUsage ? [...earlier, this.#charge()] : earlier
  }

  #charge(): AttemptCharge {
    const { operation, provider, totalTokens: tokens, ownCostUsd: costUsd } = this
    const requestModel = this.requestModel.slice(0, LONGEST_MODEL)
    const responseModel = this.responseModel.slice(0, LONGEST_MODEL)
    return { operation, provider, requestModel, responseModel, tokens, costUsd }
  }

  /**
   * The fields for the recorder; `shortened` bounds texts that clients and backends choose. They are collected here,
   * because plain workers do not load the code of model calls.
   */
  details(startedAt: number, shortened: (text: string) => string) {
    const { usage } = this
    return {
      operation: this.operation,
      provider: this.provider,
      providerName: this.providerName,
      requestModel: shortened(this.requestModel),
      responseModel: shortened(this.responseModel),
      finishReason: shortened(this.finishReason),
      streaming: this.streaming,
      inputTokens: usage.input ?? null,
      outputTokens: usage.output ?? null,
      cacheReadTokens: usage.cacheRead ?? null,
      cacheWriteTokens: usage.cacheWrite ?? null,
      reasoningTokens: usage.reasoning ?? null,
      isEstimated: this.isEstimated,
      timeToFirstToken: this.timeToFirstToken(startedAt),
      attempts: this.attempts.slice(0, MAX_ATTEMPTS).map(({ providerName, provider, outcome, charge }) => ({
        provider: providerName || provider,
        outcome,
        ...(charge !== null && { charge }),
      })),
      ...(usage.calls !== undefined && { units: unitsOf(usage) }),
      ...(this.cost !== null && { cost: this.cost }),
      ...(this.cache !== null && { cache: this.#cacheDetails(this.cache) }),
      ...(this.clientModel !== '' && { clientModel: shortened(this.clientModel) }),
      ...(this.modelChoice !== '' && { modelChoice: this.modelChoice }),
    }
  }

  #cacheDetails({ status, ageSeconds, reason, search }: CacheOutcome) {
    const { savedUsage, savedNanoDollars, lookups } = this
    return {
      status,
      ...(ageSeconds !== null && { ageSeconds }),
      ...(reason !== null && { reason }),
      ...(search !== undefined && { search: { ...search, ...(lookups.length > 0 && { charges: lookups }) } }),
      ...(this.isCached && {
        savedInputTokens: savedUsage.input ?? null,
        savedOutputTokens: savedUsage.output ?? null,
        savedNanoDollars,
      }),
    }
  }

  /** The record for expressions. The view is created here, because only requests to models need its code. */
  view(startedAt: number): LlmView {
    return new LlmView(this, startedAt)
  }

  /** Milliseconds; null for responses that are not streams, because all their tokens arrive at once. */
  timeToFirstToken(startedAt: number): number | null {
    return this.streaming && this.firstTokenAt !== -1 ? this.firstTokenAt - startedAt : null
  }

  /** Milliseconds from the first token to the end, divided by the number of output tokens; null when not a stream. */
  get timePerOutputToken(): number | null {
    if (!this.streaming || this.firstTokenAt === -1 || this.endedAt === -1 || this.outputTokens === 0) return null
    return (this.endedAt - this.firstTokenAt) / this.outputTokens
  }
}

const NO_LOOKUPS: readonly AttemptCharge[] = []
/** The cost of an answer from the cache. */
const FREE: Cost = { kind: 'known', nanoDollars: 0, row: 'no row', table: 'the response cache', basis: 'computed' }
/** Longest model name of an earlier attempt, in characters; clients and providers choose names. */
const LONGEST_MODEL = 256
/** Attempts in a record. */
const MAX_ATTEMPTS = 16

/** The units other than tokens that a call used. */
export interface UsedUnits {
  readonly images?: number
  readonly characters?: number
  readonly seconds?: number
  readonly searchUnits?: number
}

function unitsOf({ images, characters, seconds, searchUnits }: Usage): UsedUnits {
  return {
    ...(images !== undefined && { images }),
    ...(characters !== undefined && { characters }),
    ...(seconds !== undefined && { seconds }),
    ...(searchUnits !== undefined && { searchUnits }),
  }
}
