import { isObject, objectAt, objectsAt, textAt, withoutAbsent } from '@portico/http/json'
import type { ChatRequest, FormatName, Json, JsonObject, Tool, ToolChoice } from '../middle.ts'

/** Functions of old, and choices among some of the tools, in the middle's terms: other formats know neither. */
export function translateTools(request: ChatRequest, format: FormatName): ChatRequest {
  const searching = SEARCHING.has(format) ? withWebSearch(request) : request
  return request.format === 'completions' ? withAllowedTools(withFunctions(searching)) : searching
}

/** Formats whose providers search the web themselves. */
const SEARCHING: ReadonlySet<FormatName> = new Set(['gemini', 'messages', 'responses'])

/** Converts the client's web search to `webSearch`, because every vendor has its own search tool. */
function withWebSearch(request: ChatRequest): ChatRequest {
  const { tools, web_search_options: options, ...rest } = request.rest
  const native = Array.isArray(tools) ? tools.filter(isObject) : []
  const search = native.find(({ type }) => typeof type === 'string' && /^web_search/.test(type)) ?? options
  if (!isObject(search)) return request
  const others = native.filter((tool) => tool !== search)
  const allowedDomains = search.allowed_domains ?? objectAt(search, 'filters').allowed_domains
  const location = search.user_location
  const webSearch = withoutAbsent({
    allowedDomains,
    location: location === undefined ? undefined : flatLocation(location),
  })
  return { ...request, webSearch, rest: { ...rest, ...(others.length > 0 && { tools: others }) } }
}

/** Flattens a location, which Chat Completions nests. */
function flatLocation(location: Json): Json {
  const { approximate, ...others } = isObject(location) ? location : {}
  return isObject(approximate) ? { ...others, ...approximate } : location
}

/** Whether the client reads calls as Completions wrote them before there were tools. */
export function wantsFunctionCall({ format, rest }: ChatRequest): boolean {
  return format === 'completions' && Array.isArray(rest.functions)
}

function withFunctions(request: ChatRequest): ChatRequest {
  const { functions, function_call, ...rest } = request.rest
  if (!Array.isArray(functions) || !functions.every(isObject)) return request
  const choice = function_call === undefined || function_call === null ? null : choiceOf(function_call)
  if (choice === undefined) return request
  const tools = [...request.tools, ...functions.map(toolOf)]
  return { ...request, tools, toolChoice: choice ?? request.toolChoice, parallelTools: false, rest }
}

function toolOf(declared: JsonObject): Tool {
  const description = textAt(declared, 'description')
  const { parameters } = declared
  const schema = isObject(parameters) ? parameters : { type: 'object', properties: {} }
  return { name: textAt(declared, 'name') ?? '', schema, ...(description !== undefined && { description }) }
}

/** The tool choice; undefined when the value is not a valid choice. */
function choiceOf(value: Json): ToolChoice | undefined {
  if (value === 'none' || value === 'auto') return { kind: value }
  const name = isObject(value) ? textAt(value, 'name') : undefined
  return name === undefined ? undefined : { kind: 'tool', name }
}

/** Tools that may not be called are left out. */
function withAllowedTools(request: ChatRequest): ChatRequest {
  const { tool_choice, ...rest } = request.rest
  if (!isObject(tool_choice) || tool_choice.type !== 'allowed_tools') return request
  const { mode } = objectAt(tool_choice, 'allowed_tools')
  const entries = objectsAt(objectAt(tool_choice, 'allowed_tools'), 'tools')
  const names = new Set(entries.map((tool) => textAt(objectAt(tool, textAt(tool, 'type') ?? ''), 'name')))
  if ((mode !== 'auto' && mode !== 'required') || names.has(undefined)) return request
  const tools = request.tools.filter(({ name }) => names.has(name))
  return { ...request, tools, toolChoice: { kind: mode }, rest }
}
