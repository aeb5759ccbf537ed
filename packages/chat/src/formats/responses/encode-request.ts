import { clientField, lose, carryRest, joinSystem } from '../../request/carry-over.ts'
import { effortOf } from '../../request/effort.ts'
import { fitCallId } from '../../tools/call-ids.ts'
import type { EncodeTarget } from '../../format.ts'
import { isObject, objectAt } from '@portico/http/json'
import {
  type ChatRequest,
  type JsonObject,
  type Loss,
  type Message,
  type Part,
  type ToolResultPart,
  UnsupportedField,
} from '../../middle.ts'
import { nameTools, wordNames } from '../../tools/tool-names.ts'
import { encodeText } from './encode-text.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { encodeContent } from './encode-content.ts'
import type { InputScope } from './input-scope.ts'

/**
 * Quirks, by which a provider says how it deviates:
 *
 * | quirk              | what it changes                                                                         |
 * | ------------------ | --------------------------------------------------------------------------------------- |
 * | summariesOnRequest | summaries of reasoning are refused to organisations that are not verified               |
 */
export function encodeRequest(
  request: ChatRequest,
  target: EncodeTarget,
  losses: Loss[],
): JsonObject | UnsupportedField {
  const isOwn = request.format === 'responses'
  const { shared, others } = splitShared(request)
  const rest = carryRest({ ...request, rest: others }, 'responses', losses)
  if (rest instanceof UnsupportedField) return rest
  const names = isOwn ? null : nameTools(request, TOOL_NAME, target.toolNames)
  const nameOf = (name: string): string => names?.get(name) ?? name
  const idOf = (id: string): string => (isOwn ? id : fitCallId(id, MAX_CALL_ID))
  reportUnsaid(request, losses)
  const faults: UnsupportedField[] = []
  const input = [...leadingItems(request), ...encodeInput({ request, isOwn, nameOf, idOf, losses, faults })]
  const [fault] = faults
  if (fault !== undefined) return fault
  const { maxTokens, temperature, topP } = request.sampling
  const text = encodeText(request.output, objectAt(isOwn ? rest : shared, 'text'))
  const instructions = joinSystem(
    isOwn ? request.system.filter((part) => part.rest?.role === undefined) : request.system,
  )
  return {
    ...rest,
    ...shared,
    model: target.model,
    ...(instructions !== null && { instructions }),
    input,
    ...encodeTools(request, nameOf),
    ...(request.parallelTools !== null && { parallel_tool_calls: request.parallelTools }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...encodeReasoning(request, target.quirks, losses),
    ...(text !== null && { text }),
    ...(request.user !== null && rest.safety_identifier !== request.user && { user: request.user }),
    ...(request.stream && { stream: true }),
  }
}

const TOOL_NAME = wordNames(64)
const MAX_CALL_ID = 64

/** Completions has these too, and means the same by them. */
const SHARED: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
])

function splitShared(request: ChatRequest): { shared: JsonObject; others: JsonObject } {
  if (request.format === 'responses') return { shared: {}, others: request.rest }
  // By default the provider stores responses, which clients of other formats do not expect.
  if (request.format !== 'completions') return { shared: { store: false }, others: request.rest }
  const { verbosity, ...others } = request.rest
  const entries = Object.entries(others)
  return {
    shared: {
      store: false,
      ...Object.fromEntries(entries.filter(([name]) => SHARED.has(name))),
      ...(typeof verbosity === 'string' && { text: { verbosity } }),
    },
    others: Object.fromEntries(entries.filter(([name]) => !SHARED.has(name))),
  }
}

/** Instructions that the client sent as items stay items. */
function leadingItems(request: ChatRequest): JsonObject[] {
  if (request.format !== 'responses') return []
  return request.system.flatMap(({ text, rest }) => {
    const { role, ...others } = rest ?? {}
    return role === undefined ? [] : [{ type: 'message', role, content: [{ type: 'input_text', text, ...others }] }]
  })
}

function encodeReasoning(request: ChatRequest, quirks: ReadonlySet<string>, losses: Loss[]): JsonObject {
  const { reasoning, format } = request
  if (reasoning === null) return {}
  if (format === 'responses') return { reasoning: { ...reasoning.rest } }
  const effort = effortOf(reasoning)
  if (reasoning.effort === undefined && effort !== null) {
    lose(losses, { what: 'renamed', path: clientField(format, 'reasoning'), note: `translated to effort ${effort}` })
  }
  // Messages clients get thinking without asking for it.
  const isShown = isObject(reasoning.rest?.thinking) && effort !== 'none' && !quirks.has('summariesOnRequest')
  return {
    reasoning: { ...(effort !== null && { effort }), ...((reasoning.include ?? isShown) && { summary: 'auto' }) },
    // The provider stores nothing, so the client has to send the reasoning back.
    ...(effort !== 'none' && { include: ['reasoning.encrypted_content'] }),
  }
}

function reportUnsaid({ sampling, format, system, tools }: ChatRequest, losses: Loss[]): void {
  if ([...system, ...tools].some(({ cache }) => cache !== undefined)) {
    lose(losses, { what: 'dropped', path: clientField(format, 'cache') })
  }
  for (const field of UNKNOWN_SAMPLING) {
    if (sampling[field] !== undefined) lose(losses, { what: 'dropped', path: clientField(format, field) })
  }
}

const UNKNOWN_SAMPLING = ['topK', 'frequencyPenalty', 'presencePenalty', 'seed', 'stop'] as const

function encodeInput(scope: InputScope): JsonObject[] {
  const { messages } = scope.request
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'toolCall'))
  const customIds = new Set(calls.filter((call) => call.custom).map((call) => call.id))
  return messages.flatMap((message) =>
    message.role === 'assistant' ? encodeAssistant(message.parts, scope) : encodeOthers(message, customIds, scope),
  )
}

/** A user's message, with the results of tools between its parts; instructions inside the conversation. */
function encodeOthers(message: Message, customIds: ReadonlySet<string>, scope: InputScope): JsonObject[] {
  const { role = message.role, ...rest } = (scope.isOwn && message.rest) || {}
  const items: JsonObject[] = []
  let parts: Part[] = []
  const close = (): void => {
    const content = encodeParts(parts, scope)
    if (content.length > 0) items.push({ type: 'message', role, content, ...rest })
    parts = []
  }
  for (const part of message.parts) {
    if (part.type !== 'toolResult' && part.type !== 'native') {
      parts.push(part)
      continue
    }
    close()
    if (part.type === 'toolResult') items.push(encodeResult(part, customIds.has(part.id), scope))
    else if (scope.isOwn) items.push(part.value)
  }
  close()
  return items
}

function encodeResult(result: ToolResultPart, isCustom: boolean, scope: InputScope): JsonObject {
  const [first, ...others] = result.parts
  const isPlain = others.length === 0 && (first === undefined || (first.type === 'text' && first.rest === undefined))
  const text = first?.type === 'text' ? first.text : ''
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: scope.idOf(result.id),
    output: isPlain ? text : encodeParts(result.parts, scope),
    // There is no other word for a call that failed.
    ...(result.isError && { status: 'incomplete' }),
    ...(scope.isOwn && result.rest),
  }
}

function encodeParts(parts: readonly Part[], scope: InputScope): JsonObject[] {
  const { request, losses } = scope
  const contents: JsonObject[] = []
  for (const part of parts) {
    const content = encodeContent(part, scope)
    if (content !== null) contents.push(content)
    else if (part.type !== 'native') {
      lose(losses, { what: 'dropped', path: clientField(request.format, 'content'), note: `${part.type} of the user` })
    }
  }
  return contents
}
