import type { HeaderBlock } from '../../net/header-block.ts'
import type { MemberEdits } from '../../wire/member-edits.ts'
import type { FormatName, JsonObject, Unsupported } from '../middle.ts'

/** A vendor as data and small functions: it knows formats, and no client. Made of its config once, at load. */
export interface Provider {
  /** Its key in the config. */
  readonly name: string
  /** As telemetry names the vendor. */
  readonly telemetryName: string
  /** Whose credentials are shown when no `auth` policy holds; `none` lets the client's own through. */
  readonly defaultAuth: 'none' | 'aws' | 'azure' | 'gcp'
  /** The region that requests are signed for, or null. */
  readonly region: string | null
  readonly destination: Destination
  /** The model that the config demands, or null. */
  readonly model: string | null
  /** Formats of chat that it takes for a model, the best first; `pickFormat` chooses. */
  chatFormats(model: string): readonly [FormatName, ...FormatName[]]
  /** How it deviates from a format for a model: names that the encoder of that format lists. */
  quirks(model: string, format: FormatName): ReadonlySet<string>
  /** How it counts the tokens of a Messages request; null when it does not. */
  tokenCount(model: string): TokenCountKind | null
  /** Which embeddings it gives for a model; null when none. */
  embeddings(model: string): EmbeddingsKind | null
  /** How it lists its models; null when it does not, where it answers chats. */
  readonly modelList: ModelListKind | null
  /** Whether marks of `promptCaching` mean something to it for this model. */
  cachesPrompts(model: string): boolean
  /** Path and query; a model that cannot stand in a path, or a call that the vendor does not know, is refused. */
  target(call: ProviderCall): string | Unsupported
  /** Headers of the vendor, and the credential where the vendor looks for it. */
  finishHeaders(headers: HeaderBlock, call: ProviderCall, credential: CredentialPlace): void
  /** What the vendor's wrapping of the format demands of the body; empty when nothing. */
  finishBody(body: JsonObject, call: ProviderCall, headers: Pick<HeaderBlock, 'get' | 'joined'>): MemberEdits
}

export interface Destination {
  host: string
  port: number
  /** Whether TLS is spoken although no `tls` policy holds. */
  tls: boolean
  /** For `Host`. */
  authority: string
}

/** `raw` is Passthrough and Detect: nothing is translated. */
export type CallKind = 'chat' | 'embeddings' | 'countTokens' | 'models' | 'realtime' | 'raw'

export interface ProviderCall {
  kind: CallKind
  /** What the provider is spoken to in; for a list of models, what the client speaks. */
  format: FormatName
  /** The model that is asked for, after aliases and overrides. */
  model: string
  stream: boolean
  /** Path and query as the client sent them, after rewrites. */
  clientTarget: string
}

/** `messages`: as Anthropic does; `bedrock`: wrapped for Bedrock. */
export type TokenCountKind = 'messages' | 'bedrock'

/** `openai`: as the client sent it. */
export type EmbeddingsKind = 'openai' | 'vertex' | 'titan' | 'cohere' | 'nova'

/** `openai` and `anthropic`: as their own libraries read it; `vertex`: the models of one publisher. */
export type ModelListKind = 'openai' | 'anthropic' | 'vertex'

/** Who put a credential on the request, and where it stands. */
export type CredentialPlace =
  /** No policy: what the client sent may be there. */
  | { by: 'client' }
  /** No policy, and the client's key is for another provider; what stands there a `transformation` has set. */
  | { by: 'nobody' }
  /** A policy, in `Authorization`. */
  | { by: 'gateway' }
  /** A policy that says itself where; `header` is null for a cookie or a query parameter. */
  | { by: 'config'; header: string | null }
  /** The request is signed once it is complete. */
  | { by: 'signature' }
