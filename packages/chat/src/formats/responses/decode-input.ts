import { fromClientCallId } from '../../tools/call-ids.ts'
import { type Fields, withRest } from '../../request/fields.ts'
import type { JsonObject, Message, Part, TextPart, ToolCallPart, ToolResultPart } from '../../middle.ts'
import { wrapInput } from '../../tools/custom-tools.ts'
import { decodeContent, requiredText } from './decode-content.ts'
import { partsOfReasoningItem } from './reasoning-item.ts'

interface Conversation {
  system: TextPart[]
  messages: Message[]
}

export function decodeInput(body: Fields): Conversation {
  const conversation: Conversation = { system: [], messages: [] }
  const { input } = body.raw
  if (typeof input === 'string') {
    body.take('input')
    conversation.messages.push({ role: 'user', parts: [{ type: 'text', text: input }] })
  } else {
    for (const item of body.list('input')) decodeItem(item, conversation)
  }
  return conversation
}

function decodeItem(item: Fields, conversation: Conversation): void {
  const type = item.text('type') ?? ('role' in item.raw ? 'message' : 'item_reference')
  switch (type) {
    case 'message':
      decodeMessage(item, conversation)
      break
    case 'function_call':
    case 'custom_tool_call':
      addTo(conversation, 'assistant', decodeCall(item, type === 'custom_tool_call'))
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      addTo(conversation, 'user', decodeCallOutput(item))
      break
    case 'reasoning':
      for (const part of partsOfReasoningItem(item.raw)) addTo(conversation, 'assistant', part)
      break
    default:
      addTo(conversation, 'assistant', { type: 'native', value: { ...item.raw, type } })
  }
}

/**
 * Adds a part to the conversation. The items of one turn become one message; a message of the user begins a new
 * message.
 */
function addTo(conversation: Conversation, role: 'user' | 'assistant', part: Part): void {
  const last = conversation.messages.at(-1)
  const isOpen = last?.role === role && (role === 'assistant' || last.parts.every(({ type }) => type === 'toolResult'))
  if (isOpen) last.parts.push(part)
  else conversation.messages.push({ role, parts: [part] })
}

function decodeMessage(item: Fields, conversation: Conversation): void {
  const role = requiredText(item, 'role')
  if (item.raw.content === undefined) item.fail('content', 'a text or a list')
  // A native part is a whole item, so that the part can stand between other items.
  const parts = decodeContent(item.content('content'), (value) => ({
    type: 'native',
    value: { type: 'message', role, content: [value] },
  }))
  switch (role) {
    case 'assistant': {
      const rest = item.rest()
      for (const part of parts) addTo(conversation, role, rest === undefined ? part : withItem(part, rest))
      break
    }
    case 'user':
      conversation.messages.push(withRest<Message>({ role, parts }, item))
      break
    case 'system':
    case 'developer':
      addInstructions(conversation, role, parts)
      break
    default:
      item.fail('role', 'user, assistant, system or developer')
  }
}

/** Keeps the item's own members (`phase`, `id`) with its texts, because the items of a turn become one message. */
function withItem(part: Part, item: JsonObject): Part {
  return part.type === 'text' ? { ...part, rest: { ...part.rest, item } } : part
}

function addInstructions({ system, messages }: Conversation, role: string, parts: Part[]): void {
  const texts = parts.filter((part) => part.type === 'text')
  if (messages.length > 0 || texts.length < parts.length) messages.push({ role: 'system', parts, rest: { role } })
  else system.push(...texts.map((part) => ({ ...part, rest: { ...part.rest, role } })))
}

function decodeCall(item: Fields, isCustom: boolean): ToolCallPart {
  const call: ToolCallPart = {
    type: 'toolCall',
    ...fromClientCallId(requiredText(item, 'call_id')),
    name: requiredText(item, 'name'),
    arguments: isCustom ? wrapInput(requiredText(item, 'input')) : requiredText(item, 'arguments'),
  }
  if (isCustom) call.custom = true
  return withRest(call, item)
}

function decodeCallOutput(item: Fields): ToolResultPart {
  const { id } = fromClientCallId(requiredText(item, 'call_id'))
  if (item.raw.output === undefined) item.fail('output', 'a text or a list')
  const decoded = decodeContent(item.content('output'), (value) => ({ type: 'native', value }))
  const parts = decoded.filter(isResultPart)
  if (parts.length < decoded.length) item.failWith('output', 'must hold only texts, images and files')
  // The format has no other status for a failed call.
  const isError = item.text('status') === 'incomplete'
  return withRest<ToolResultPart>({ type: 'toolResult', id, parts, isError }, item)
}

type ResultPart = ToolResultPart['parts'][number]

function isResultPart(part: Part): part is ResultPart {
  return part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native'
}
