import { clientField, type ClientField, lose, instructOutput, carryRest } from '../../request/carry-over.ts'
import { effortOf } from '../../request/effort.ts'
import type { EncodeTarget } from '../../format.ts'
import { isObject, put } from '@portico/http/json'
import {
  type ChatRequest,
  type Json,
  type JsonObject,
  type Loss,
  type Sampling,
  type TextPart,
  UnsupportedField,
} from '../../middle.ts'
import { ANY_NAME, nameTools, wordNames } from '../../tools/tool-names.ts'
import type { EncodeRules } from './encode-content.ts'
import { encodeMessages } from './encode-messages.ts'
import { addTools } from './encode-tools.ts'
import { createHash } from 'node:crypto'

/**
 * Quirks, by which a provider says how it deviates:
 *
 * | quirk                | what it changes                                                                       |
 * | -------------------- | ------------------------------------------------------------------------------------- |
 * | completionTokens     | the limit is `max_completion_tokens`, not `max_tokens`                                |
 * | topK                 | `top_k` is known                                                                      |
 * | noSampling           | temperature, top_p and penalties are refused, as by reasoning models                  |
 * | noStop               | `stop` is refused                                                                     |
 * | noSeed               | `seed` is refused                                                                     |
 * | noReasoning          | `reasoning_effort` is refused                                                         |
 * | noReasoningWithTools | with tools only the effort `none` is taken                                            |
 * | noParallelTools      | `parallel_tool_calls` is refused                                                      |
 * | noJsonSchema         | of structured output only `json_object` is known; a schema is asked for in words      |
 * | noStrict             | `strict` is refused                                                                   |
 * | noStreamOptions      | `stream_options` is refused                                                           |
 * | noUser               | `user` is refused                                                                     |
 * | customTools          | tools that take free text are known                                                   |
 * | developerRole        | instructions have the role `developer`                                                |
 * | stringContent        | the content of system, assistant and tool messages must be one text                   |
 * | reasoningContent     | wants its reasoning back in `reasoning_content`                                       |
 * | noReasoningHistory   | refuses reasoning in the conversation, also of clients of this format                  |
 * | cacheControl         | takes `cache_control` marks on parts                                                  |
 * | cacheBreakpoints     | takes `prompt_cache_breakpoint` marks on parts                                        |
 * | googleSignatures     | wants `extra_content.google.thought_signature` back with tool calls                   |
 */
export function encodeRequest(
  request: ChatRequest,
  target: EncodeTarget,
  losses: Loss[],
): JsonObject | UnsupportedField {
  const rest = carryRest(request, 'completions', losses)
  if (rest instanceof UnsupportedField) return rest
  const isOwn = request.format === 'completions'
  const names = nameTools(request, isOwn ? ANY_NAME : TOOL_NAME, target.toolNames)
  const rules: EncodeRules = { format: request.format, isOwn, quirks: target.quirks, names, losses }
  const messages = encodeMessages(instructed(request, target.quirks, losses), request.messages, rules)
  if (messages instanceof UnsupportedField) return messages
  // Members are put into one object, one by one: every message passes here, and merging objects takes longer.
  const encoded = isOwn ? withoutKnown(rest) : {}
  encoded.model = target.model
  encoded.messages = messages
  addTools(encoded, request, rules, Array.isArray(rest.tools) ? rest.tools : [])
  addSampling(encoded, request, target.quirks, losses)
  put(encoded, 'reasoning_effort', encodeReasoning(request, target.quirks, losses))
  put(encoded, 'response_format', encodeOutput(request, target.quirks))
  put(encoded, 'user', encodeUser(request, target.quirks, losses))
  addStream(encoded, request, target.quirks, rest.stream_options)
  return encoded
}

/** The members without those that the middle encodes itself. */
function withoutKnown({
  tools: _tools,
  stream_options: _options,
  max_completion_tokens: _limit,
  ...others
}: JsonObject) {
  return others
}

function encodeReasoning(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): string | undefined {
  const path = clientField(request.format, 'reasoning')
  if (quirks.has('noReasoningWithTools') && request.tools.length > 0) {
    lose(losses, { what: 'defaulted', path, note: 'this model does not reason when it has tools' })
    return 'none'
  }
  const effort = effortOf(request.reasoning)
  if (effort === null) return undefined
  if (quirks.has('noReasoning')) {
    if (effort !== 'none') lose(losses, { what: 'dropped', path })
    return undefined
  }
  // The other formats go further than the words that every model of this one knows.
  if (effort !== 'max' || request.format === 'completions') return effort
  lose(losses, { what: 'renamed', path, note: 'max was replaced by high' })
  return 'high'
}

function instructed(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): TextPart[] {
  const isForced = request.output.kind !== 'schema' || !quirks.has('noJsonSchema')
  return isForced ? request.system : [...request.system, ...instructOutput(request, losses)]
}

function encodeOutput({ output }: ChatRequest, quirks: ReadonlySet<string>): JsonObject | undefined {
  if (output.kind === 'text') return undefined
  if (output.kind === 'json' || quirks.has('noJsonSchema')) return { type: 'json_object' }
  const { kind: _kind, ...wanted } = output
  return { type: 'json_schema', json_schema: wanted }
}

/** Requests usage even when the client did not, because the gateway counts tokens. */
function addStream(
  encoded: JsonObject,
  { stream }: ChatRequest,
  quirks: ReadonlySet<string>,
  options: Json | undefined,
): void {
  if (!stream) return
  encoded.stream = true
  if (quirks.has('noStreamOptions')) return
  encoded.stream_options = { ...(isObject(options) && options), include_usage: true }
}

const TOOL_NAME = wordNames(64)

function addSampling(encoded: JsonObject, request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): void {
  const { sampling, format } = request
  for (const [field, name, refusedBy] of NAMES) {
    const value = sampling[field]
    if (value === undefined) continue
    if (refusedBy !== null && quirks.has(refusedBy)) {
      lose(losses, { what: 'dropped', path: clientField(format, field) })
    } else {
      encoded[name] = value
    }
  }
  if (sampling.maxTokens !== undefined) {
    const isNewer =
      quirks.has('completionTokens') || (format === 'completions' && 'max_completion_tokens' in request.rest)
    encoded[isNewer ? 'max_completion_tokens' : 'max_tokens'] = sampling.maxTokens
  }
  if (sampling.topK !== undefined) {
    if (format === 'completions' || quirks.has('topK')) encoded.top_k = sampling.topK
    else lose(losses, { what: 'dropped', path: clientField(format, 'topK') })
  }
}

/**
 * The user, shortened to a hash when too long: OpenAI refuses longer values, and a hash identifies the user as well.
 */
function encodeUser({ user, format }: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): string | undefined {
  if (user === null) return undefined
  const path = clientField(format, 'user')
  if (quirks.has('noUser')) {
    lose(losses, { what: 'dropped', path })
    return undefined
  }
  if (user.length <= MAX_USER || format === 'completions') return user
  lose(losses, { what: 'renamed', path, note: 'hashed, because it is too long' })
  return createHash('sha256').update(user).digest('hex')
}

type SamplingField = keyof Sampling & ClientField

const NAMES: readonly [field: SamplingField, name: string, refusedBy: string | null][] = [
  ['temperature', 'temperature', 'noSampling'],
  ['topP', 'top_p', 'noSampling'],
  ['frequencyPenalty', 'frequency_penalty', 'noSampling'],
  ['presencePenalty', 'presence_penalty', 'noSampling'],
  ['seed', 'seed', 'noSeed'],
  ['stop', 'stop', 'noStop'],
]

const MAX_USER = 64
