import type { JsonObject, Loss, Unsupported, Usage } from '../../middle.ts'

/** Embeddings have a middle of their own. Clients speak OpenAI's form; providers speak one of several. */

export interface EmbeddingRequest {
  model: string
  inputs: EmbeddingInput[]
  /** The client gave one input, not a list of them. */
  isSingle: boolean
  dimensions?: number
  encoding: 'float' | 'base64'
  user: string | null
  /** What else the client said: some providers know some of it. */
  rest: JsonObject
}

/** A text, or the numbers of its tokens. */
export type EmbeddingInput = string | number[]

export interface Embeddings {
  /** Empty where the provider does not name it. */
  model: string
  vectors: Vector[]
  usage: Usage | null
}

/** Numbers, or base64 of them as 32-bit floats with the lowest byte first. */
export type Vector = number[] | string

/** A form that providers speak. */
export interface EmbeddingUpstream {
  /** A request takes one text; several are asked for one after the other. */
  readonly isSingle?: true
  /** `losses` gets what could not be said. */
  encodeRequest(request: EmbeddingRequest, model: string, losses: Loss[]): JsonObject | Unsupported
  /** Null when it is none of this form. `header` gives a header of the response. */
  decodeResponse(body: JsonObject, header: (name: string) => string | undefined): Embeddings | null
}
