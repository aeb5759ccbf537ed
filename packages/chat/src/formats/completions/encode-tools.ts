import { clientField, lose } from '../../request/carry-over.ts'
import type { ChatRequest, Json, JsonObject, Tool, ToolChoice } from '../../middle.ts'
import { describeFormat, nestedFormat } from '../../tools/custom-tools.ts'
import { type EncodeRules, cacheMark } from './encode-content.ts'

/** `native`: tools that only this format knows. */
export function addTools(encoded: JsonObject, request: ChatRequest, rules: EncodeRules, native: Json[]): void {
  const { tools, toolChoice, parallelTools } = request
  if (tools.length === 0 && native.length === 0) return
  const saysParallel = parallelTools !== null && !rules.quirks.has('noParallelTools')
  if (parallelTools === false && !saysParallel) {
    lose(rules.losses, { what: 'dropped', path: clientField(rules.format, 'parallelTools') })
  }
  encoded.tools = [...tools.map((tool) => encodeTool(tool, rules)), ...native]
  if (toolChoice !== null) encoded.tool_choice = encodeChoice(toolChoice, tools, rules)
  if (saysParallel) encoded.parallel_tool_calls = parallelTools
}

export function takesFreeText({ isOwn, quirks }: EncodeRules): boolean {
  return isOwn || quirks.has('customTools')
}

function encodeTool(tool: Tool, rules: EncodeRules): JsonObject {
  const marks = { ...(rules.isOwn && tool.rest), ...cacheMark(tool, rules) }
  const name = rules.names.get(tool.name) ?? tool.name
  return tool.custom !== undefined && takesFreeText(rules)
    ? { type: 'custom', custom: encodeCustom(tool, name, tool.custom), ...marks }
    : { type: 'function', function: encodeFunction(tool, name, rules), ...marks }
}

function encodeCustom(tool: Tool, name: string, format: JsonObject): JsonObject {
  return {
    name,
    ...(tool.description !== undefined && { description: tool.description }),
    ...(Object.keys(format).length > 0 && { format: nestedFormat(format) }),
  }
}

function encodeFunction(tool: Tool, name: string, { format, quirks, losses }: EncodeRules): JsonObject {
  if (tool.custom?.type === 'grammar') {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'toolFormat'),
      note: 'moved into the description of the tool',
    })
  }
  const keepsStrict = tool.strict !== undefined && !quirks.has('noStrict')
  if (tool.strict === true && !keepsStrict) lose(losses, { what: 'dropped', path: clientField(format, 'strict') })
  const description = describeFormat(tool.description, tool.custom ?? {})
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: tool.schema,
    ...(keepsStrict && { strict: tool.strict }),
  }
}

function encodeChoice(choice: ToolChoice, tools: readonly Tool[], rules: EncodeRules): Json {
  if (choice.kind !== 'tool') return choice.kind
  const name = rules.names.get(choice.name) ?? choice.name
  const isCustom = takesFreeText(rules) && tools.some((tool) => tool.name === choice.name && tool.custom !== undefined)
  return isCustom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
}
