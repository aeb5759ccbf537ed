import { clientField, lose } from '../../request/carry-over.ts'
import { parseExactJson } from '@portico/http/json'
import { fitCallId } from '../../tools/call-ids.ts'
import {
  type JsonObject,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  UnsupportedField,
} from '../../middle.ts'
import { inputOf } from '../messages/tool-input.ts'
import { cachePoint } from './cache-points.ts'
import { encodeDocument, encodeImage } from './encode-media.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import type { ConverseEncoder } from './encoder.ts'

interface ConverseMessage {
  role: 'user' | 'assistant'
  content: JsonObject[]
}

/**
 * Roles must alternate, so adjacent messages of one role become one; empty messages are left out, because Bedrock
 * refuses them.
 */
export function encodeMessages(messages: readonly Message[], encoder: ConverseEncoder): ConverseMessage[] {
  const made: ConverseMessage[] = []
  for (const { role, parts } of messages) {
    const speaker = role === 'assistant' ? 'assistant' : 'user'
    const content = parts.flatMap((part) => encodePart(part, speaker, encoder))
    if (content.length === 0) continue
    const last = made.at(-1)
    if (last?.role === speaker) for (const block of content) last.content.push(block)
    else made.push({ role: speaker, content })
  }
  for (const message of made) {
    if (message.role === 'user') arrange(message, encoder)
  }
  return made
}

/** Puts tool results directly after the calls, and adds a text to documents without one. */
function arrange(message: ConverseMessage, { format, losses }: ConverseEncoder): void {
  const { content } = message
  const isResult = content.map(
    (block, at) => isToolResult(block) || (block.cachePoint !== undefined && isToolResult(content[at - 1])),
  )
  message.content = [...content.filter((_, at) => isResult[at]), ...content.filter((_, at) => !isResult[at])]
  const names = content.flatMap(({ document }) => (isNamed(document) ? [document.name] : []))
  if (names.length === 0 || content.some((block) => block.text !== undefined)) return
  lose(losses, {
    what: 'defaulted',
    path: clientField(format, 'content'),
    note: 'added a text with the names of the documents',
  })
  message.content.push({ text: names.join(', ') })
}

function isToolResult(block: JsonObject | undefined): boolean {
  return block?.toolResult !== undefined
}

function isNamed(document: JsonObject[string] | undefined): document is { name: string } {
  return typeof document === 'object' && document !== null && 'name' in document && typeof document.name === 'string'
}

function encodePart(part: Part, role: ConverseMessage['role'], encoder: ConverseEncoder): JsonObject[] {
  const blocks = encodeBlocks(part, role, encoder)
  if (blocks.length === 0) return []
  const marks = part.type === 'toolResult' ? [part, ...part.parts] : [part]
  const mark = marks.find((marked) => 'cache' in marked && marked.cache !== undefined)
  return mark !== undefined && 'cache' in mark ? [...blocks, ...cachePoint(mark.cache, encoder)] : blocks
}

function encodeBlocks(part: Part, role: ConverseMessage['role'], encoder: ConverseEncoder): JsonObject[] {
  const { format, losses, faults } = encoder
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    case 'reasoning':
      return encodeReasoning(part, encoder)
    case 'toolCall':
      return [encodeCall(part, encoder)]
    case 'toolResult':
      return [encodeResult(part, encoder)]
    case 'image':
    case 'file':
      if (role === 'user')
        return listOf(part.type === 'image' ? encodeImage(part, encoder) : encodeDocument(part, encoder))
      lose(losses, { what: 'dropped', path: clientField(format, part.type), note: 'only user messages may contain it' })
      return []
    case 'audio':
      faults.push(new UnsupportedField(clientField(format, 'audio'), 'this provider takes no audio'))
      return []
    case 'native':
      return []
  }
}

function listOf(block: JsonObject | null): JsonObject[] {
  return block === null ? [] : [block]
}

function encodeCall(part: ToolCallPart, { names, format, losses }: ConverseEncoder): JsonObject {
  const { value, isWrapped } = inputOf(parseExactJson(part.arguments), part.arguments)
  if (isWrapped) {
    const path = clientField(format, 'toolArguments')
    lose(losses, { what: 'renamed', path, note: 'not an object, so it was wrapped in one' })
  }
  if (part.signature !== undefined) lose(losses, { what: 'dropped', path: clientField(format, 'callSignature') })
  return { toolUse: { toolUseId: fitCallId(part.id, MAX_ID), name: names.get(part.name) ?? part.name, input: value } }
}

function encodeResult(part: ToolResultPart, encoder: ConverseEncoder): JsonObject {
  const content = part.parts.flatMap((inner) => encodeBlocks(inner, 'user', encoder))
  // Models without a result status accept results only without it, so only failures have a status.
  const status: JsonObject = part.isError ? { status: 'error' } : {}
  return { toolResult: { toolUseId: fitCallId(part.id, MAX_ID), content, ...status } }
}

const MAX_ID = 64
