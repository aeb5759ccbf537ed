import { clientField, lose } from '../../client-fields.ts'
import type { JsonObject, Message, Part, ToolResultPart } from '../../middle.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { encodeContent } from './encode-content.ts'
import type { InputScope } from './input-scope.ts'

export function encodeInput(scope: InputScope): JsonObject[] {
  const { messages } = scope.request
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'toolCall'))
  const customIds = new Set(calls.filter((call) => call.custom).map((call) => call.id))
  return messages.flatMap((message) =>
    message.role === 'assistant' ? encodeAssistant(message.parts, scope) : encodeOthers(message, customIds, scope),
  )
}

/** A user's message, with the results of tools between its parts; instructions inside the conversation. */
function encodeOthers(message: Message, customIds: ReadonlySet<string>, scope: InputScope): JsonObject[] {
  const { role = message.role, ...rest } = (scope.isOwn && message.rest) || {}
  const items: JsonObject[] = []
  let said: Part[] = []
  const close = (): void => {
    const content = encodeParts(said, scope)
    if (content.length > 0) items.push({ type: 'message', role, content, ...rest })
    said = []
  }
  for (const part of message.parts) {
    if (part.type !== 'toolResult' && part.type !== 'native') {
      said.push(part)
      continue
    }
    close()
    if (part.type === 'toolResult') items.push(encodeResult(part, customIds.has(part.id), scope))
    else if (scope.isOwn) items.push(part.value)
  }
  close()
  return items
}

function encodeResult(result: ToolResultPart, isCustom: boolean, scope: InputScope): JsonObject {
  const [first, ...others] = result.parts
  const isPlain = others.length === 0 && (first === undefined || (first.type === 'text' && first.rest === undefined))
  const text = first?.type === 'text' ? first.text : ''
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: scope.idOf(result.id),
    output: isPlain ? text : encodeParts(result.parts, scope),
    // There is no other word for a call that failed.
    ...(result.isError && { status: 'incomplete' }),
    ...(scope.isOwn && result.rest),
  }
}

function encodeParts(parts: readonly Part[], scope: InputScope): JsonObject[] {
  const { request, losses } = scope
  const contents: JsonObject[] = []
  for (const part of parts) {
    const content = encodeContent(part, scope)
    if (content !== null) contents.push(content)
    else if (part.type !== 'native') {
      lose(losses, { what: 'dropped', path: clientField(request.format, 'content'), note: `${part.type} of the user` })
    }
  }
  return contents
}
