import { clientField, lose } from '../../request/client-fields.ts'
import type { EncodeTarget } from '../../format.ts'
import { objectAt, put, withoutAbsent } from '@portico/http/json'
import {
  type ChatRequest,
  type Json,
  type JsonObject,
  type Loss,
  type Sampling,
  type TextPart,
  type Tool,
  Unsupported,
} from '../../middle.ts'
import { instructOutput } from '../../request/output-instruction.ts'
import { carryRest } from '../../request/rest.ts'
import { hoistSystem, joinSystem } from '../../request/system.ts'
import { nameTools } from '../../tools/tool-names.ts'
import { closeSchema } from './close-schema.ts'
import { cacheMark, encodeMessages, encodeText } from './encode-content.ts'
import type { ContentRules } from './encode-media.ts'
import { contextRules, planThinking } from './encode-thinking.ts'
import { describeFormat } from '../../tools/custom-tools.ts'

/**
 * Quirks, by which a provider says how it deviates:
 *
 * | quirk             | what it changes                                                                          |
 * | ----------------- | ---------------------------------------------------------------------------------------- |
 * | noModel           | the model is not in the body, because it is in the path                                  |
 * | systemMessages    | instructions inside the conversation are known                                           |
 * | adaptiveThinking  | the model decides how much it thinks, by effort; budgets are refused                     |
 * | noThinking        | the model cannot think                                                                   |
 * | noSampling        | temperature, top_p and top_k are refused                                                 |
 * | temperatureOrTopP | only one of the two is taken                                                             |
 * | noOutputFormat    | structured output is refused, and asked for in words                                     |
 * | strictTools       | `strict` on tools is known                                                               |
 * | noCacheScope      | `cache_control.scope` is refused                                                         |
 * | bytesOnly         | images and files are in the request: URLs and ids of stored ones are refused             |
 */
export function encodeRequest(request: ChatRequest, target: EncodeTarget, losses: Loss[]): JsonObject | Unsupported {
  const rest = carryRest(request, 'messages', losses)
  if (rest instanceof Unsupported) return rest
  const isOwn = request.format === 'messages'
  const { quirks } = target
  const keepsSystem = isOwn || quirks.has('systemMessages')
  const { system, messages } = keepsSystem ? request : hoistSystem(request, losses)
  const names = nameTools(request, isOwn ? ANY_NAME : TOOL_NAME, target.toolNames)
  const rules: ContentRules = { format: request.format, isOwn, quirks, names, losses }
  const content = encodeMessages(messages, rules)
  if (content instanceof Unsupported) return content
  const plan = planThinking(request, quirks, losses)
  const config = { ...plan.config, ...encodeOutput(request, quirks, losses) }
  // Members are set one by one on a single object: every message takes this path, and merging objects is slower.
  const encoded = isOwn ? withoutKnown(rest) : {}
  if (isOwn) Object.assign(encoded, contextRules(request, losses))
  if (!quirks.has('noModel')) encoded.model = target.model
  encoded.max_tokens = plan.maxTokens
  const told = forcesOutput(request, quirks) ? system : [...system, ...instructOutput(request, losses)]
  put(encoded, 'system', encodeSystem(told, rules))
  encoded.messages = content
  addTools(encoded, request, rules, [...(Array.isArray(rest.tools) ? rest.tools : []), ...searchTools(request)])
  const thinks = plan.thinking !== undefined && plan.thinking.type !== 'disabled'
  addSampling(encoded, request, { quirks, thinks, losses })
  put(encoded, 'thinking', plan.thinking)
  addGrouped(encoded, request, rest, config)
  if (request.stream) encoded.stream = true
  return encoded
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
    topP = drop('topP', 'temperature is given too')
  }
  if (temperature !== undefined && temperature > 1 && !isOwn) {
    lose(losses, { what: 'renamed', path: 'temperature', note: 'the highest here is 1' })
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

const WITH_THINKING = 'not while thinking'
const TOOL_NAME = { valid: /^[A-Za-z0-9_-]{1,128}$/, invalid: /[^A-Za-z0-9_-]/g, maxLength: 128 }
/** Clients of this format already use names that their provider accepts. */
const ANY_NAME = { valid: /^/, invalid: /(?!)/g, maxLength: Infinity }

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
    lose(losses, { what: 'renamed', path: clientField(format, 'toolFormat'), note: 'told in the description' })
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
