import { isObject, objectAt, objectsAt, textAt, withoutAbsent } from '@portico/http/json'
import type { UpstreamFormat } from '../format.ts'
import { type BlockFate, blockFates } from './block-fates.ts'
import { documentParts, otherParts, searchResultParts } from './block-text.ts'
import { clientField, lose } from '../request/carry-over.ts'
import { isTextType } from '../request/file-types.ts'
import {
  type ChatRequest,
  type FilePart,
  type JsonObject,
  type Loss,
  type Part,
  type ToolResultPart,
  UnsupportedField,
  type FormatName,
  type Json,
  type Tool,
  type ToolChoice,
} from '../middle.ts'

/**
 * The client's own format if the provider accepts it, so that bytes can pass unchanged; otherwise the provider's best
 * format.
 */
export function pickFormat(client: FormatName, offered: readonly [FormatName, ...FormatName[]]): FormatName {
  return offered.includes(client) ? client : offered[0]
}

/**
 * The same format, extended to requests of other formats: parts that only those formats have are first converted to
 * common parts.
 */
export function translating(format: UpstreamFormat): UpstreamFormat {
  return {
    ...format,
    encodeRequest(request, target, losses) {
      if (request.format === format.name) return format.encodeRequest(request, target, losses)
      const plain = translateBlocks(translateTools(request, format.name), losses)
      return plain instanceof UnsupportedField ? plain : format.encodeRequest(plain, target, losses)
    },
  }
}

/**
 * The conversation without blocks that only the client's format knows. Such a block becomes text, or stays for the
 * encoder to report as a loss, or fails the request. No text of a conversation is dropped without a report.
 */
function translateBlocks(request: ChatRequest, losses: Loss[]): ChatRequest | UnsupportedField {
  const { format } = request
  const fates: Readonly<Record<string, BlockFate>> = blockFates[format as keyof typeof blockFates] ?? {}
  const field = clientField(format, 'content')
  let refused: UnsupportedField | null = null
  const translate = (part: Part, isResult: boolean): Part[] => {
    switch (part.type) {
      case 'native':
        return translateNative(part, part.value)
      case 'file':
        return translateFile(part, isResult)
      case 'toolResult':
        return [{ ...part, parts: part.parts.flatMap((inner) => translate(inner, true)).filter(isResultPart) }]
      case 'text':
      case 'image':
      case 'audio':
      case 'toolCall':
      case 'reasoning':
      case 'refusal':
        return [part]
    }
  }
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.flatMap((part) => translate(part, false)),
  }))
  return refused ?? { ...request, messages }

  function translateNative(part: Part, value: JsonObject): Part[] {
    const block = unwrapped(value)
    const type = typeof block.type === 'string' ? block.type : ''
    const fate = Object.hasOwn(fates, type) ? fates[type] : undefined
    switch (fate) {
      case 'lossy':
        return [part]
      case 'carried': {
        const parts = plainParts(type, block)
        if (parts.length > 0) lose(losses, { what: 'renamed', path: field, note: `${type} became text` })
        return parts
      }
      case 'refused':
        // `carryRest` refuses a reference by its id.
        if (type === 'item_reference') return [part]
        refused ??= new UnsupportedField(field, `${type} is not supported by this provider: leave it out`)
        return []
      case undefined:
        refused ??= new UnsupportedField(
          field,
          `blocks of type ${printableType(type)} cannot be translated for this provider`,
        )
        return []
    }
  }

  /** Adds the `context` of a document as text, and makes text files in tool results text, as most formats need it. */
  function translateFile(part: FilePart, isResult: boolean): Part[] {
    const context = part.rest?.context
    const contextParts: Part[] = typeof context === 'string' ? [{ type: 'text', text: context }] : []
    const { source, name } = part
    if (isResult && source.kind === 'data' && isTextType(source.mediaType)) {
      const text = Buffer.from(source.data, 'base64').toString('utf8')
      lose(losses, { what: 'renamed', path: `${field}.content[]`, note: 'a text file became text' })
      return [...contextParts, { type: 'text', text: name === undefined ? text : `${name}:\n${text}` }]
    }
    if (contextParts.length === 0) return [part]
    const { context: _context, ...rest } = part.rest ?? {}
    return [...contextParts, { ...part, rest }]
  }
}

function plainParts(type: string, block: JsonObject): Part[] {
  if (type === 'search_result') return searchResultParts(block)
  return type === 'document' ? documentParts(block) : otherParts(block)
}

/** Unwraps an unknown content part, which the Responses decoder wraps in a message. */
function unwrapped(value: JsonObject): JsonObject {
  const [only] = value.type === 'message' && Array.isArray(value.content) ? value.content : []
  return isObject(only) ? only : value
}

function isResultPart(part: Part): part is ToolResultPart['parts'][number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native'
}

/** The client's type name if it is a single word: the error must not repeat other text. */
function printableType(type: string): string {
  return /^[\w.-]{1,64}$/.test(type) ? type : '(unknown)'
}

/**
 * Converts the members about tools that other formats do not have: web search, the legacy `functions`, and
 * `allowed_tools`.
 */
function translateTools(request: ChatRequest, format: FormatName): ChatRequest {
  const searching = SEARCHING.has(format) ? withWebSearch(request) : request
  return request.format === 'completions' ? withAllowedTools(withFunctions(searching)) : searching
}

/** Formats whose providers search the web themselves. */
const SEARCHING: ReadonlySet<FormatName> = new Set(['gemini', 'messages', 'responses'])

/** Converts the client's web search to `webSearch`, because every vendor has its own search tool. */
function withWebSearch(request: ChatRequest): ChatRequest {
  const { tools, web_search_options: options, ...rest } = request.rest
  const native = Array.isArray(tools) ? tools.filter(isObject) : []
  const search =
    native.find(({ type }) => typeof type === 'string' && /^web_search/.test(type)) ?? options ?? googleSearch(native)
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

/** A tool of a Gemini client that only searches. */
function googleSearch(native: readonly JsonObject[]): JsonObject | undefined {
  return native.find((tool) => Object.keys(tool).every((name) => GOOGLE_SEARCHES.has(name)))
}

const GOOGLE_SEARCHES: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval', 'enterpriseWebSearch'])

/** Flattens a location, which Chat Completions nests. */
function flatLocation(location: Json): Json {
  const { approximate, ...others } = isObject(location) ? location : {}
  return isObject(approximate) ? { ...others, ...approximate } : location
}

/** Whether the client declares the legacy `functions`, and so reads `function_call` instead of `tool_calls`. */
export function wantsFunctionCall({ format, rest }: ChatRequest): boolean {
  return format === 'completions' && Array.isArray(rest.functions)
}

function withFunctions(request: ChatRequest): ChatRequest {
  const { functions, function_call, ...rest } = request.rest
  if (!Array.isArray(functions) || !functions.every(isObject)) return request
  const choice = function_call === undefined || function_call === null ? null : legacyChoice(function_call)
  if (choice === undefined) return request
  const tools = [...request.tools, ...functions.map(legacyTool)]
  return { ...request, tools, toolChoice: choice ?? request.toolChoice, parallelTools: false, rest }
}

function legacyTool(declared: JsonObject): Tool {
  const description = textAt(declared, 'description')
  const { parameters } = declared
  const schema = isObject(parameters) ? parameters : { type: 'object', properties: {} }
  return { name: textAt(declared, 'name') ?? '', schema, ...(description !== undefined && { description }) }
}

/** The tool choice in a legacy `function_call`; undefined when the value is not a valid choice. */
function legacyChoice(value: Json): ToolChoice | undefined {
  if (value === 'none' || value === 'auto') return { kind: value }
  const name = isObject(value) ? textAt(value, 'name') : undefined
  return name === undefined ? undefined : { kind: 'tool', name }
}

/** Keeps only the tools that `allowed_tools` names. */
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
