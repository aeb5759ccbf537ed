import { addMembers, Fields, withMarks } from '../../request/fields.ts'
import { put } from '@portico/http/json'
import type {
  ChatRequest,
  JsonObject,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  UnsupportedField,
} from '../../middle.ts'
import { decodeMessages, decodeSystem } from './decode-messages.ts'
import { isEffort } from '../../request/effort.ts'

export function decodeRequest(body: JsonObject): ChatRequest | UnsupportedField {
  const fields = new Fields(body)
  const model = fields.text('model') ?? ''
  const system = decodeSystem(fields)
  const messages = decodeMessages(fields)
  const { tools, nativeTools } = decodeTools(fields)
  const { toolChoice, parallelTools, nativeChoice } = decodeToolChoice(fields)
  const config = fields.fields('output_config')
  const output = decodeOutput(fields, config)
  const reasoning = decodeReasoning(fields, config)
  const metadata = fields.fields('metadata')
  const user = metadata?.text('user_id') ?? null
  const request: ChatRequest = {
    format: 'messages',
    model,
    system,
    messages,
    tools,
    toolChoice,
    parallelTools,
    sampling: decodeSampling(fields),
    reasoning,
    output,
    stream: fields.boolean('stream') ?? false,
    user,
    rest: {},
  }
  const restOfConfig = config?.rest()
  const restOfMetadata = metadata?.rest()
  const rest = fields.rest()
  if (rest !== undefined) request.rest = rest
  addMembers(request.rest, nativeTools, nativeChoice)
  put(request.rest, 'output_config', restOfConfig)
  put(request.rest, 'metadata', restOfMetadata)
  return fields.fault ?? request
}

function decodeSampling(fields: Fields): Sampling {
  const sampling: Sampling = {}
  put(sampling, 'maxTokens', fields.number('max_tokens'))
  put(sampling, 'temperature', fields.number('temperature'))
  put(sampling, 'topP', fields.number('top_p'))
  put(sampling, 'topK', fields.number('top_k'))
  put(sampling, 'stop', fields.texts('stop_sequences'))
  return sampling
}

/** `output_format` is the name of old. */
function decodeOutput(fields: Fields, config: Fields | undefined): OutputFormat {
  const older = fields.fields('output_format')
  const format = config?.fields('format') ?? older
  if (format === undefined) return { kind: 'text' }
  if (format.text('type') !== 'json_schema') format.fail('type', 'json_schema')
  return { kind: 'schema', name: 'structured_output', schema: format.object('schema') ?? {} }
}

/** `thinking`, and how much of everything (`output_config.effort`). */
function decodeReasoning(fields: Fields, config: Fields | undefined): Reasoning | null {
  const thinking = fields.fields('thinking')
  const word = config?.text('effort')
  if (thinking === undefined && word === undefined) return null
  const effort = word !== undefined && isEffort(word) ? word : undefined
  const reasoning: Reasoning = {
    rest: { ...(thinking !== undefined && { thinking: thinking.raw }), ...(word !== undefined && { effort: word }) },
  }
  const type = thinking?.text('type')
  if (type === 'disabled') return { effort: 'none', ...reasoning }
  if (type === 'enabled') {
    const budget = thinking?.number('budget_tokens')
    if (budget !== undefined) reasoning.budget = budget
  }
  if (effort !== undefined) reasoning.effort = effort
  else if (type === 'adaptive') reasoning.effort = 'high'
  const display = thinking?.text('display')
  if (display !== undefined) reasoning.include = display !== 'omitted'
  return reasoning
}

/** Tools that the provider runs, or knows by heart, are only its own: they stay in the rest, under the same name. */
function decodeTools(fields: Fields): { tools: Tool[]; nativeTools?: JsonObject } {
  const tools: Tool[] = []
  const native: JsonObject[] = []
  for (const tool of fields.list('tools')) {
    const type = tool.text('type')
    if (type === undefined || type === 'custom') tools.push(decodeTool(tool))
    else native.push(tool.raw)
  }
  return native.length === 0 ? { tools } : { tools, nativeTools: { tools: native } }
}

function decodeTool(tool: Fields): Tool {
  const name = tool.text('name') ?? ''
  const description = tool.text('description')
  const strict = tool.boolean('strict')
  return withMarks(
    {
      name,
      ...(description !== undefined && { description }),
      schema: tool.object('input_schema') ?? { type: 'object' },
      ...(strict !== undefined && { strict }),
    },
    tool,
  )
}

interface Choice extends Pick<ChatRequest, 'toolChoice' | 'parallelTools'> {
  nativeChoice?: JsonObject
}

function decodeToolChoice(fields: Fields): Choice {
  const choice = fields.fields('tool_choice')
  if (choice === undefined) return { toolChoice: null, parallelTools: null }
  const disabled = choice.boolean('disable_parallel_tool_use')
  const parallelTools = disabled === undefined ? null : !disabled
  switch (choice.text('type')) {
    case 'auto':
      return { toolChoice: { kind: 'auto' }, parallelTools }
    case 'any':
      return { toolChoice: { kind: 'required' }, parallelTools }
    case 'none':
      return { toolChoice: { kind: 'none' }, parallelTools }
    case 'tool':
      return { toolChoice: { kind: 'tool', name: choice.text('name') ?? '' }, parallelTools }
    case undefined:
    default:
      return { toolChoice: null, parallelTools: null, nativeChoice: { tool_choice: choice.raw } }
  }
}
