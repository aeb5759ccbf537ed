import type { Fields } from '../../fields.ts'
import { withMarks } from '../../fields.ts'
import type { JsonObject, Tool, ToolChoice } from '../../middle.ts'
import { INPUT_SCHEMA } from '../responses/custom-tools.ts'
import { flatFormat } from './custom-format.ts'

/** Tools of other kinds than these are only the provider's: they stay in the rest, under the same name. */
export function decodeTools(fields: Fields): { tools: Tool[]; nativeTools: JsonObject } {
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
  return { tools, nativeTools: native.length === 0 ? {} : { tools: native } }
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

export function decodeToolChoice(fields: Fields): { known: ToolChoice | null; native?: JsonObject } {
  const choice = fields.take('tool_choice')
  if (choice === undefined) return { known: null }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { known: { kind: choice } }
  if (typeof choice !== 'object' || choice === null || Array.isArray(choice)) {
    fields.fail('tool_choice', 'auto, none, required or an object')
    return { known: null }
  }
  const named = choice.type === 'custom' ? choice.custom : choice.type === 'function' ? choice.function : null
  const name = typeof named === 'object' && named !== null && !Array.isArray(named) ? named.name : null
  return typeof name === 'string' ? { known: { kind: 'tool', name } } : { known: null, native: { tool_choice: choice } }
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }
