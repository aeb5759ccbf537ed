import { isEffort } from '../../request/effort.ts'
import { Fields, withRest } from '../../request/fields.ts'
import type {
  ChatRequest,
  Json,
  JsonObject,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
  UnsupportedField,
} from '../../middle.ts'
import { decodeInput } from './decode-input.ts'
import { requiredText } from './decode-content.ts'
import { isObject, objectsAt, textAt } from '@portico/http/json'
import { INPUT_SCHEMA } from '../../tools/custom-tools.ts'

export function decodeRequest(raw: JsonObject): ChatRequest | UnsupportedField {
  const body = new Fields(raw)
  const instructions = body.text('instructions')
  const { system, messages } = decodeInput(body)
  const { tools, toolChoice, rest } = decodeTools(body)
  const text = body.fields('text')
  // `safety_identifier` stays in the rest too, because it has more effects at the provider than naming the user.
  const safetyIdentifier = typeof raw.safety_identifier === 'string' ? raw.safety_identifier : null
  const request: ChatRequest = {
    format: 'responses',
    model: body.text('model') ?? '',
    system: instructions === undefined ? system : [{ type: 'text', text: instructions }, ...system],
    messages,
    tools,
    toolChoice,
    parallelTools: body.boolean('parallel_tool_calls') ?? null,
    sampling: decodeSampling(body),
    reasoning: decodeReasoning(body),
    output: decodeOutput(text?.fields('format')),
    stream: body.boolean('stream') ?? false,
    user: body.text('user') ?? safetyIdentifier,
    rest,
  }
  const textRest = text?.rest()
  request.rest = { ...body.rest(), ...rest, ...(textRest !== undefined && { text: textRest }) }
  return body.fault ?? request
}

function decodeSampling(body: Fields): Sampling {
  const maxTokens = body.number('max_output_tokens')
  const temperature = body.number('temperature')
  const topP = body.number('top_p')
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  }
}

function decodeReasoning(body: Fields): Reasoning | null {
  const fields = body.fields('reasoning')
  if (fields === undefined) return null
  const effort = fields.text('effort')
  const summary = fields.text('summary') ?? fields.text('generate_summary')
  return {
    ...(effort !== undefined && isEffort(effort) && { effort }),
    ...(summary !== undefined && { include: true }),
    rest: fields.raw,
  }
}

function decodeOutput(format: Fields | undefined): OutputFormat {
  if (format === undefined) return { kind: 'text' }
  switch (requiredText(format, 'type')) {
    case 'json_object':
      return { kind: 'json' }
    case 'json_schema':
      return decodeSchema(format)
    case 'text':
      return { kind: 'text' }
    default:
      format.fail('type', 'text, json_object or json_schema')
      return { kind: 'text' }
  }
}

function decodeSchema(format: Fields): OutputFormat {
  const strict = format.boolean('strict')
  const description = format.text('description')
  return {
    kind: 'schema',
    name: requiredText(format, 'name'),
    schema: format.object('schema') ?? format.fail('schema', 'an object') ?? {},
    ...(strict !== undefined && { strict }),
    ...(description !== undefined && { description }),
  }
}

/**
 * The decoded tools. `rest` has the members that the middle cannot express: tools that the provider runs, tools that
 * must not be called, and choices among those.
 */
interface DecodedTools extends Pick<ChatRequest, 'tools' | 'toolChoice'> {
  rest: JsonObject
}

function decodeTools(body: Fields): DecodedTools {
  const choice = body.take('tool_choice')
  const allowed = isObject(choice) && choice.type === 'allowed_tools' ? allowedNames(choice) : null
  const tools: Tool[] = []
  const native: JsonObject[] = []
  for (const value of body.list('tools')) {
    const tool = decodeTool(value)
    if (tool === null || (allowed !== null && !allowed.has(tool.name))) native.push(value.raw)
    else tools.push(tool)
  }
  const toolChoice = decodeToolChoice(choice, body)
  const isSaid = choice === undefined || (toolChoice !== null && !namesNative(choice))
  return {
    tools,
    toolChoice,
    rest: { ...(native.length > 0 && { tools: native }), ...(!isSaid && { tool_choice: choice }) },
  }
}

function decodeTool(value: Fields): Tool | null {
  switch (requiredText(value, 'type')) {
    case 'function':
      return decodeFunction(value)
    case 'custom':
      return decodeCustom(value)
    default:
      return null
  }
}

function decodeFunction(value: Fields): Tool {
  const tool: Tool = {
    name: requiredText(value, 'name'),
    schema: value.object('parameters') ?? { type: 'object', properties: {} },
  }
  const description = value.text('description')
  const strict = value.boolean('strict')
  if (description !== undefined) tool.description = description
  if (strict !== undefined) tool.strict = strict
  return withRest(tool, value)
}

function decodeCustom(value: Fields): Tool {
  const custom = value.object('format') ?? {}
  const tool: Tool = { name: requiredText(value, 'name'), schema: INPUT_SCHEMA, custom }
  const description = value.text('description')
  if (description !== undefined) tool.description = description
  return withRest(tool, value)
}

function decodeToolChoice(choice: Json | undefined, body: Fields): ToolChoice | null {
  if (choice === undefined) return null
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice }
  if (!isObject(choice)) return body.fail('tool_choice', 'auto, none, required or an object') ?? null
  if (choice.type === 'allowed_tools') return { kind: choice.mode === 'required' ? 'required' : 'auto' }
  const name = textAt(choice, 'name')
  const isTool = (choice.type === 'function' || choice.type === 'custom') && name !== undefined
  return isTool ? { kind: 'tool', name } : null
}

function allowedNames(choice: JsonObject): Set<string | undefined> {
  return new Set(objectsAt(choice, 'tools').map((tool) => textAt(tool, 'name')))
}

/** Among the allowed tools are some that the provider runs. */
function namesNative(choice: Json): boolean {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return false
  return objectsAt(choice, 'tools').some(({ type }) => type !== 'function' && type !== 'custom')
}
