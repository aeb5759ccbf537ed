import { type FormatName, type Json, type JsonObject, UnsupportedField } from '../middle.ts'

/**
 * The treatment of a top-level request member when the provider speaks another format. The lists follow the
 * types of the installed SDKs, and a test fails when an SDK knows a member that no list has.
 */
type Fate =
  /** The middle or an encoder supports the member. */
  | 'carried'
  /** The response is the same without the member, or has less; the trace lists the member as a loss. */
  | 'lossy'
  /** Without the member the response would be to another request. */
  | Refusal

interface Refusal {
  message: string
  /** Values that change nothing, besides null and false. */
  isHarmless?: (value: Json) => boolean
  /** Error details for the client's SDK, in the client's format. */
  details?: JsonObject
}

export type ClientFormatName = 'completions' | 'messages' | 'responses' | 'gemini'

const NOT_STORED = 'needs a provider that stores responses, and this one does not: send the whole conversation as input'
const NO_TOOLS = 'this provider cannot run it: leave it out'

const COMPLETIONS: Readonly<Record<string, Fate>> = {
  messages: 'carried',
  model: 'carried',
  audio: { message: 'this provider does not return audio in this format' },
  frequency_penalty: 'carried',
  function_call: 'carried',
  functions: 'carried',
  logit_bias: 'lossy',
  logprobs: 'lossy',
  max_completion_tokens: 'carried',
  max_tokens: 'carried',
  metadata: 'lossy',
  modalities: { message: 'this provider answers in text alone', isHarmless: isTextAlone },
  moderation: { message: 'this provider does not moderate' },
  n: {
    message: 'this provider returns one answer per request: leave n out, or send several requests',
    isHarmless: (value) => value === 1,
  },
  parallel_tool_calls: 'carried',
  prediction: 'lossy',
  presence_penalty: 'carried',
  prompt_cache_key: 'lossy',
  prompt_cache_options: 'lossy',
  prompt_cache_retention: 'lossy',
  reasoning_effort: 'carried',
  response_format: 'carried',
  safety_identifier: 'lossy',
  seed: 'carried',
  service_tier: 'lossy',
  stop: 'carried',
  store: 'lossy',
  stream: 'carried',
  stream_options: 'carried',
  temperature: 'carried',
  tool_choice: 'carried',
  tools: 'carried',
  top_logprobs: 'lossy',
  top_p: 'carried',
  user: 'carried',
  verbosity: 'lossy',
  web_search_options: { message: 'this provider does not search the web' },
}

const MESSAGES: Readonly<Record<string, Fate>> = {
  max_tokens: 'carried',
  messages: 'carried',
  model: 'carried',
  cache_control: 'lossy',
  compaction: 'lossy',
  container: { message: NO_TOOLS },
  context_management: 'lossy',
  diagnostics: 'lossy',
  fallback_credit_token: 'lossy',
  fallbacks: 'lossy',
  inference_geo: { message: 'this provider cannot guarantee where it processes requests' },
  mcp_servers: { message: NO_TOOLS, isHarmless: isEmptyList },
  metadata: 'carried',
  output_config: 'carried',
  output_format: 'carried',
  service_tier: 'lossy',
  speed: 'lossy',
  stop_sequences: 'carried',
  stream: 'carried',
  system: 'carried',
  temperature: 'carried',
  thinking: 'carried',
  thread: {
    message: 'this provider keeps no threads: send the whole conversation without `thread`',
    details: { error_code: 'thread_unsupported_request' },
  },
  tool_choice: 'carried',
  tools: 'carried',
  top_k: 'carried',
  top_p: 'carried',
}

const RESPONSES: Readonly<Record<string, Fate>> = {
  access_programs: 'lossy',
  background: { message: NOT_STORED },
  conversation: { message: NOT_STORED },
  context_management: 'lossy',
  image: 'lossy',
  include: 'carried',
  input: 'carried',
  instructions: 'carried',
  max_output_tokens: 'carried',
  max_tool_calls: 'lossy',
  metadata: 'lossy',
  model: 'carried',
  moderation: { message: 'this provider does not moderate' },
  parallel_tool_calls: 'carried',
  previous_response_id: { message: NOT_STORED },
  prompt: { message: NOT_STORED },
  prompt_cache_key: 'lossy',
  prompt_cache_options: 'lossy',
  prompt_cache_retention: 'lossy',
  reasoning: 'carried',
  safety_identifier: 'carried',
  service_tier: 'lossy',
  store: 'lossy',
  stream: 'carried',
  stream_options: 'carried',
  temperature: 'carried',
  text: 'carried',
  tool_choice: 'carried',
  tools: 'carried',
  top_logprobs: 'lossy',
  top_p: 'carried',
  truncation: 'lossy',
  user: 'carried',
}

/** Members of nested objects have their path. */
const GEMINI: Readonly<Record<string, Fate>> = {
  model: 'carried',
  stream: 'carried',
  contents: 'carried',
  systemInstruction: 'carried',
  tools: 'carried',
  toolConfig: 'carried',
  'toolConfig.retrievalConfig': 'lossy',
  'toolConfig.includeServerSideToolInvocations': 'lossy',
  generationConfig: 'carried',
  cachedContent: { message: 'this provider has no content that Google caches: send the content' },
  continuationToken: { message: 'this provider cannot continue a response of Google' },
  generationOutputConfig: { message: 'this provider writes no output to storage' },
  labels: 'lossy',
  modelArmorConfig: { message: 'this provider does not moderate' },
  safetySettings: 'lossy',
  serviceTier: 'lossy',
  store: 'lossy',
  'generationConfig.audioTimestamp': 'lossy',
  'generationConfig.audioTranscriptionConfig': 'lossy',
  'generationConfig.candidateCount': {
    message: 'this provider returns one answer per request: leave candidateCount out, or send several requests',
    isHarmless: (value) => value === 1,
  },
  'generationConfig.enableAffectiveDialog': 'lossy',
  'generationConfig.enableEnhancedCivicAnswers': 'lossy',
  'generationConfig.frequencyPenalty': 'carried',
  'generationConfig.imageConfig': 'lossy',
  'generationConfig.logprobs': 'lossy',
  'generationConfig.maxOutputTokens': 'carried',
  'generationConfig.mediaResolution': 'lossy',
  'generationConfig.modelSelectionConfig': 'lossy',
  'generationConfig.presencePenalty': 'carried',
  'generationConfig.responseFormat': { message: 'this provider knows only responseMimeType and schemas' },
  'generationConfig.responseJsonSchema': 'carried',
  'generationConfig.responseLogprobs': 'lossy',
  'generationConfig.responseMimeType': { message: 'this provider answers in text or JSON' },
  'generationConfig.responseModalities': { message: 'this provider answers in text alone', isHarmless: isTextAlone },
  'generationConfig.responseSchema': 'carried',
  'generationConfig.routingConfig': 'lossy',
  'generationConfig.seed': 'carried',
  'generationConfig.speechConfig': 'lossy',
  'generationConfig.stopSequences': 'carried',
  'generationConfig.temperature': 'carried',
  'generationConfig.thinkingConfig': 'carried',
  'generationConfig.topK': 'carried',
  'generationConfig.topP': 'carried',
  'generationConfig.translationConfig': { message: 'this provider does not translate what it says' },
}

export const requestMembers: Readonly<Record<ClientFormatName, Readonly<Record<string, Fate>>>> = {
  completions: COMPLETIONS,
  messages: MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
}

/** The reason why a member of a client's request cannot be dropped; null when it can. */
export function refusedMember(format: FormatName, name: string, value: Json): UnsupportedField | null {
  const members: Readonly<Record<string, Fate>> | undefined =
    format in requestMembers ? requestMembers[format as ClientFormatName] : undefined
  const fate = members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
  if (typeof fate !== 'object' || value === null || value === false) return null
  if (fate.isHarmless?.(value) === true) return null
  return new UnsupportedField(name, fate.message, fate.details)
}

function isTextAlone(value: Json): boolean {
  return Array.isArray(value) && value.every((modality) => modality === 'text' || modality === 'TEXT')
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0
}

/** Whether the client's format has a list with this member. */
export function isKnownMember(format: FormatName, name: string): boolean {
  return format in requestMembers && Object.hasOwn(requestMembers[format as ClientFormatName], name)
}
