import { clientField, lose, instructOutput, hoistSystem, joinSystem, carryRest } from '../../request/carry-over.ts'
import type { EncodeTarget } from '../../format.ts'
import { objectAt, put, withoutAbsent, isObject } from '@portico/http/json'
import {
  type ChatRequest,
  type Json,
  type JsonObject,
  type Loss,
  type Sampling,
  type TextPart,
  type Tool,
  UnsupportedField,
} from '../../middle.ts'
import { ANY_NAME, nameTools, wordNames } from '../../tools/tool-names.ts'
import { cacheMark, encodeMessages, encodeText } from './encode-content.ts'
import type { ContentRules } from './encode-media.ts'
import { contextRules, planThinking, type ThinkingPlan } from './encode-thinking.ts'
import { describeFormat } from '../../tools/custom-tools.ts'

/**
 * The quirks of providers, which name their deviations from the format:
 *
 * | quirk             | what it changes                                                                          |
 * | ----------------- | ---------------------------------------------------------------------------------------- |
 * | noModel           | the model is not in the body, because it is in the path                                  |
 * | systemMessages    | the model knows instructions inside the conversation                                     |
 * | adaptiveThinking  | the model decides how much it thinks, by effort; budgets are refused                     |
 * | noThinking        | the model cannot think                                                                   |
 * | noSampling        | temperature, top_p and top_k are refused                                                 |
 * | temperatureOrTopP | requests with both are refused                                                           |
 * | noOutputFormat    | structured output is refused; an instruction asks for it instead                         |
 * | strictTools       | the provider knows `strict` on tools                                                     |
 * | noCacheScope      | `cache_control.scope` is refused                                                         |
 * | bytesOnly         | URLs and ids of images and files are refused: the request must contain the bytes         |
 */
export function encodeRequest(
  request: ChatRequest,
  target: EncodeTarget,
  losses: Loss[],
): JsonObject | UnsupportedField {
  const rest = carryRest(request, 'messages', losses)
  if (rest instanceof UnsupportedField) return rest
  const isOwn = request.format === 'messages'
  const { quirks } = target
  const keepsSystem = isOwn || quirks.has('systemMessages')
  const { system, messages } = keepsSystem ? request : hoistSystem(request, losses)
  const names = nameTools(request, isOwn ? ANY_NAME : TOOL_NAME, target.toolNames)
  const rules: ContentRules = { format: request.format, isOwn, quirks, names, losses }
  const content = encodeMessages(messages, rules)
  if (content instanceof UnsupportedField) return content
  const maxTokens = limitTokens(request, losses)
  const plan: ThinkingPlan = request.reasoning === null ? {} : planThinking(request, maxTokens, quirks, losses)
  const config = { ...plan.config, ...encodeOutput(request, quirks, losses) }
  // Members are set one by one on a single object: every message takes this path, and merging objects is slower.
  const encoded = isOwn ? withoutKnown(rest) : {}
  if (isOwn) Object.assign(encoded, contextRules(request, losses))
  if (!quirks.has('noModel')) encoded.model = target.model
  encoded.max_tokens = plan.maxTokens ?? maxTokens
  const instructions = forcesOutput(request, quirks) ? system : [...system, ...instructOutput(request, losses)]
  put(encoded, 'system', encodeSystem(instructions, rules))
  encoded.messages = content
  addTools(encoded, request, rules, [...(Array.isArray(rest.tools) ? rest.tools : []), ...searchTools(request)])
  const thinks = plan.thinking !== undefined && plan.thinking.type !== 'disabled'
  addSampling(encoded, request, { quirks, thinks, losses })
  put(encoded, 'thinking', plan.thinking)
  addGrouped(encoded, request, rest, config)
  if (request.stream) encoded.stream = true
  return encoded
}

/** The limit of the response, which this format requires. */
function limitTokens({ format, sampling }: ChatRequest, losses: Loss[]): number {
  if (sampling.maxTokens !== undefined) return sampling.maxTokens
  lose(losses, { what: 'defaulted', path: clientField(format, 'maxTokens'), note: `${DEFAULT_MAX_TOKENS}` })
  return DEFAULT_MAX_TOKENS
}

/** The members without those that the middle encodes itself. */
function withoutKnown({ tools: _tools, output_config: _config, metadata: _metadata, ...others }: JsonObject) {
  return others
}

/** Sets the nested objects `output_config` and `metadata`. */
function addGrouped(encoded: JsonObject, { user }: ChatRequest, rest: JsonObject, planned: JsonObject): void {
  const config = rest.output_config === undefined ? planned : { ...objectAt(rest, 'output_config'), ...planned }
  if (Object.keys(config).length > 0) encoded.output_config = config
  const metadata = objectAt(rest, 'metadata')
  if (user !== null) encoded.metadata = { ...metadata, user_id: user }
  else if (Object.keys(metadata).length > 0) encoded.metadata = metadata
}

/**
 * Encodes the instructions. Clients of this format get their blocks back; the texts of other clients are joined into
 * one.
 */
function encodeSystem(system: readonly TextPart[], rules: ContentRules): Json | undefined {
  if (rules.isOwn || system.some((part) => part.cache !== undefined)) {
    const blocks = system
      .filter((part) => rules.isOwn || part.text.trim() !== '')
      .map((part) => encodeText(part, rules))
    const [only] = blocks
    if (only === undefined) return undefined
    return blocks.length === 1 && Object.keys(only).length === 2 ? (only.text ?? '') : blocks
  }
  return joinSystem(system) ?? undefined
}

function addSampling(
  encoded: JsonObject,
  request: ChatRequest,
  { quirks, thinks, losses }: { quirks: ReadonlySet<string>; thinks: boolean; losses: Loss[] },
): void {
  const { sampling, format } = request
  const isOwn = format === 'messages'
  const drop = (field: keyof Sampling, note?: string): undefined => {
    lose(losses, { what: 'dropped', path: clientField(format, field), ...(note !== undefined && { note }) })
  }
  let { temperature, topP, topK } = sampling
  if (quirks.has('noSampling')) {
    if (temperature !== undefined) temperature = drop('temperature')
    if (topP !== undefined) topP = drop('topP')
    if (topK !== undefined) topK = drop('topK')
  } else if (thinks && !isOwn) {
    if (temperature !== undefined && temperature !== 1) temperature = drop('temperature', WITH_THINKING)
    if (topP !== undefined && topP < 0.95) topP = drop('topP', WITH_THINKING)
    if (topK !== undefined) topK = drop('topK', WITH_THINKING)
  }
  if (temperature !== undefined && topP !== undefined && quirks.has('temperatureOrTopP')) {
    topP = drop('topP', 'not supported together with temperature')
  }
  if (temperature !== undefined && temperature > 1 && !isOwn) {
    lose(losses, { what: 'renamed', path: 'temperature', note: 'the maximum of this provider is 1' })
    temperature = 1
  }
  for (const field of ['frequencyPenalty', 'presencePenalty', 'seed'] as const) {
    if (sampling[field] !== undefined) drop(field)
  }
  put(encoded, 'temperature', temperature)
  put(encoded, 'top_p', topP)
  put(encoded, 'top_k', topK)
  put(encoded, 'stop_sequences', sampling.stop)
}

function encodeOutput(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): JsonObject {
  const { format, output } = request
  if (output.kind !== 'schema' || !forcesOutput(request, quirks)) return {}
  const path = clientField(format, 'output')
  const schema = format === 'messages' ? output.schema : closeSchema(output.schema, path, losses)
  return { format: { type: 'json_schema', schema } }
}

/**
 * Whether the output format is enforced. JSON of any shape cannot be enforced, because a schema must list its members.
 */
function forcesOutput({ output }: ChatRequest, quirks: ReadonlySet<string>): boolean {
  return output.kind === 'schema' && !quirks.has('noOutputFormat')
}

const DEFAULT_MAX_TOKENS = 4096
const WITH_THINKING = 'not supported together with thinking'
const TOOL_NAME = wordNames(128)

/** Anthropic's search tool, in place of the web search of another client format. */
function searchTools({ webSearch }: ChatRequest): JsonObject[] {
  if (webSearch === undefined) return []
  const { allowedDomains, location } = webSearch
  const settings = withoutAbsent({ allowed_domains: allowedDomains, user_location: location })
  return [{ type: 'web_search_20250305', name: 'web_search', ...settings }]
}

function addTools(encoded: JsonObject, request: ChatRequest, rules: ContentRules, native: Json[]): void {
  if (request.tools.length === 0 && native.length === 0) return
  const choice = encodeChoice(request, rules)
  encoded.tools = [...request.tools.map((tool) => encodeTool(tool, rules)), ...native]
  if (choice !== null) encoded.tool_choice = choice
}

function encodeTool(tool: Tool, rules: ContentRules): JsonObject {
  const { isOwn, quirks, names, format, losses } = rules
  const keepsStrict = tool.strict !== undefined && (isOwn || quirks.has('strictTools'))
  if (tool.strict === true && !keepsStrict) lose(losses, { what: 'dropped', path: clientField(format, 'strict') })
  if (tool.custom?.type === 'grammar') {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'toolFormat'),
      note: 'moved into the description of the tool',
    })
  }
  const description = describeFormat(tool.description, tool.custom ?? {})
  return {
    ...(isOwn && tool.rest),
    name: names.get(tool.name) ?? tool.name,
    ...(description !== undefined && { description }),
    // A schema without a type is refused.
    input_schema: isOwn ? tool.schema : { type: 'object', ...tool.schema },
    ...(keepsStrict && { strict: tool.strict }),
    ...cacheMark(tool, rules),
  }
}

function encodeChoice(request: ChatRequest, { names, losses, isOwn }: ContentRules): JsonObject | null {
  const { toolChoice, parallelTools, format } = request
  // Parallel calls are the default, which only clients of this format state explicitly.
  const saysParallel = parallelTools === false || (parallelTools === true && isOwn)
  const flag: JsonObject = saysParallel ? { disable_parallel_tool_use: !parallelTools } : {}
  switch (toolChoice?.kind) {
    case undefined:
      return saysParallel ? { type: 'auto', ...flag } : null
    case 'auto':
      return { type: 'auto', ...flag }
    case 'required':
      return { type: 'any', ...flag }
    case 'tool':
      return { type: 'tool', name: names.get(toolChoice.name) ?? toolChoice.name, ...flag }
    case 'none':
      if (parallelTools === false) lose(losses, { what: 'dropped', path: clientField(format, 'parallelTools') })
      return { type: 'none' }
  }
}

/** Sets `additionalProperties: false` on every object of a schema, which this vendor requires and others do not. */
export function closeSchema(schema: JsonObject, path: string, losses: Loss[]): JsonObject {
  let isChanged = false
  const close = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(close)
    if (!isObject(value)) return value
    const closed = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]))
    if (!isObject(value.properties) || value.additionalProperties !== undefined) return closed
    if (value.type !== undefined && value.type !== 'object') return closed
    isChanged = true
    return { ...closed, additionalProperties: false }
  }
  const closed = close(schema)
  if (isChanged) lose(losses, { what: 'defaulted', path, note: 'additionalProperties: false' })
  return isObject(closed) ? closed : schema
}
