import type { JsonObject, Loss, UnsupportedField, Usage } from '../middle.ts'

/**
 * The middle format of embeddings, separate from chats. Clients speak OpenAI's format; providers speak one of several.
 */

export interface EmbeddingRequest {
  model: string
  inputs: EmbeddingInput[]
  /** Whether the client sent a single input instead of a list. */
  isSingle: boolean
  dimensions?: number
  encoding: 'float' | 'base64'
  user: string | null
  /** The other members of the client's request; some providers support some of them. */
  rest: JsonObject
}

/** A text, or its token ids. */
export type EmbeddingInput = string | number[]

export interface Embeddings {
  /** Empty when the provider does not name the model. */
  model: string
  vectors: Vector[]
  usage: Usage | null
}

/** Numbers, or the base64 of 32-bit little-endian floats. */
export type Vector = number[] | string

/** An embedding format that providers speak. */
export interface EmbeddingUpstream {
  /** Set when a request takes one text only; several texts are sent in consecutive requests. */
  readonly isSingle?: true
  /** Adds to `losses` every field that this format cannot express. */
  encodeRequest(request: EmbeddingRequest, model: string, losses: Loss[]): JsonObject | UnsupportedField
  /** Decodes a response; null when the body is not a response of this format. `header` returns a response header. */
  decodeResponse(body: JsonObject, header: (name: string) => string | undefined): Embeddings | null
}
