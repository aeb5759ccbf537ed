import type { HeaderBlock } from '@portico/http'
import type { MemberEdits } from '@portico/http/json'
import type { FormatName, JsonObject, UnsupportedField } from '@portico/chat'
import type { OpenAiCall } from './openai-calls.ts'

/** A vendor as data and small functions, independent of any client. Created from the config once, at load. */
export interface Provider {
  /** The provider's key in the config. */
  readonly name: string
  /** The vendor's name in telemetry. */
  readonly telemetryName: string
  /** The credentials to use without an `auth` policy; `none` forwards the client's credentials. */
  readonly defaultAuth: 'none' | 'aws' | 'azure' | 'gcp'
  /** The region for request signatures, or null. */
  readonly region: string | null
  readonly destination: Destination
  /** The destination of rerank calls; null when it is that of all other calls. */
  readonly rerankDestination: Destination | null
  /** The model that the config sets, or null. */
  readonly model: string | null
  /** The chat formats that the provider accepts for a model, the best first; `pickFormat` chooses. */
  chatFormats(model: string): readonly [FormatName, ...FormatName[]]
  /** The provider's deviations from a format for a model: names that the encoder of the format lists. */
  quirks(model: string, format: FormatName): ReadonlySet<string>
  /** The way the provider counts the tokens of a Messages request; null when it does not count. */
  tokenCount(model: string): TokenCountKind | null
  /** Whether the provider has Google's own calls for a model, besides chats: token counts and embeddings. */
  hasGoogleCalls?(model: string, kind: 'countTokens' | 'embeddings'): boolean
  /** The embedding format for a model; null when the provider has no embeddings for the model. */
  embeddings(model: string): EmbeddingsKind | null
  /** The further calls of OpenAI's API that the provider has; they are forwarded in OpenAI's format. */
  readonly calls: ReadonlySet<OpenAiCall>
  /** Whether the provider has Anthropic's message batches; they are forwarded in Anthropic's format. */
  readonly hasMessageBatches?: true
  /** The rerank format for a model; null when the provider has no rerank calls for the model. */
  rerank(model: string): RerankKind | null
  /** The format of the provider's model list; null when the chat endpoint has no model list. */
  readonly modelList: ModelListKind | null
  /** Whether the provider uses the marks of `promptCaching` for this model. */
  cachesPrompts(model: string): boolean
  /**
   * The path and query of a call. Refused when the model name is not valid in a path, or the vendor has no such call.
   */
  target(call: ProviderCall): string | UnsupportedField
  /** Sets the vendor's headers, and moves the credential to the header that the vendor reads. */
  finishHeaders(headers: HeaderBlock, call: ProviderCall, credential: CredentialPlace): void
  /** The edits that the vendor's variant of the format needs in the body; empty when none. */
  finishBody(body: JsonObject, call: ProviderCall, headers: Pick<HeaderBlock, 'get' | 'joined'>): MemberEdits
}

export interface Destination {
  host: string
  port: number
  /** Whether to use TLS without a `tls` policy. */
  tls: boolean
  /** The value of the `Host` header. */
  authority: string
}

/** `raw` calls are those of Passthrough and Detect, which are not translated. */
type CallKind = 'chat' | 'embeddings' | 'countTokens' | 'models' | 'realtime' | 'raw' | 'rerank' | OpenAiCall

export const NO_CALLS: ReadonlySet<OpenAiCall> = new Set()

/** The members of a provider that has chats and embeddings alone. */
export const NO_OTHER_CALLS = { calls: NO_CALLS, rerank: () => null, rerankDestination: null } as const

export interface ProviderCall {
  kind: CallKind
  /** The format of the request to the provider; for a model list, the client's format. */
  format: FormatName
  /** The requested model, after aliases and overrides. */
  model: string
  stream: boolean
  /** The path and query that the client sent, after rewrites. */
  clientTarget: string
  /** The part of the path after `/files` or `/batches`, such as `/file-1/content`; absent for other calls. */
  resource?: string
}

/** `messages` is Anthropic's own request; `bedrock` wraps that request for Bedrock. */
type TokenCountKind = 'messages' | 'bedrock'

/** `openai` means that a client of OpenAI has its request forwarded unchanged. */
export type EmbeddingsKind = 'openai' | 'vertex' | 'titan' | 'cohere' | 'nova'

/** `same` means that the client's request is forwarded unchanged. */
export type RerankKind = 'same' | 'cohere' | 'bedrock' | 'vertex'

/**
 * `openai` and `anthropic` are the lists that the vendors' libraries read; `vertex` lists the models of one publisher.
 */
export type ModelListKind = 'openai' | 'anthropic' | 'vertex'

/** The source of the credential on a request, and its location. */
export type CredentialPlace =
  /** No policy: the client's credential may be present. */
  | { by: 'client' }
  /**
   * No policy, and the client's key is for another provider; a credential that is present comes from a
   * `transformation`.
   */
  | { by: 'nobody' }
  /** A policy, in the `Authorization` header. */
  | { by: 'gateway' }
  /** A policy with a configured location; `header` is null for a cookie or a query parameter. */
  | { by: 'config'; header: string | null }
  /** The request is signed when it is complete. */
  | { by: 'signature' }
