import type { Usage } from '../records/llm-record.ts'
import type { Json, JsonObject } from '../wire/json.ts'

/**
 * What every chat format is translated to and from. A request is one value; a response is a stream of events, and a
 * buffered response is the fold of the same events, so that both agree by construction.
 */

export type { Usage } from '../records/llm-record.ts'
export type { Json, JsonObject } from '../wire/json.ts'

export type FormatName = 'completions' | 'messages' | 'responses' | 'gemini' | 'converse'

export interface ChatRequest {
  /** What the client speaks; `rest` and native parts are in it. */
  format: FormatName
  model: string
  /** Instructions that stand before the conversation. */
  system: TextPart[]
  messages: Message[]
  tools: Tool[]
  toolChoice: ToolChoice | null
  /** Null leaves it to the provider. */
  parallelTools: boolean | null
  sampling: Sampling
  reasoning: Reasoning | null
  output: OutputFormat
  stream: boolean
  /** The end user, for the provider's abuse checks. */
  user: string | null
  /** The model may search the web; set only where a request is translated for a provider that can. */
  webSearch?: WebSearch
  /** Fields of the client's format that nobody knows: kept for an upstream of the same format, reported for others. */
  rest: JsonObject
}

export interface WebSearch {
  /** Sites that may be searched; all when absent. */
  allowedDomains?: Json
  /** The user's location, in the form that OpenAI and Anthropic share. */
  location?: Json
}

export interface Message {
  /** `system`: instructions inside the conversation; an encoder that cannot say it takes `hoistSystem` (system.ts). */
  role: 'user' | 'assistant' | 'system'
  parts: Part[]
  rest?: JsonObject
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

/** Whether the provider should cache everything up to here. */
interface Cacheable {
  cache?: JsonObject
  /** Its fields that nobody knows, as `ChatRequest.rest`. */
  rest?: JsonObject
}

/** What only the request's own format can say: kept for an upstream of the same format, reported for others. */
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
  /** Stored at the provider. */
  | { kind: 'id'; id: string }

export interface ToolCallPart extends Cacheable {
  type: 'toolCall'
  id: string
  name: string
  /** JSON as text, to the letter as it came. */
  arguments: string
  /** What the provider wants back with the call, opaque to everybody else; begins with its maker, see provenance.ts. */
  signature?: string
  /** The tool takes free text; the arguments are `{"input": <text>}`. */
  custom?: true
}

export interface ToolResultPart extends Cacheable {
  type: 'toolResult'
  id: string
  /** Where the format says it; else it is found by the id. */
  name?: string
  parts: (TextPart | ImagePart | FilePart | NativePart)[]
  isError: boolean
}

export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** It and `opaque` begin with their maker, see provenance.ts. */
  signature?: string
  /** Redacted or encrypted reasoning: only the provider that made it can read it. */
  opaque?: string
  /** An id of the provider's own, where reasoning is an item; neighbours with the same id are sections of one. */
  id?: string
  /** The reasoning itself, where the format tells it from a summary. */
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
  /** The tool takes free text in this format (`{}`: any); the schema is then that of `{"input": <text>}`. */
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
  /** Tokens that may be spent on it. */
  budget?: number
  /** Whether its text is wanted in the answer. */
  include?: boolean
  /** The same as the client wrote it, for an upstream of the same format. */
  rest?: JsonObject
}

export type OutputFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | { kind: 'schema'; name: string; schema: JsonObject; strict?: boolean; description?: string }

/**
 * Parts are numbered from 0 in the order they begin; several may be open at once. Usage may come more than once: each
 * holds totals, and a field that is there replaces the one before. One `finish` or one `error` is said. A client that
 * asked for several choices gets them side by side: each part belongs to one of them.
 */
export type ChatEvent =
  | { type: 'start'; id: string; model: string; created?: number }
  /** `choice`: the number of the choice that the part belongs to; absent for the first. */
  | { type: 'partStart'; index: number; part: StartedPart; choice?: number }
  | { type: 'partDelta'; index: number; text: string }
  /** What is known only when the part is over. */
  | { type: 'partEnd'; index: number; signature?: string; opaque?: string; rest?: JsonObject }
  | { type: 'usage'; usage: Usage }
  /** `others`: the reasons of the second and later choices, in their order; absent when there is one choice. */
  | { type: 'finish'; reason: FinishReason; stopSequence?: string; others?: FinishReason[] }
  | { type: 'error'; error: ChatError }

export type StartedPart =
  /** `continues`: with the text before it, that the provider cut where its sources change. */
  | { type: 'text'; continues?: true }
  | { type: 'refusal' }
  | { type: 'reasoning'; opaque?: string; id?: string; verbatim?: true }
  | { type: 'toolCall'; id: string; name: string; signature?: string }
  /** What only the upstream's format can say, whole: no deltas follow. Clients of other formats do not see it. */
  | { type: 'native'; format: FormatName; value: JsonObject }

export type FinishReason = 'stop' | 'length' | 'toolCalls' | 'filtered' | 'stopSequence' | 'contextWindow' | 'pause'

/** `input` is everything that was read, cached or not; `reasoning` is part of `output`. Absent means not reported. */

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
  /** The provider's own word for it. */
  code?: string
  /** The field that it is about, as the provider names it. */
  param?: string
  /** The `details` member of a Messages error, which SDKs read to decide how to react. */
  details?: JsonObject
}

/** What a translation could not carry over as it was; the trace lists these. */
export interface Loss {
  what: 'dropped' | 'renamed' | 'defaulted'
  /** Path in the client's body. */
  path: string
  note?: string
}

/** The request cannot be carried at all: a 400 that names the field. */
export class Unsupported {
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
