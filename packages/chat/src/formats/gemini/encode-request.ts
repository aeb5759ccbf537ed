import { clientField, lose, carryRest, hoistSystem } from '../../request/carry-over.ts'
import type { EncodeTarget } from '../../format.ts'
import {
  type ChatRequest,
  type FormatName,
  type Json,
  type JsonObject,
  type Loss,
  UnsupportedField,
} from '../../middle.ts'
import { nameTools } from '../../tools/tool-names.ts'
import { choiceCount } from './choice-count.ts'
import type { GeminiEncoder } from './encoder.ts'
import { encodeContents, encodeOwnContents } from './encode-contents.ts'
import { encodeTools, TOOL_NAMES } from './encode-tools.ts'
import { isGemini3, levelOf, versionOf } from './model.ts'
import { isObject, objectAt, withoutAbsent } from '@portico/http/json'
import { normaliseSchema } from './normalise-schema.ts'
import { budgetOf } from '../../request/effort.ts'

/**
 * The body of `generateContent` and `streamGenerateContent`; the model and whether to stream stand in the path.
 *
 * | Quirk | What changes |
 * |---|---|
 * | `callIds` | calls and results carry their ids: the Gemini API takes them, Vertex refuses them |
 */
export function encodeRequest(
  request: ChatRequest,
  target: EncodeTarget,
  losses: Loss[],
): JsonObject | UnsupportedField {
  if (request.native !== undefined) return encodeOwn(request, request.native, target)
  const { options, rest: unsaid } = takeOptions(request.rest)
  const { logprobs, rest: unread } = takeLogprobs(request.format, unsaid)
  const candidateCount = choiceCount(request)
  const { n: _n, ...single } = unread
  const rest = candidateCount > 1 ? single : unread
  const refused = carryRest({ ...request, rest }, 'gemini', losses)
  if (refused instanceof UnsupportedField) return refused
  const encoder: GeminiEncoder = {
    format: request.format,
    names: nameTools(request, TOOL_NAMES, target.toolNames),
    hasCallIds: target.quirks.has('callIds'),
    model: target.model,
    isGemini3: isGemini3(target.model),
    budget: { left: MAX_SCHEMA_SIZE },
    losses,
    faults: [],
  }
  const { system, messages } = hoistSystem(request, losses)
  const contents = encodeContents(messages, encoder)
  const [fault] = encoder.faults
  if (fault !== undefined) return fault
  reportUnsaid(request, losses)
  const { thinkingConfig, ...others } = options
  const config = encodeConfig(request, encoder)
  if (thinkingConfig !== undefined) config.thinkingConfig = thinkingConfig
  Object.assign(config, logprobs)
  if (candidateCount > 1) config.candidateCount = candidateCount
  const instructions = system.map(({ text }) => ({ text })).filter(({ text }) => text.trim() !== '')
  const body: JsonObject = {
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    contents,
    ...encodeTools(request, encoder),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...others,
  }
  return others.cachedContent === undefined ? body : withoutCached(body, losses)
}

/** The request of a Gemini client: as the client wrote it, with the messages that policies added. */
function encodeOwn({ system, messages }: ChatRequest, native: JsonObject, { model }: EncodeTarget): JsonObject {
  const hoisted = hoistSystem({ system, messages }, [])
  const instructions = hoisted.system.map(({ text, rest }) => ({ text, ...rest }))
  return {
    ...native,
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    contents: hoisted.messages.flatMap((message) => encodeOwnContents(message, isGemini3(model))),
  }
}

/** The limit for all schemas of one request together, roughly in characters. */
const MAX_SCHEMA_SIZE = 1_000_000

function reportUnsaid({ format, user, system }: ChatRequest, losses: Loss[]): void {
  if (user !== null) lose(losses, { what: 'dropped', path: clientField(format, 'user') })
  if (system.some((part) => part.cache !== undefined))
    lose(losses, { what: 'dropped', path: clientField(format, 'cache') })
}

/** Removes instructions and tools: cached content has its own, and Gemini refuses others beside it. */
function withoutCached(body: JsonObject, losses: Loss[]): JsonObject {
  const { systemInstruction, tools, toolConfig, ...rest } = body
  const note = 'cached_content already contains it'
  if (systemInstruction !== undefined) lose(losses, { what: 'dropped', path: 'system', note })
  if (tools !== undefined || toolConfig !== undefined) lose(losses, { what: 'dropped', path: 'tools', note })
  return rest
}

/**
 * Gemini fields that clients of other formats may set, under the names that Google uses in its OpenAI-compatible API.
 */
interface Options {
  cachedContent?: Json
  safetySettings?: Json
  labels?: Json
  thinkingConfig?: JsonObject
}

/**
 * Takes the options from the body itself, or from `extra_body.google`, which Google's OpenAI-compatible server reads.
 */
function takeOptions(body: JsonObject): { options: Options; rest: JsonObject } {
  const { cached_content, safety_settings, labels, thinking_config, extra_body, ...rest } = body
  const nested = objectAt(objectAt(body, 'extra_body'), 'google')
  const thinking = thinking_config ?? nested.thinking_config
  const options = withoutAbsent({
    cachedContent: cached_content ?? nested.cached_content,
    safetySettings: safety_settings ?? nested.safety_settings,
    labels: labels ?? nested.labels,
    thinkingConfig: isObject(thinking) ? inCamelCase(thinking) : undefined,
  })
  return { options, rest: { ...rest, ...restOf(extra_body) } }
}

/** An `extra_body` without a `google` object, which is reported as one loss. */
function restOf(extraBody: Json | undefined): JsonObject {
  if (extraBody === undefined || (isObject(extraBody) && isObject(extraBody.google))) return {}
  return { extra_body: extraBody }
}

/** Takes the logprobs settings; only Chat Completions clients can read logprobs. */
function takeLogprobs(format: FormatName, body: JsonObject): { logprobs: JsonObject; rest: JsonObject } {
  const { logprobs, top_logprobs, ...rest } = body
  if (format !== 'completions' || logprobs !== true) return { logprobs: {}, rest: body }
  const wanted: JsonObject = { responseLogprobs: true }
  if (typeof top_logprobs === 'number' && top_logprobs > 0) wanted.logprobs = top_logprobs
  return { logprobs: wanted, rest }
}

function inCamelCase(object: JsonObject): JsonObject {
  const entries = Object.entries(object).map(([name, value]): [string, Json] => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(entries)
}

/** `generationConfig`: sampling, the response format, thinking. */
function encodeConfig(request: ChatRequest, encoder: GeminiEncoder): JsonObject {
  const { sampling } = request
  const thinkingConfig = encodeThinking(request, encoder)
  return present({
    maxOutputTokens: sampling.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    seed: sampling.seed,
    stopSequences: sampling.stop,
    ...encodeOutput(request, encoder),
    thinkingConfig: Object.keys(thinkingConfig).length > 0 ? thinkingConfig : undefined,
  })
}

function encodeOutput({ output, format }: ChatRequest, { budget, losses }: GeminiEncoder): JsonObject {
  if (output.kind === 'text') return {}
  const responseMimeType = 'application/json'
  if (output.kind === 'json') return { responseMimeType }
  const dropped = new Set<string>()
  const responseSchema = normaliseSchema({ root: output.schema, budget, dropped, isOrdered: true })
  if (dropped.size > 0) {
    lose(losses, { what: 'dropped', path: clientField(format, 'output'), note: [...dropped].toSorted().join(', ') })
  }
  return { responseMimeType, responseSchema }
}

function present(config: Record<string, JsonObject[string] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** `thinkingConfig`; empty when the client sets no thinking, or the model does not think. */
function encodeThinking({ reasoning, format }: ChatRequest, { model, losses }: GeminiEncoder): JsonObject {
  if (reasoning === null) return {}
  const path = clientField(format, 'reasoning')
  if ((versionOf(model) ?? Infinity) < 2.5) {
    lose(losses, { what: 'dropped', path, note: `${model} does not support thinking` })
    return {}
  }
  const { effort, budget } = reasoning
  const isOff = effort === 'none' || budget === 0
  const included = { includeThoughts: !isOff && (reasoning.include ?? true) }
  if (effort === undefined && budget === undefined) return included
  if (isGemini3(model) && effort !== undefined) {
    const thinkingLevel = levelOf(effort, model)
    if (thinkingLevel !== effort) lose(losses, { what: 'renamed', path, note: `${effort} became ${thinkingLevel}` })
    return { thinkingLevel, ...included }
  }
  if (isOff && /gemini-2\.5-pro/.test(model)) {
    lose(losses, { what: 'defaulted', path, note: `${model} needs at least ${SMALLEST_BUDGET} tokens for thinking` })
    return { thinkingBudget: SMALLEST_BUDGET, ...included }
  }
  return { thinkingBudget: budgetOf(reasoning) ?? 0, ...included }
}

const SMALLEST_BUDGET = 128
