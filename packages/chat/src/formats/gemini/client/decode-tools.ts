import type { ChatRequest, JsonObject, Tool } from '../../../middle.ts'
import { type Fields, withRest } from '../../../request/fields.ts'
import { toJsonSchema } from './json-schema.ts'
import { objectIn, objectsIn } from './spelling.ts'

interface DecodedTools extends Pick<ChatRequest, 'tools' | 'toolChoice'> {
  rest: JsonObject
}

/** `tools` and `toolConfig`. Tools that Google runs are only its own: they stay in the rest, under the same name. */
export function decodeTools(fields: Fields): DecodedTools {
  const tools: Tool[] = []
  const native: JsonObject[] = []
  for (const tool of objectsIn(fields, 'tools')) {
    tools.push(...objectsIn(tool, 'functionDeclarations').map(decodeTool))
    const others = tool.rest()
    if (others !== undefined) native.push(others)
  }
  const rest: JsonObject = native.length === 0 ? {} : { tools: native }
  const config = objectIn(fields, 'toolConfig')
  const calling = config === undefined ? undefined : objectIn(config, 'functionCallingConfig')
  const chosen = calling === undefined ? { toolChoice: null, tools } : decodeChoice(calling, tools)
  const unread = { toolConfig: config?.rest(), 'toolConfig.functionCallingConfig': calling?.rest() }
  for (const [path, members] of Object.entries(unread)) {
    for (const [name, value] of Object.entries(members ?? {})) rest[`${path}.${name}`] = value
  }
  return { ...chosen, rest }
}

function decodeTool(tool: Fields): Tool {
  const name = tool.text('name') ?? ''
  const description = tool.text('description')
  const openApi = tool.object('parameters')
  const schema = tool.object('parametersJsonSchema') ?? (openApi === undefined ? NO_PARAMETERS : toJsonSchema(openApi))
  return withRest({ name, schema, ...(description !== undefined && { description }) }, tool)
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

/** Several allowed names are all tools that other formats get. */
function decodeChoice(calling: Fields, tools: Tool[]): Pick<DecodedTools, 'tools' | 'toolChoice'> {
  const mode = calling.text('mode')?.toUpperCase()
  const names = calling.texts('allowedFunctionNames') ?? []
  const [only] = names
  const allowed = names.length === 0 ? tools : tools.filter(({ name }) => names.includes(name))
  switch (mode) {
    case 'NONE':
      return { tools, toolChoice: { kind: 'none' } }
    case 'ANY':
      if (names.length === 1 && only !== undefined) return { tools, toolChoice: { kind: 'tool', name: only } }
      return { tools: allowed, toolChoice: { kind: 'required' } }
    case 'AUTO':
      return { tools, toolChoice: { kind: 'auto' } }
    case 'VALIDATED':
      return { tools: allowed, toolChoice: { kind: 'auto' } }
    case undefined:
    case 'MODE_UNSPECIFIED':
      return { tools, toolChoice: null }
    default:
      calling.fail('mode', 'AUTO, ANY, NONE or VALIDATED')
      return { tools, toolChoice: null }
  }
}
