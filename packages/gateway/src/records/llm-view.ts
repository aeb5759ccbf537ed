import { Duration } from '@portico/cel'
import type { Usage } from '@portico/chat'

/** The values of a model call that expressions may read. */
interface ViewedCall {
  readonly streaming: boolean
  readonly provider: string
  readonly requestModel: string
  readonly responseModel: string
  readonly promptTokens: number | null
  readonly usage: Usage
  readonly totalTokens: number
  readonly countedTokens: number | null
  readonly isEstimated: boolean
  readonly costUsd: number | null
  readonly cache: { readonly status: string } | null
  readonly timePerOutputToken: number | null
  timeToFirstToken(startedAt: number): number | null
}

/** The model call of a request, as expressions read it. */
export class LlmView {
  readonly #call: ViewedCall
  readonly #startedAt: number

  constructor(call: ViewedCall, startedAt: number) {
    this.#call = call
    this.#startedAt = startedAt
  }

  get streaming(): boolean {
    return this.#call.streaming
  }

  get provider(): string {
    return this.#call.provider
  }

  get requestModel(): string {
    return this.#call.requestModel
  }

  /** The estimate for the choice of a model. */
  get promptTokens(): number | undefined {
    return this.#call.promptTokens ?? undefined
  }

  get responseModel(): string | undefined {
    return this.#call.responseModel || undefined
  }

  get inputTokens(): number | undefined {
    return this.#call.usage.input
  }

  get outputTokens(): number | undefined {
    return this.#call.usage.output
  }

  get totalTokens(): number | undefined {
    const { input, output } = this.#call.usage
    return input === undefined && output === undefined ? undefined : this.#call.totalTokens
  }

  get providerInputTokens(): number | undefined {
    return this.#call.usage.providerInput
  }

  get providerTotalTokens(): number | undefined {
    return this.#call.usage.providerTotal
  }

  get cachedInputTokens(): number | undefined {
    return this.#call.usage.cacheRead
  }

  get cacheCreationInputTokens(): number | undefined {
    return this.#call.usage.cacheWrite
  }

  get reasoningTokens(): number | undefined {
    return this.#call.usage.reasoning
  }

  get inputAudioTokens(): number | undefined {
    return this.#call.usage.inputAudio
  }

  get outputAudioTokens(): number | undefined {
    return this.#call.usage.outputAudio
  }

  get images(): number | undefined {
    return this.#call.usage.images
  }

  get characters(): number | undefined {
    return this.#call.usage.characters
  }

  /** Seconds of sound that the provider read. */
  get audioSeconds(): number | undefined {
    return this.#call.usage.seconds
  }

  get searchUnits(): number | undefined {
    return this.#call.usage.searchUnits
  }

  get serviceTier(): string | undefined {
    return this.#call.usage.serviceTier
  }

  get countTokens(): number | undefined {
    return this.#call.countedTokens ?? undefined
  }

  /** Whether a part of the usage is an estimate, because the provider did not report it. */
  get estimated(): boolean {
    return this.#call.isEstimated
  }

  /** US dollars. */
  get cost(): number | undefined {
    return this.#call.costUsd ?? undefined
  }

  /** The outcome of the response cache: `hit`, `miss` or `bypass`. */
  get cacheStatus(): string | undefined {
    return this.#call.cache?.status
  }

  get timeToFirstToken(): Duration | undefined {
    return durationOf(this.#call.timeToFirstToken(this.#startedAt))
  }

  get timePerOutputToken(): Duration | undefined {
    return durationOf(this.#call.timePerOutputToken)
  }
}

function durationOf(millis: number | null): Duration | undefined {
  return millis === null ? undefined : Duration.fromMillis(millis)
}
