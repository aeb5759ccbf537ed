import { isEffort } from '../../request/effort.ts'
import { addMembers, Fields, withMarks } from '../../request/fields.ts'
import { isObject, put } from '@portico/http/json'
import type {
  ChatRequest,
  JsonObject,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
  Unsupported,
} from '../../middle.ts'
import { decodeMessages } from './decode-messages.ts'
import { INPUT_SCHEMA } from '../../tools/custom-tools.ts'
import { flatFormat } from './custom-format.ts'

export function decodeRequest(body: JsonObject): ChatRequest | Unsupported {
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
