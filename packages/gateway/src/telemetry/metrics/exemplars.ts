/** A sampled request that a bucket has counted. */
export interface Exemplar {
  /** The slot of the bucket. */
  slot: number
  value: number
  traceId: string
  spanId: string
  /** Milliseconds since 1970. */
  time: number
}

/** The spans of a request that is sampled. */
export interface SampledSpans {
  readonly context: { readonly traceId: string; readonly spanId: string }
}

/**
 * Chooses exemplars: at most one per bucket in ten seconds, which is about the interval of scrapes, so that reporting them
 * costs little.
 */
export class Exemplars {
  readonly #tell: (exemplar: Exemplar) => void
  readonly #toldAt = new Map<number, number>()

  constructor(tell: (exemplar: Exemplar) => void) {
    this.#tell = tell
  }

  /** Offers a sampled request as the exemplar of its bucket; `first` is the slot of the first bucket. */
  note(first: number, buckets: readonly number[], value: number, spans: SampledSpans): void {
    const above = buckets.findIndex((bound) => value <= bound)
    const slot = first + (above === -1 ? buckets.length : above)
    const time = Date.now()
    if (time - (this.#toldAt.get(slot) ?? -Infinity) < PAUSE_MS) return
    this.#toldAt.set(slot, time)
    const { traceId, spanId } = spans.context
    this.#tell({ slot, value, traceId, spanId, time })
  }
}

const PAUSE_MS = 10_000
