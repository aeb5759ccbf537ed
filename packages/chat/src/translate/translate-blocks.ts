import { isObject } from '@portico/http/json'
import { type BlockFate, blockFates } from './block-fates.ts'
import { documentParts, otherParts, searchResultParts } from './block-text.ts'
import { clientField, lose } from '../request/client-fields.ts'
import { isTextType } from '../request/file-types.ts'
import {
  type ChatRequest,
  type FilePart,
  type JsonObject,
  type Loss,
  type Part,
  type ToolResultPart,
  Unsupported,
} from '../middle.ts'

/**
 * The conversation without blocks that only the client's format knows: they become text, or stay for the trace to list,
 * or the request is refused. No text of a conversation is lost in silence.
 */
export function translateBlocks(request: ChatRequest, losses: Loss[]): ChatRequest | Unsupported {
  const { format } = request
  const fates: Readonly<Record<string, BlockFate>> = blockFates[format as keyof typeof blockFates] ?? {}
  const field = clientField(format, 'content')
  let refused: Unsupported | null = null
  const translate = (part: Part, isResult: boolean): Part[] => {
    switch (part.type) {
      case 'native':
        return native(part, part.value)
      case 'file':
        return filed(part, isResult)
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

  function native(part: Part, value: JsonObject): Part[] {
    const block = wrapped(value)
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
        refused ??= new Unsupported(field, `${type} means nothing to this provider: leave it out`)
        return []
      case undefined:
        refused ??= new Unsupported(field, `blocks of type ${shown(type)} cannot be translated for this provider`)
        return []
    }
  }

  /** Adds the `context` of a document as text, and makes text files in tool results text, as most formats need it. */
  function filed(part: FilePart, isResult: boolean): Part[] {
    const context = part.rest?.context
    const said: Part[] = typeof context === 'string' ? [{ type: 'text', text: context }] : []
    const { source, name } = part
    if (isResult && source.kind === 'data' && isTextType(source.mediaType)) {
      const text = Buffer.from(source.data, 'base64').toString('utf8')
      lose(losses, { what: 'renamed', path: `${field}.content[]`, note: 'a text file became text' })
      return [...said, { type: 'text', text: name === undefined ? text : `${name}:\n${text}` }]
    }
    if (said.length === 0) return [part]
    const { context: _context, ...rest } = part.rest ?? {}
    return [...said, { ...part, rest }]
  }
}

function plainParts(type: string, block: JsonObject): Part[] {
  if (type === 'search_result') return searchResultParts(block)
  return type === 'document' ? documentParts(block) : otherParts(block)
}

/** Unwraps an unknown content part, which the Responses decoder wraps in a message. */
function wrapped(value: JsonObject): JsonObject {
  const [only] = value.type === 'message' && Array.isArray(value.content) ? value.content : []
  return isObject(only) ? only : value
}

function isResultPart(part: Part): part is ToolResultPart['parts'][number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native'
}

/** Returns the client's type name if it is a single word: the error must not repeat other text. */
function shown(type: string): string {
  return /^[\w.-]{1,64}$/.test(type) ? type : '(unknown)'
}
