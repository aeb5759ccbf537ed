import type { Fields } from '../../fields.ts'
import { withMarks } from '../../fields.ts'
import type { ChatRequest, JsonObject, Tool } from '../../middle.ts'

/** Tools that the provider runs, or knows by heart, are only its own: they stay in the rest, under the same name. */
export function decodeTools(fields: Fields): { tools: Tool[]; nativeTools: JsonObject } {
  const tools: Tool[] = []
  const native: JsonObject[] = []
  for (const tool of fields.list('tools')) {
    const type = tool.text('type')
    if (type === undefined || type === 'custom') tools.push(decodeTool(tool))
    else native.push(tool.raw)
  }
  return { tools, nativeTools: native.length === 0 ? {} : { tools: native } }
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

export function decodeToolChoice(fields: Fields): Choice {
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
