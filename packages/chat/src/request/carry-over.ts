import { isKnownMember, refusedMember } from './request-members.ts'
import {
  type ChatRequest,
  type FormatName,
  type Json,
  type JsonObject,
  type Loss,
  UnsupportedField,
  type Message,
  type TextPart,
  type FilePart,
  type ImagePart,
} from '../middle.ts'

/**
 * Carries a request over to a format that cannot express all of it: unknown members are reported or refused, instructions
 * move to the front, and an instruction asks for the output format. Each change is a loss in the trace, under the name
 * that the client's format gives to the field.
 */

/**
 * Handles the client's members that the middle does not know: returns them for an upstream of the client's own format;
 * for other formats reports them, or refuses the request when the response would not be what the client asked for.
 */
export function carryRest(request: ChatRequest, format: FormatName, losses: Loss[]): JsonObject | UnsupportedField {
  if (request.format === format) return request.rest
  const reference = refusedReference(request)
  if (reference !== null) return reference
  for (const [name, value] of Object.entries(request.rest)) {
    const refused = refusedMember(request.format, name, value) ?? refusedForm(name, value)
    if (refused !== null) return refused
    if (!isHonoured(name, value)) report(name, value, losses, isKnownMember(request.format, name) ? undefined : UNKNOWN)
  }
  const list = LISTS[request.format] ?? 'messages[]'
  reportAll(request.format === 'gemini' ? 'systemInstruction.parts[]' : 'system[]', request.system, losses)
  reportAll('tools[]', request.tools, losses)
  for (const message of request.messages) {
    reportMembers(list, message.rest, losses)
    reportAll(clientField(request.format, 'content'), message.parts, losses)
  }
  return {}
}

/** The member with the conversation. */
const LISTS: Readonly<Partial<Record<FormatName, string>>> = { responses: 'input[]', gemini: 'contents[]' }

/** The members of parts, tools and messages that carry fields unknown to the middle. */
interface ExtendedPart {
  type?: string
  rest?: JsonObject
  value?: JsonObject
  parts?: readonly ExtendedPart[]
}

function reportAll(path: string, extended: readonly ExtendedPart[], losses: Loss[]): void {
  for (const { type, rest, value, parts } of extended) {
    if (type === 'native') {
      const kind = typeof value?.type === 'string' ? value.type : 'unknown'
      lose(losses, { what: 'dropped', path, note: `${kind} has no counterpart` })
    }
    reportMembers(path, rest, losses)
    if (parts !== undefined) reportAll(`${path}.content[]`, parts, losses)
  }
}

function reportMembers(path: string, rest: JsonObject | undefined, losses: Loss[]): void {
  for (const [name, value] of Object.entries(rest ?? {})) {
    if (!BOOKKEEPING.has(name)) report(`${path}.${name}`, value, losses)
  }
}

/** Reports a dropped member. SDKs send null, false or an empty list for members that are not set. */
function report(path: string, value: Json, losses: Loss[], note?: string): void {
  if (value === null || value === false || (Array.isArray(value) && value.length === 0)) return
  lose(losses, { what: 'dropped', path, ...(note !== undefined && { note }) })
}

/** Refuses a member that the middle supports, but not in this form. */
function refusedForm(name: string, value: Json): UnsupportedField | null {
  const message = FORMS.get(name)
  return value === null || message === undefined ? null : new UnsupportedField(name, message)
}

const FORMS: ReadonlyMap<string, string> = new Map([
  ['tool_choice', 'this provider knows only auto, none, required and a named tool'],
  ['response_format', 'this provider knows only text, json_object and json_schema'],
  ['functions', 'must be a list of functions'],
  ['function_call', 'must be none, auto or the name of a function'],
])

const UNKNOWN = 'unknown member'

/**
 * Whether a member needs no report: the middle has the value too, the response encoder reads it, or its effect is the
 * default.
 */
function isHonoured(name: string, value: Json): boolean {
  if (name === 'n') return value === 1
  if (name === 'modalities') return true
  if (name === 'include') return Array.isArray(value) && value.every((each) => each === 'reasoning.encrypted_content')
  return name === 'stream_options' || name === 'max_completion_tokens'
}

/**
 * Members of output items that Responses clients send back; they have a meaning only for the provider that made the
 * items.
 */
const BOOKKEEPING: ReadonlySet<string> = new Set(['id', 'status', 'item', 'role'])

/** Refuses a reference to an item that the provider stores: only a provider of the client's format can resolve it. */
function refusedReference({ format, messages }: ChatRequest): UnsupportedField | null {
  if (format !== 'responses') return null
  const hasReference = messages.some(({ parts }) =>
    parts.some((part) => part.type === 'native' && part.value.type === 'item_reference'),
  )
  return hasReference ? new UnsupportedField('input[].id', UNRESOLVED) : null
}

const UNRESOLVED =
  'an item_reference needs a provider that stores responses, and this one does not: send whole items, as SDKs do with store: false'

/**
 * Moves instructions inside the conversation to the front, for formats that have them only there; the move is reported.
 */
export function hoistSystem(
  request: Pick<ChatRequest, 'system' | 'messages'>,
  losses: Loss[],
): Pick<ChatRequest, 'system' | 'messages'> {
  const { system, messages } = request
  if (!messages.some(isSystem)) return { system, messages }
  losses.push({
    what: 'renamed',
    path: 'messages[].role',
    note: 'instructions inside the conversation moved to its front',
  })
  const moved = messages.filter(isSystem).flatMap((message) => message.parts.filter((part) => part.type === 'text'))
  return { system: [...system, ...moved], messages: messages.filter((message) => !isSystem(message)) }
}

function isSystem(message: Message): boolean {
  return message.role === 'system'
}

/** The instructions as one text, without blank ones; null when none is left. */
export function joinSystem(system: readonly TextPart[]): string | null {
  const texts = system.map((part) => part.text).filter((text) => text.trim() !== '')
  return texts.length === 0 ? null : texts.join('\n')
}

/**
 * An instruction that asks for the output format, for providers that cannot enforce one. The model may ignore the
 * instruction, and no field of the response says so; the loss in the trace does.
 */
export function instructOutput({ format, output }: ChatRequest, losses: Loss[]): TextPart[] {
  if (output.kind === 'text') return []
  const isSchema = output.kind === 'schema'
  const note = isSchema ? 'an instruction asks for JSON of this schema' : 'an instruction asks for JSON'
  lose(losses, { what: 'renamed', path: clientField(format, 'output'), note })
  if (!isSchema) return [{ type: 'text', text: ONLY_JSON }]
  const { description, schema } = output
  const lines = [ONLY_SCHEMA, JSON.stringify(schema), ...(description === undefined ? [] : [description])]
  return [{ type: 'text', text: lines.join('\n') }]
}

const ONLY_JSON = 'Answer with one JSON object and nothing else.'
const ONLY_SCHEMA =
  'Answer with one JSON value and nothing else, neither words nor code fences around it. It must be valid against this JSON Schema:'

/** A field of the middle that losses and refusals report under the client's own name. */
export type ClientField = keyof typeof fields

export function clientField(format: FormatName, field: ClientField): string {
  const names = fields[field]
  return typeof names === 'string' ? names : (namesIn(names, format) ?? names.completions)
}

/** The client's field with the data, the URL or the file id of an image or a file. */
export function mediaField(format: FormatName, { type, source }: ImagePart | FilePart): string {
  if (source.kind === 'id') return clientField(format, 'fileId')
  if (source.kind === 'url' && (type === 'file' || format === 'gemini')) return clientField(format, 'fileUrl')
  return clientField(format, type)
}

/**
 * Records a loss. A loss that repeats, as in a long conversation, is recorded once, and at most `MAX_LOSSES` are kept.
 */
export function lose(losses: Loss[], loss: Loss): void {
  if (losses.length >= MAX_LOSSES) return
  const isKnown = losses.some(({ what, path, note }) => what === loss.what && path === loss.path && note === loss.note)
  if (!isKnown) losses.push(loss)
}

const MAX_LOSSES = 50

interface Names {
  completions: string
  messages: string
  responses: string
  gemini: string
}

function isClientFormat(format: FormatName): format is keyof Names {
  return format === 'completions' || format === 'messages' || format === 'responses' || format === 'gemini'
}

function namesIn(names: Names, format: FormatName): string | undefined {
  return isClientFormat(format) ? names[format] : undefined
}

const fields = {
  content: {
    completions: 'messages[].content[]',
    messages: 'messages[].content[]',
    responses: 'input[].content[]',
    gemini: 'contents[].parts[]',
  },
  image: {
    completions: 'messages[].content[].image_url',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].image_url',
    gemini: 'contents[].parts[].inlineData',
  },
  file: {
    completions: 'messages[].content[].file',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].file_data',
    gemini: 'contents[].parts[].inlineData',
  },
  /** The id of a file that a vendor stores for the client. */
  fileId: {
    completions: 'messages[].content[].file.file_id',
    messages: 'messages[].content[].source.file_id',
    responses: 'input[].content[].file_id',
    gemini: 'contents[].parts[].fileData',
  },
  fileUrl: {
    completions: 'messages[].content[].file',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].file_url',
    gemini: 'contents[].parts[].fileData',
  },
  audio: {
    completions: 'messages[].content[].input_audio',
    messages: 'messages[].content[]',
    responses: 'input[].content[].input_audio',
    gemini: 'contents[].parts[].inlineData',
  },
  toolArguments: {
    completions: 'messages[].tool_calls[].function.arguments',
    messages: 'messages[].content[].input',
    responses: 'input[].arguments',
    gemini: 'contents[].parts[].functionCall.args',
  },
  reasoningHistory: {
    completions: 'messages[].reasoning_content',
    messages: 'messages[].content[].thinking',
    responses: 'input[].reasoning',
    gemini: 'contents[].parts[].thought',
  },
  callSignature: {
    completions: 'messages[].tool_calls[].id',
    messages: 'messages[].content[].id',
    responses: 'input[].call_id',
    gemini: 'contents[].parts[].thoughtSignature',
  },
  toolResultId: {
    completions: 'messages[].tool_call_id',
    messages: 'messages[].content[].tool_use_id',
    responses: 'input[].call_id',
    gemini: 'contents[].parts[].functionResponse',
  },
  toolError: {
    completions: 'messages[]',
    messages: 'messages[].content[].is_error',
    responses: 'input[].status',
    gemini: 'contents[].parts[].functionResponse.response',
  },
  imageDetail: {
    completions: 'messages[].content[].image_url.detail',
    messages: 'messages[].content[]',
    responses: 'input[].content[].detail',
    gemini: 'contents[].parts[].mediaResolution',
  },
  cache: 'cache_control',
  maxTokens: {
    completions: 'max_tokens',
    messages: 'max_tokens',
    responses: 'max_output_tokens',
    gemini: 'generationConfig.maxOutputTokens',
  },
  temperature: {
    completions: 'temperature',
    messages: 'temperature',
    responses: 'temperature',
    gemini: 'generationConfig.temperature',
  },
  topP: { completions: 'top_p', messages: 'top_p', responses: 'top_p', gemini: 'generationConfig.topP' },
  topK: { completions: 'top_k', messages: 'top_k', responses: 'top_k', gemini: 'generationConfig.topK' },
  frequencyPenalty: {
    completions: 'frequency_penalty',
    messages: 'frequency_penalty',
    responses: 'frequency_penalty',
    gemini: 'generationConfig.frequencyPenalty',
  },
  presencePenalty: {
    completions: 'presence_penalty',
    messages: 'presence_penalty',
    responses: 'presence_penalty',
    gemini: 'generationConfig.presencePenalty',
  },
  seed: { completions: 'seed', messages: 'seed', responses: 'seed', gemini: 'generationConfig.seed' },
  stop: {
    completions: 'stop',
    messages: 'stop_sequences',
    responses: 'stop',
    gemini: 'generationConfig.stopSequences',
  },
  tools: 'tools',
  strict: {
    completions: 'tools[].function.strict',
    messages: 'tools[].strict',
    responses: 'tools[].strict',
    gemini: 'tools[].functionDeclarations[]',
  },
  toolSchema: {
    completions: 'tools[].function.parameters',
    messages: 'tools[].input_schema',
    responses: 'tools[].parameters',
    gemini: 'tools[].functionDeclarations[].parameters',
  },
  toolFormat: {
    completions: 'tools[].custom.format',
    messages: 'tools[]',
    responses: 'tools[].format',
    gemini: 'tools[].functionDeclarations[]',
  },
  toolChoice: {
    completions: 'tool_choice',
    messages: 'tool_choice',
    responses: 'tool_choice',
    gemini: 'toolConfig.functionCallingConfig',
  },
  parallelTools: {
    completions: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
    responses: 'parallel_tool_calls',
    gemini: 'toolConfig',
  },
  reasoning: {
    completions: 'reasoning_effort',
    messages: 'thinking',
    responses: 'reasoning',
    gemini: 'generationConfig.thinkingConfig',
  },
  output: {
    completions: 'response_format',
    messages: 'output_config.format',
    responses: 'text.format',
    gemini: 'generationConfig.responseSchema',
  },
  user: { completions: 'user', messages: 'metadata.user_id', responses: 'user', gemini: 'labels' },
} as const satisfies Record<string, string | Names>
