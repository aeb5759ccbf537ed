import { clientField, lose } from '../../request/carry-over.ts'
import type { ChatRequest, JsonObject, Tool } from '../../middle.ts'
import { wordNames } from '../../tools/tool-names.ts'
import { describeFormat } from '../../tools/custom-tools.ts'
import { cachePoint } from './cache-points.ts'
import type { ConverseEncoder } from './encoder.ts'

export const TOOL_NAMES = wordNames(64)

interface ToolConfig {
  tools: JsonObject[]
  choice: JsonObject | null
}

/** Null when the model is to know of no tools. */
export function encodeTools(request: ChatRequest, encoder: ConverseEncoder): ToolConfig | null {
  const { format, messages, toolChoice } = request
  const { losses } = encoder
  const hasHistory = messages.some(({ parts }) =>
    parts.some((part) => part.type === 'toolCall' || part.type === 'toolResult'),
  )
  // There is no word for it, but a model without tools calls none.
  if (toolChoice?.kind === 'none' && !hasHistory) return null
  if (request.tools.length === 0) {
    if (!hasHistory) return null
    lose(losses, {
      what: 'defaulted',
      path: clientField(format, 'tools'),
      note: 'added a placeholder tool, because the conversation contains tool calls',
    })
    return { tools: [PLACEHOLDER], choice: null }
  }
  if (toolChoice?.kind === 'none') {
    lose(losses, { what: 'dropped', path: clientField(format, 'toolChoice'), note: 'tools cannot be switched off' })
  }
  if (request.parallelTools === false) {
    lose(losses, { what: 'dropped', path: clientField(format, 'parallelTools') })
  }
  return {
    tools: request.tools.flatMap((tool) => [encodeTool(tool, encoder), ...cachePoint(tool.cache, encoder)]),
    choice: encodeChoice(request, encoder),
  }
}

/** Converse refuses calls in a history when no tool is declared. */
const PLACEHOLDER: JsonObject = {
  toolSpec: {
    name: 'dummy_do_not_call',
    description: 'Stands for tools that are gone. Never call it.',
    inputSchema: { json: { type: 'object' } },
  },
}

function encodeTool(tool: Tool, { names, format, target, losses }: ConverseEncoder): JsonObject {
  const isStrict = target.quirks.has('strictTools')
  if (tool.strict === true && !isStrict) lose(losses, { what: 'dropped', path: clientField(format, 'strict') })
  if (tool.custom?.type === 'grammar') {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'toolFormat'),
      note: 'moved into the description of the tool',
    })
  }
  const description = describeFormat(tool.description, tool.custom ?? {})
  return {
    toolSpec: {
      name: names.get(tool.name) ?? tool.name,
      // An empty one is refused.
      ...(description !== undefined && description !== '' && { description }),
      inputSchema: { json: { type: 'object', ...tool.schema } },
      ...(tool.strict === true && isStrict && { strict: true }),
    },
  }
}

function encodeChoice({ toolChoice }: ChatRequest, { names }: ConverseEncoder): JsonObject | null {
  switch (toolChoice?.kind) {
    case undefined:
    case 'none':
      return null
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    case 'tool':
      return { tool: { name: names.get(toolChoice.name) ?? toolChoice.name } }
  }
}
