import type { Json, JsonObject } from '@portico/http/json'

/**
 * The middle format, to and from which every chat format is translated. A request is one value. A response is a stream
 * of events; a buffered response is collected from the same events, so that both agree by construction.
 */

export type { Json, JsonObject } from '@portico/http/json'

export type FormatName = 'completions' | 'messages' | 'responses' | 'gemini' | 'converse'

export interface ChatRequest {
  /** The client's format; `rest` and native parts are in this format. */
  format: FormatName
  model: string
  /** Instructions before the conversation. */
  system: TextPart[]
  messages: Message[]
  tools: Tool[]
  toolChoice: ToolChoice | null
  /** Whether parallel tool calls are allowed; null leaves the choice to the provider. */
  parallelTools: boolean | null
  sampling: Sampling
  reasoning: Reasoning | null
  output: OutputFormat
  stream: boolean
  /** The end user, for the provider's abuse checks. */
  user: string | null
  /** Web search settings; set only when a request is translated for a provider with web search. */
  webSearch?: WebSearch
  /** Unknown fields of the client's format: kept for an upstream of the same format, reported as losses for others. */
  rest: JsonObject
  /** The client's body without system and messages, for formats whose upstream gets the other members as they are. */
  native?: JsonObject
}

interface WebSearch {
  /** Sites that may be searched; all when absent. */
  allowedDomains?: Json
  /** The user's location, in the form that OpenAI and Anthropic share. */
  location?: Json
}

export interface Message {
  /**
   * `system` means instructions inside the conversation; encoders without such a role use `hoistSystem` (carry-over.ts).
   */
  role: 'user' | 'assistant' | 'system'
  parts: Part[]
  rest?: JsonObject
  /** The message as the client wrote it, possibly in several, for an upstream of the same format. */
  native?: readonly JsonObject[]
}

export type Part =
  | TextPart
  | ImagePart
  | AudioPart
  | FilePart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | NativePart

/** A part with a cache mark: the provider should cache everything up to this part. */
interface Cacheable {
  cache?: JsonObject
  /** Unknown fields of the part, as `ChatRequest.rest`. */
  rest?: JsonObject
}

/** A part that only the client's format has: kept for an upstream of the same format, reported as a loss for others. */
export interface NativePart {
  type: 'native'
  value: JsonObject
}

export interface TextPart extends Cacheable {
  type: 'text'
  text: string
}

export interface ImagePart extends Cacheable {
  type: 'image'
  source: MediaSource
  detail?: string
}

export interface AudioPart {
  type: 'audio'
  /** `wav`, `mp3`. */
  format: string
  /** Base64. */
  data: string
}

export interface FilePart extends Cacheable {
  type: 'file'
  source: MediaSource
  name?: string
}

export type MediaSource =
  /** Base64. */
  | { kind: 'data'; mediaType: string; data: string }
  | { kind: 'url'; url: string; mediaType?: string }
  /** A file stored at the provider. */
  | { kind: 'id'; id: string }

export interface ToolCallPart extends Cacheable {
  type: 'toolCall'
  id: string
  name: string
  /** JSON text, byte for byte as received. */
  arguments: string
  /** An opaque signature that the provider requires back with the call; prefixed with its vendor, see provenance.ts. */
  signature?: string
  /** Set for a call of another vendor, which the client's format marks because its own vendor signs calls. */
  isUnsigned?: true
  /** The tool takes free text; the arguments are `{"input": <text>}`. */
  custom?: true
}

export interface ToolResultPart extends Cacheable {
  type: 'toolResult'
  id: string
  /** The name of the tool, if the format has it; otherwise the call with this id has the name. */
  name?: string
  parts: (TextPart | ImagePart | FilePart | NativePart)[]
  isError: boolean
}

export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** `signature` and `opaque` are prefixed with their vendor, see provenance.ts. */
  signature?: string
  /** Redacted or encrypted reasoning, readable only for the provider that made it. */
  opaque?: string
  /** The provider's id of a reasoning item; adjacent parts with the same id are sections of one item. */
  id?: string
  /** Set for the reasoning itself, in formats that distinguish it from a summary. */
  verbatim?: true
}

export interface RefusalPart {
  type: 'refusal'
  text: string
}

export interface Tool extends Cacheable {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  schema: JsonObject
  strict?: boolean
  /**
   * The format of a tool that takes free text (`{}` allows any text); `schema` is then the schema of `{"input":
   * <text>}`.
   */
  custom?: JsonObject
}

export type ToolChoice = { kind: 'auto' | 'none' | 'required' } | { kind: 'tool'; name: string }

export interface Sampling {
  maxTokens?: number
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
  stop?: string[]
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface Reasoning {
  effort?: Effort
  /** The maximum number of reasoning tokens. */
  budget?: number
  /** Whether the client wants the reasoning text in the response. */
  include?: boolean
  /** The reasoning settings as the client wrote them, for an upstream of the same format. */
  rest?: JsonObject
}

export type OutputFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | { kind: 'schema'; name: string; schema: JsonObject; strict?: boolean; description?: string }

/**
 * Parts are numbered from 0 in the order they begin; several may be open at once. `usage` may occur more than once:
 * each event has totals, and a present field replaces the earlier value. A response has one `finish` or one `error`.
 * When the client asked for several choices, each part belongs to one choice, and choices may interleave.
 */
export type ChatEvent =
  | { type: 'start'; id: string; model: string; created?: number }
  /** `choice`: the number of the choice that the part belongs to; absent for the first. */
  | { type: 'partStart'; index: number; part: StartedPart; choice?: number }
  | { type: 'partDelta'; index: number; text: string }
  /** The fields are known only at the end of the part. */
  | { type: 'partEnd'; index: number; signature?: string; opaque?: string; rest?: JsonObject }
  | { type: 'usage'; usage: Usage }
  /** `others`: the reasons of the second and later choices, in their order; absent when there is one choice. */
  | { type: 'finish'; reason: FinishReason; stopSequence?: string; others?: FinishReason[] }
  | { type: 'error'; error: ChatError }

export type StartedPart =
  /**
   * `continues` is set when the text continues the previous text, which the provider split where its sources change.
   */
  | { type: 'text'; continues?: true }
  | { type: 'refusal' }
  | { type: 'reasoning'; opaque?: string; id?: string; verbatim?: true }
  | { type: 'toolCall'; id: string; name: string; signature?: string }
  /** A whole part that only the upstream's format has; no deltas follow. Clients of other formats do not get it. */
  | { type: 'native'; format: FormatName; value: JsonObject }

export type FinishReason = 'stop' | 'length' | 'toolCalls' | 'filtered' | 'stopSequence' | 'contextWindow' | 'pause'

/**
 * Tokens of a call, and other units that some vendors bill. `input` counts all tokens read, cached or not, and `reasoning` is part of `output`. An absent field was
 * not reported.
 */
export interface Usage {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
  inputAudio?: number
  outputAudio?: number
  inputImage?: number
  /** 1 for a call that the provider served, where the call itself is what some prices count. */
  calls?: number
  /** Images that the provider made. */
  images?: number
  /** Characters of a text that the provider spoke. */
  characters?: number
  /** Seconds of sound that the provider read, with fractions. */
  seconds?: number
  /** Searches as Cohere bills them: one for each hundred documents of a rerank call. */
  searchUnits?: number
  serviceTier?: string
  /** Numbers as reported in the provider's own field, before normalization. */
  providerInput?: number
  providerTotal?: number
}

/** An error of the provider, or of a guard, that a client reads in its own format. */
export interface ChatError {
  status: number
  kind:
    | 'invalid'
    | 'authentication'
    | 'permission'
    | 'notFound'
    | 'tooLarge'
    | 'rateLimit'
    | 'overloaded'
    | 'timeout'
    | 'api'
  message: string
  /** The provider's error code. */
  code?: string
  /** The field with the error, as the provider names the field. */
  param?: string
  /** The `details` member of a Messages error, which SDKs read to decide how to react. */
  details?: JsonObject
}

/** A part of the request that a translation could not carry over unchanged; the trace lists losses. */
export interface Loss {
  what: 'dropped' | 'renamed' | 'defaulted'
  /** Path in the client's body. */
  path: string
  note?: string
}

/** The field that keeps a request from being translated; the client gets status 400 with its name. */
export class UnsupportedField {
  readonly field: string
  readonly message: string
  /** Error details for the client's SDK, sent if the client's format has a member for them. */
  readonly details: JsonObject | undefined

  constructor(field: string, message: string, details?: JsonObject) {
    this.field = field
    this.message = message
    this.details = details
  }
}
