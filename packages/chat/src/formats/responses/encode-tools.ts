import { objectsAt, withoutAbsent } from '@portico/http/json'
import type { ChatRequest, Json, JsonObject, Tool } from '../../middle.ts'

/** Tools and the choice among them; `nameOf` gives the name that the reader knows a tool by. */
export function encodeTools(request: ChatRequest, nameOf: (name: string) => string): JsonObject {
  const isOwn = request.format === 'responses'
  const native = isOwn ? objectsAt(request.rest, 'tools') : []
  const search = searchTools(request)
  const tools = [...request.tools.map((tool) => encodeTool(tool, nameOf(tool.name), isOwn)), ...native, ...search]
  const choice = encodeToolChoice(request, native, nameOf)
  return { ...(tools.length > 0 && { tools }), ...(choice !== undefined && { tool_choice: choice }) }
}

function searchTools({ webSearch }: ChatRequest): JsonObject[] {
  if (webSearch === undefined) return []
  const { allowedDomains, location } = webSearch
  const filters = allowedDomains === undefined ? undefined : { allowed_domains: allowedDomains }
  return [{ type: 'web_search', ...withoutAbsent({ filters, user_location: location }) }]
}

function encodeTool(tool: Tool, name: string, isOwn: boolean): JsonObject {
  const { description, custom } = tool
  if (custom !== undefined) {
    return {
      type: 'custom',
      name,
      ...(description !== undefined && { description }),
      ...(Object.keys(custom).length > 0 && { format: custom }),
      ...(isOwn && tool.rest),
    }
  }
  // In other formats schemas are not strict by default; in this format they are.
  const strict = tool.strict ?? (isOwn ? undefined : false)
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: tool.schema,
    ...(strict !== undefined && { strict }),
    ...(isOwn && tool.rest),
  }
}

function encodeToolChoice(
  request: ChatRequest,
  native: readonly JsonObject[],
  nameOf: (name: string) => string,
): Json | undefined {
  const { toolChoice, tools } = request
  if (request.format === 'responses' && request.rest.tool_choice !== undefined) return request.rest.tool_choice
  if (toolChoice === null) return undefined
  if (toolChoice.kind === 'tool') return namedTool(request, toolChoice.name, nameOf)
  // Client tools are among the native tools only when the client's tool choice excludes them.
  const isLimited = native.some(({ type }) => type === 'function' || type === 'custom')
  if (!isLimited || toolChoice.kind === 'none') return toolChoice.kind
  return {
    type: 'allowed_tools',
    mode: toolChoice.kind,
    tools: tools.map((tool) => namedTool(request, tool.name, nameOf)),
  }
}

function namedTool(request: ChatRequest, name: string, nameOf: (name: string) => string): JsonObject {
  const isCustom = request.tools.some((tool) => tool.name === name && tool.custom !== undefined)
  return { type: isCustom ? 'custom' : 'function', name: nameOf(name) }
}
