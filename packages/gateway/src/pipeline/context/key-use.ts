import type { LlmRecord } from '../../records/llm-record.ts'

/** The use of a key of the store by one request. */
export interface KeyUse {
  /** Whether the key may use only some models. */
  readonly limitsModels: boolean
  /** Whether the key may use the model that a client names. */
  allowsModel(name: string): boolean
  /** Called once, at the end of the request: settles the limits of the key. */
  finish(rx: { readonly llm: LlmRecord | null }): void
}
