import { Duration } from '@portico/cel'
import type { LlmRecord } from '../../records/llm-record.ts'

/** The model call of a request, as expressions read it. */
export class LlmView {
  readonly #facts: LlmRecord
  readonly #startedAt: number

  constructor(facts: LlmRecord, startedAt: number) {
    this.#facts = facts
    this.#startedAt = startedAt
  }

  get streaming(): boolean {
    return this.#facts.streaming
  }

  get provider(): string {
    return this.#facts.provider
  }

  get requestModel(): string {
    return this.#facts.requestModel
  }

  /** The estimate for the choice of a model. */
  get promptTokens(): number | undefined {
    return this.#facts.promptTokens ?? undefined
  }

  get responseModel(): string | undefined {
    return this.#facts.responseModel || undefined
  }

  get inputTokens(): number | undefined {
    return this.#facts.usage.input
  }

  get outputTokens(): number | undefined {
    return this.#facts.usage.output
  }

  get totalTokens(): number | undefined {
    const { input, output } = this.#facts.usage
    return input === undefined && output === undefined ? undefined : this.#facts.totalTokens
  }

  get providerInputTokens(): number | undefined {
    return this.#facts.usage.providerInput
  }

  get providerTotalTokens(): number | undefined {
    return this.#facts.usage.providerTotal
  }

  get cachedInputTokens(): number | undefined {
    return this.#facts.usage.cacheRead
  }

  get cacheCreationInputTokens(): number | undefined {
    return this.#facts.usage.cacheWrite
  }

  get reasoningTokens(): number | undefined {
    return this.#facts.usage.reasoning
  }

  get inputAudioTokens(): number | undefined {
    return this.#facts.usage.inputAudio
  }

  get outputAudioTokens(): number | undefined {
    return this.#facts.usage.outputAudio
  }

  get serviceTier(): string | undefined {
    return this.#facts.usage.serviceTier
  }

  get countTokens(): number | undefined {
    return this.#facts.countedTokens ?? undefined
  }

  /** Whether a part of the usage is an estimate, because the provider did not report it. */
  get estimated(): boolean {
    return this.#facts.isEstimated
  }

  get timeToFirstToken(): Duration | undefined {
    return durationOf(this.#facts.timeToFirstToken(this.#startedAt))
  }

  get timePerOutputToken(): Duration | undefined {
    return durationOf(this.#facts.timePerOutputToken)
  }
}

function durationOf(millis: number | null): Duration | undefined {
  return millis === null ? undefined : Duration.fromMillis(millis)
}
