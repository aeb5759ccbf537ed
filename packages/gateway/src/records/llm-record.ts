export type ModelOperation = 'chat' | 'embeddings' | 'count_tokens' | 'realtime'

export interface Usage {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
  inputAudio?: number
  outputAudio?: number
  inputImage?: number
  serviceTier?: string
  /** Numbers as the provider's own field says them, before normalisation. */
  providerInput?: number
  providerTotal?: number
}

/** As much of an event of a response as counts here. */
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

/** One provider that was asked, and what came of it. */
export interface ProviderAttempt {
  /** Name in the config, or empty. */
  readonly providerName: string
  /** As telemetry names the vendor. */
  readonly provider: string
  /** The status, or the code of what went wrong; empty while nothing has come. */
  outcome: string
  /** Somebody else could have done better. */
  hasFailed: boolean
}

/** What is known of the model call behind one request; expressions read it as `llm`, limits and metrics count by it. */
export class LlmRecord {
  /** Null where only the provider knows what was asked. */
  operation: ModelOperation | null = null
  /** `openai`, `gcp.gemini`: as telemetry names them. */
  provider = ''
  /** Name of the provider in the config, or empty. */
  providerName = ''
  /** In order; those of retries too. */
  readonly attempts: ProviderAttempt[] = []
  /** After aliases and overrides. */
  requestModel = ''
  /** As the provider reports it. */
  responseModel = ''
  /** What the provider calls its answer. */
  responseId = ''
  /** Why it ended; empty as long as nobody has said so. */
  finishReason = ''
  streaming = false
  usage: Usage = {}
  /** Tokens that limits were charged while the call went on; the rest follows at its end. */
  chargedTokens = 0
  /** Some of the usage was never reported: the stream broke off. */
  isEstimated = false
  /** Result of a count_tokens call, which is no usage. */
  countedTokens: number | null = null
  /** Milliseconds of the clock of `rx.startedAt`; -1 before. */
  firstTokenAt = -1
  endedAt = -1

  /** Another provider is asked. */
  asked(providerName: string, provider: string): ProviderAttempt {
    const attempt = { providerName, provider, outcome: '', hasFailed: false }
    this.attempts.push(attempt)
    return attempt
  }

  /** Takes what an event of the response says. */
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
        this.usage = { ...this.usage, ...event.usage }
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

  /** The same of a whole answer at once. */
  observeWhole({ id, model, usage, finish }: WholeAnswer): void {
    this.responseId = id
    this.responseModel = model
    if (usage !== null) this.usage = usage
    this.finishReason = finish
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

  /** Milliseconds, of streams only: elsewhere all tokens come at once. */
  timeToFirstToken(startedAt: number): number | null {
    return this.streaming && this.firstTokenAt !== -1 ? this.firstTokenAt - startedAt : null
  }

  /** Milliseconds from the first token to the end, by the number of tokens; of streams only. */
  get timePerOutputToken(): number | null {
    if (!this.streaming || this.firstTokenAt === -1 || this.endedAt === -1 || this.outputTokens === 0) return null
    return (this.endedAt - this.firstTokenAt) / this.outputTokens
  }
}
