import type { Fields } from '../../fields.ts'
import { withRest } from '../../fields.ts'
import { isObject, objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatRequest, Json, JsonObject, Tool, ToolChoice } from '../../middle.ts'
import { requiredText } from './decode-content.ts'
import { INPUT_SCHEMA } from './custom-tools.ts'

/** `rest` gets what the middle cannot say: tools that the provider runs, tools that may not be called, choices among those. */
export interface DecodedTools extends Pick<ChatRequest, 'tools' | 'toolChoice'> {
  rest: JsonObject
}

export function decodeTools(body: Fields): DecodedTools {
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
