import { clientField, lose } from '../../request/carry-over.ts'
import type { ChatRequest, JsonObject, Tool } from '../../middle.ts'
import type { NameRule } from '../../tools/tool-names.ts'
import { describeFormat } from '../../tools/custom-tools.ts'
import type { GeminiEncoder } from './encoder.ts'
import { normaliseParameters } from './normalise-schema.ts'

export const TOOL_NAMES: NameRule = {
  valid: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/,
  invalid: /[^A-Za-z0-9_.:-]/g,
  maxLength: 64,
}

/** `tools` and `toolConfig`; empty without tools. */
export function encodeTools(request: ChatRequest, encoder: GeminiEncoder): JsonObject {
  const { format, tools } = request
  const { names, budget, losses } = encoder
  const search = encodeSearch(request, encoder)
  if (tools.length === 0) return search.length === 0 ? {} : { tools: search }
  if (request.parallelTools === false) {
    lose(losses, {
      what: 'dropped',
      path: clientField(format, 'parallelTools'),
      note: 'tools may be called in parallel',
    })
  }
  const functionDeclarations = tools.map((tool) => {
    const dropped = new Set<string>()
    const parameters = normaliseParameters({ root: tool.schema, budget, dropped, isOrdered: false })
    reportTool(tool, dropped, encoder)
    const description = describeFormat(tool.description, tool.custom ?? {})
    return {
      name: names.get(tool.name) ?? tool.name,
      ...(description !== undefined && { description }),
      ...(parameters !== null && { parameters }),
    }
  })
  const functionCallingConfig = encodeChoice(request, encoder)
  return {
    tools: [{ functionDeclarations }, ...search],
    ...(functionCallingConfig !== null && { toolConfig: { functionCallingConfig } }),
  }
}

/** Older models search or call functions, not both. */
function encodeSearch({ format, webSearch, tools }: ChatRequest, { isGemini3, losses }: GeminiEncoder): JsonObject[] {
  if (webSearch === undefined) return []
  const path = clientField(format, 'tools')
  if (tools.length > 0 && !isGemini3) {
    lose(losses, { what: 'dropped', path, note: 'web search cannot be combined with functions' })
    return []
  }
  if (webSearch.allowedDomains !== undefined || webSearch.location !== undefined) {
    lose(losses, { what: 'dropped', path, note: 'domains and location of the web search' })
  }
  return [{ googleSearch: {} }]
}

function encodeChoice({ toolChoice }: ChatRequest, { names }: GeminiEncoder): JsonObject | null {
  switch (toolChoice?.kind) {
    case undefined:
      return null
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [names.get(toolChoice.name) ?? toolChoice.name] }
  }
}

function reportTool(tool: Tool, dropped: ReadonlySet<string>, { format, losses }: GeminiEncoder): void {
  if (dropped.size > 0) {
    lose(losses, { what: 'dropped', path: clientField(format, 'toolSchema'), note: [...dropped].toSorted().join(', ') })
  }
  if (tool.strict === true) lose(losses, { what: 'dropped', path: clientField(format, 'strict') })
  if (tool.custom?.type === 'grammar') {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'toolFormat'),
      note: 'moved into the description of the tool',
    })
  }
  if (tool.cache !== undefined) lose(losses, { what: 'dropped', path: clientField(format, 'cache') })
}
