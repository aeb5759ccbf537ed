import { clientField, lose } from '../../client-fields.ts'
import type { ChatRequest, Json, JsonObject, Tool } from '../../middle.ts'
import { describeFormat } from '../responses/custom-tools.ts'
import type { ContentRules } from './encode-content.ts'
import { cacheMark } from './encode-content.ts'

export function encodeTools(request: ChatRequest, rules: ContentRules, native: Json[]): JsonObject {
  if (request.tools.length === 0 && native.length === 0) return {}
  const choice = encodeChoice(request, rules)
  return {
    tools: [...request.tools.map((tool) => encodeTool(tool, rules)), ...native],
    ...(choice !== null && { tool_choice: choice }),
  }
}

function encodeTool(tool: Tool, rules: ContentRules): JsonObject {
  const { isOwn, quirks, names, format, losses } = rules
  const keepsStrict = tool.strict !== undefined && (isOwn || quirks.has('strictTools'))
  if (tool.strict === true && !keepsStrict) lose(losses, { what: 'dropped', path: clientField(format, 'strict') })
  if (tool.custom?.type === 'grammar') {
    lose(losses, { what: 'renamed', path: clientField(format, 'toolFormat'), note: 'told in the description' })
  }
  const description = describeFormat(tool.description, tool.custom ?? {})
  return {
    ...(isOwn && tool.rest),
    name: names.get(tool.name)!,
    ...(description !== undefined && { description }),
    // A schema that says nothing of its type is refused.
    input_schema: isOwn ? tool.schema : { type: 'object', ...tool.schema },
    ...(keepsStrict && { strict: tool.strict }),
    ...cacheMark(tool, rules),
  }
}

function encodeChoice(request: ChatRequest, { names, losses, isOwn }: ContentRules): JsonObject | null {
  const { toolChoice, parallelTools, format } = request
  // Several calls at once are the default, which only clients of this format spell out.
  const saysParallel = parallelTools === false || (parallelTools === true && isOwn)
  const flag: JsonObject = saysParallel ? { disable_parallel_tool_use: !parallelTools } : {}
  switch (toolChoice?.kind) {
    case undefined:
      return saysParallel ? { type: 'auto', ...flag } : null
    case 'auto':
      return { type: 'auto', ...flag }
    case 'required':
      return { type: 'any', ...flag }
    case 'tool':
      return { type: 'tool', name: names.get(toolChoice.name)!, ...flag }
    case 'none':
      if (parallelTools === false) lose(losses, { what: 'dropped', path: clientField(format, 'parallelTools') })
      return { type: 'none' }
  }
}
