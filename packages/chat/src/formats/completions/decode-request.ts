import { isEffort } from '../../request/effort.ts'
import { addMembers, Fields, withMarks, withRest } from '../../request/fields.ts'
import { isObject, put } from '@portico/http/json'
import type {
  ChatRequest,
  JsonObject,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
  UnsupportedField,
  FilePart,
  ImagePart,
  Message,
  Part,
  TextPart,
  ToolResultPart,
} from '../../middle.ts'
import { INPUT_SCHEMA, flatFormat } from '../../tools/custom-tools.ts'
import { fromClientCallId } from '../../tools/call-ids.ts'
import { decodeReasoningFields } from './reasoning-fields.ts'
import { decodeToolCalls } from './tool-calls.ts'
import { mediaTypeOfName } from '../../request/file-types.ts'
import { mediaSourceOf } from '../../request/media-url.ts'

export function decodeRequest(body: JsonObject): ChatRequest | UnsupportedField {
  const fields = new Fields(body)
  const model = fields.text('model') ?? ''
  const { system, messages } = decodeMessages(fields)
  const { tools, nativeTools } = decodeTools(fields)
  const toolChoice = decodeToolChoice(fields)
  const output = decodeOutput(fields)
  const reasoning = decodeReasoning(fields)
  const request: ChatRequest = {
    format: 'completions',
    model,
    system,
    messages,
    tools,
    toolChoice: toolChoice.known,
    parallelTools: fields.boolean('parallel_tool_calls') ?? null,
    sampling: decodeSampling(fields),
    reasoning: reasoning.known,
    output: output.known,
    stream: fields.boolean('stream') ?? false,
    user: fields.text('user') ?? null,
    rest: {},
  }
  // Remembers for a provider of this format which of the two names the client used.
  const limit = fields.number('max_completion_tokens')
  const rest = fields.rest()
  if (rest !== undefined) request.rest = rest
  put(request.rest, 'max_completion_tokens', limit)
  addMembers(request.rest, nativeTools, toolChoice.native, output.native, reasoning.native)
  return fields.fault ?? request
}

function decodeSampling(fields: Fields): Sampling {
  // The newer of the two names wins.
  const olderLimit = fields.number('max_tokens')
  const sampling: Sampling = {}
  put(sampling, 'maxTokens', fields.number('max_completion_tokens') ?? olderLimit)
  put(sampling, 'temperature', fields.number('temperature'))
  put(sampling, 'topP', fields.number('top_p'))
  put(sampling, 'topK', fields.number('top_k'))
  put(sampling, 'frequencyPenalty', fields.number('frequency_penalty'))
  put(sampling, 'presencePenalty', fields.number('presence_penalty'))
  put(sampling, 'seed', fields.number('seed'))
  put(sampling, 'stop', fields.texts('stop'))
  return sampling
}

/** A decoded field: the value that the middle knows, and the members that only this format has, under the same name. */
interface DecodedField<T> {
  known: T
  native?: JsonObject
}

function decodeOutput(fields: Fields): DecodedField<OutputFormat> {
  const format = fields.fields('response_format')
  if (format === undefined) return { known: { kind: 'text' } }
  switch (format.text('type')) {
    case undefined:
    case 'text':
      return { known: { kind: 'text' } }
    case 'json_object':
      return { known: { kind: 'json' } }
    case 'json_schema': {
      const wanted = format.fields('json_schema')
      const strict = wanted?.boolean('strict')
      const description = wanted?.text('description')
      const name = wanted?.text('name') ?? 'structured_output'
      const schema = wanted?.object('schema') ?? {}
      return {
        known: {
          kind: 'schema',
          name,
          schema,
          ...(strict !== undefined && { strict }),
          ...(description !== undefined && { description }),
        },
      }
    }
    default:
      return { known: { kind: 'text' }, native: { response_format: format.raw } }
  }
}

function decodeReasoning(fields: Fields): DecodedField<Reasoning | null> {
  const effort = fields.text('reasoning_effort')
  if (effort === undefined) return { known: null }
  return isEffort(effort) ? { known: { effort } } : { known: null, native: { reasoning_effort: effort } }
}

/** Tools of other types exist only in this format: they stay in the rest, under the same name. */
function decodeTools(fields: Fields): { tools: Tool[]; nativeTools?: JsonObject } {
  const tools: Tool[] = []
  const native: JsonObject[] = []
  for (const tool of fields.list('tools')) {
    switch (tool.text('type') ?? 'function') {
      case 'function':
        tools.push(decodeFunction(tool))
        break
      case 'custom':
        tools.push(decodeCustom(tool))
        break
      default:
        native.push(tool.raw)
    }
  }
  return native.length === 0 ? { tools } : { tools, nativeTools: { tools: native } }
}

function decodeFunction(tool: Fields): Tool {
  const declared = tool.fields('function')
  if (declared === undefined) tool.fail('function', 'an object')
  const name = declared?.text('name') ?? ''
  const description = declared?.text('description')
  const strict = declared?.boolean('strict')
  return withMarks(
    {
      name,
      ...(description !== undefined && { description }),
      schema: declared?.object('parameters') ?? NO_PARAMETERS,
      ...(strict !== undefined && { strict }),
    },
    tool,
  )
}

function decodeCustom(tool: Fields): Tool {
  const declared = tool.fields('custom')
  const description = declared?.text('description')
  return withMarks(
    {
      name: declared?.text('name') ?? '',
      ...(description !== undefined && { description }),
      schema: INPUT_SCHEMA,
      custom: flatFormat(declared?.object('format') ?? {}),
    },
    tool,
  )
}

function decodeToolChoice(fields: Fields): { known: ToolChoice | null; native?: JsonObject } {
  const choice = fields.take('tool_choice')
  if (choice === undefined) return { known: null }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { known: { kind: choice } }
  if (!isObject(choice)) {
    fields.fail('tool_choice', 'auto, none, required or an object')
    return { known: null }
  }
  const named = choice.type === 'custom' ? choice.custom : choice.type === 'function' ? choice.function : null
  const name = isObject(named) ? named.name : null
  return typeof name === 'string' ? { known: { kind: 'tool', name } } : { known: null, native: { tool_choice: choice } }
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

function decodeMessages(fields: Fields): Pick<ChatRequest, 'system' | 'messages'> {
  const system: TextPart[] = []
  const messages: Message[] = []
  /** Results of parallel calls are separate messages in this format, and one turn in the middle. */
  let results: ToolResultPart[] | null = null
  /** The number of legacy function calls so far. Such calls have no ids, so ids are made from their number. */
  let legacyCalls = 0
  if (fields.raw.messages === undefined) fields.fail('messages', 'a list')
  for (const message of fields.list('messages')) {
    const role = message.text('role')
    if (role === 'tool' || role === 'function') {
      const result =
        role === 'tool' ? decodeToolResult(message) : decodeLegacyResult(message, `function_call_${legacyCalls}`)
      if (results === null) messages.push({ role: 'user', parts: (results = []) })
      results.push(result)
      continue
    }
    results = null
    switch (role) {
      case 'system':
      case 'developer': {
        const parts = decodeContent(message).filter((part) => part.type === 'text')
        const rest = message.rest()
        if (messages.length === 0 && rest === undefined) system.push(...parts)
        else messages.push({ role: 'system', parts, ...(rest !== undefined && { rest }) })
        break
      }
      case 'user':
        messages.push(withRest({ role, parts: decodeContent(message) }, message))
        break
      case 'assistant':
        if (isObject(message.raw.function_call)) legacyCalls += 1
        messages.push(withRest({ role, parts: decodeAssistant(message, `function_call_${legacyCalls}`) }, message))
        break
      case undefined:
      default:
        message.fail('role', 'system, developer, user, assistant or tool')
    }
  }
  return { system, messages }
}

function decodeAssistant(message: Fields, legacyId: string): Part[] {
  const parts: Part[] = [...decodeReasoningFields(message), ...decodeContent(message)]
  const refusal = message.text('refusal')
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  return [...parts, ...decodeToolCalls(message, legacyId)]
}

function decodeToolResult(message: Fields): ToolResultPart {
  const { id } = fromClientCallId(message.text('tool_call_id') ?? '')
  const name = message.text('name')
  return withMarks(
    { type: 'toolResult', id, ...(name !== undefined && { name }), parts: resultParts(message), isError: false },
    message,
  )
}

function decodeLegacyResult(message: Fields, id: string): ToolResultPart {
  const name = message.text('name') ?? ''
  return withRest({ type: 'toolResult', id, name, parts: resultParts(message), isError: false }, message)
}

function resultParts(message: Fields): ToolResultPart['parts'] {
  return decodeContent(message).filter(
    (part) => part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native',
  )
}

/** The `content` of a message: a text, a list of parts, or nothing. */
function decodeContent(message: Fields): Part[] {
  return message.content('content').map(decodePart)
}

function decodePart(part: Fields): Part {
  const type = part.text('type')
  switch (type) {
    case 'text':
      return withMarks({ type, text: requiredText(part, 'text') }, part)
    case 'refusal':
      return { type, text: requiredText(part, 'refusal') }
    case 'image_url':
      return decodeImage(part)
    case 'input_audio': {
      const audio = part.fields('input_audio')
      return { type: 'audio', format: audio?.text('format') ?? 'wav', data: audio?.text('data') ?? '' }
    }
    case 'file':
      return decodeFile(part)
    case undefined:
    default:
      return { type: 'native', value: part.raw }
  }
}

function decodeImage(part: Fields): ImagePart {
  // Some clients send the URL alone.
  const image = typeof part.raw.image_url === 'string' ? undefined : part.fields('image_url')
  const url = image === undefined ? part.text('image_url') : image.text('url')
  if (url === undefined) part.fail('image_url', 'an object with the member url')
  const detail = image?.text('detail')
  return withMarks({ type: 'image', source: mediaSourceOf(url ?? ''), ...(detail !== undefined && { detail }) }, part)
}

function decodeFile(part: Fields): FilePart {
  const file = part.fields('file')
  const name = file?.text('filename')
  const id = file?.text('file_id')
  const data = file?.text('file_data')
  if (id === undefined && data === undefined) part.fail('file', 'an object with the member file_id or file_data')
  const source: FilePart['source'] = data === undefined ? { kind: 'id', id: id ?? '' } : fileSource(data, name ?? '')
  return withMarks({ type: 'file', source, ...(name !== undefined && { name }) }, part)
}

/** Some clients send the base64 alone. */
function fileSource(data: string, name: string): FilePart['source'] {
  if (/^data:/i.test(data)) return mediaSourceOf(data)
  return { kind: 'data', mediaType: mediaTypeOfName(name), data }
}

function requiredText(part: Fields, name: string): string {
  return part.text(name) ?? part.fail(name, 'a text') ?? ''
}
