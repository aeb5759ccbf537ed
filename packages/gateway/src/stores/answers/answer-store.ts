/** An answer of a model, as a store of answers keeps it. */
export interface StorableAnswer {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** The place of an answer in a store. */
export interface AnswerAddress {
  /** The cache: the same in every gateway that shares it. */
  readonly cache: string
  /** The digest of everything that makes two requests equal, the tenant included. */
  readonly key: string
  /** The tenant. */
  readonly scope: string
  readonly labels: AnswerLabels
}

/** The properties that answers are purged by. */
export interface AnswerLabels {
  /** The model that the provider was asked for. */
  readonly model: string
  /** The name of the client's API key; empty without one. */
  readonly apiKey: string
}

/** The answers to purge: those of a cache, of a model, of an API key, or all. */
export type AnswerSelection =
  | { readonly cache: string }
  | { readonly model: string }
  | { readonly apiKey: string }
  | 'all'

/** How full a cache is in a store. Purged answers count until they end, or make room for others. */
export interface StoreFigures {
  /** Null when there are too many tenants to count. */
  readonly entries: number | null
  readonly scopes: number
  readonly bytes: number
}

export type AnswerLookup =
  | { readonly kind: 'found'; readonly answer: StorableAnswer; readonly ageMs: number }
  /** `purgedMsAgo` is the time since answers with these labels were purged; null when they were not. */
  | { readonly kind: 'absent'; readonly purgedMsAgo: number | null }
  | { readonly kind: 'unavailable' }

export interface AnswerLimits {
  readonly ttlMs: number
  /** The most bytes of the cache in the store. */
  readonly maxBytes: number
  /** Whether answers are encrypted in the store. */
  readonly isEncrypted: boolean
}

/** Keeps answers of models for several workers and gateways. A store that fails never fails a request. */
export interface AnswerStore {
  /** Never rejects, and resolves within the time limit of the store. */
  get(address: AnswerAddress, isEncrypted: boolean): Promise<AnswerLookup>
  /** Stores an answer, if the store works and the answer fits. */
  put(address: AnswerAddress, answer: StorableAnswer, limits: AnswerLimits): void
  /** Removes answers for all gateways; resolves with whether the store has confirmed that. */
  purge(selection: AnswerSelection): Promise<boolean>
  /** Resolves with null when the store does not answer. */
  figures(cache: string): Promise<StoreFigures | null>
}
