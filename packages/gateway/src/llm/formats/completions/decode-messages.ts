import { fromClientCallId } from '../../tool-calls/client-call-id.ts'
import type { Fields } from '../../fields.ts'
import { withMarks, withRest } from '../../fields.ts'
import { isObject } from '../../../wire/json.ts'
import type { ChatRequest, Message, Part, TextPart, ToolResultPart } from '../../middle.ts'
import { decodeContent } from './decode-content.ts'
import { decodeReasoningFields } from './reasoning-fields.ts'
import { decodeToolCalls } from './tool-calls.ts'

export function decodeMessages(fields: Fields): Pick<ChatRequest, 'system' | 'messages'> {
  const system: TextPart[] = []
  const messages: Message[] = []
  /** Results of parallel calls come as one message each; together they are one turn. */
  let results: ToolResultPart[] | null = null
  /** Calls of old have no ids, and are answered one by one. */
  let legacyCalls = 0
  if (fields.raw.messages === undefined) fields.fail('messages', 'a list')
  for (const message of fields.list('messages')) {
    const role = message.text('role')
    if (role === 'tool' || role === 'function') {
      const result =
        role === 'tool' ? decodeToolResult(message) : decodeLegacyResult(message, `function_call_${legacyCalls}`)
      if (results === null) messages.push({ role: 'user', parts: (results = []) })
      results.push(result)
      continue
    }
    results = null
    switch (role) {
      case 'system':
      case 'developer': {
        const parts = decodeContent(message).filter((part) => part.type === 'text')
        const rest = message.rest()
        if (messages.length === 0 && rest === undefined) system.push(...parts)
        else messages.push({ role: 'system', parts, ...(rest !== undefined && { rest }) })
        break
      }
      case 'user':
        messages.push(withRest({ role, parts: decodeContent(message) }, message))
        break
      case 'assistant':
        if (isObject(message.raw.function_call)) legacyCalls += 1
        messages.push(withRest({ role, parts: decodeAssistant(message, `function_call_${legacyCalls}`) }, message))
        break
      case undefined:
      default:
        message.fail('role', 'system, developer, user, assistant or tool')
    }
  }
  return { system, messages }
}

function decodeAssistant(message: Fields, legacyId: string): Part[] {
  const parts: Part[] = [...decodeReasoningFields(message), ...decodeContent(message)]
  const refusal = message.text('refusal')
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  return [...parts, ...decodeToolCalls(message, legacyId)]
}

function decodeToolResult(message: Fields): ToolResultPart {
  const { id } = fromClientCallId(message.text('tool_call_id') ?? '')
  const name = message.text('name')
  return withMarks(
    { type: 'toolResult', id, ...(name !== undefined && { name }), parts: resultParts(message), isError: false },
    message,
  )
}

function decodeLegacyResult(message: Fields, id: string): ToolResultPart {
  const name = message.text('name') ?? ''
  return withRest({ type: 'toolResult', id, name, parts: resultParts(message), isError: false }, message)
}

function resultParts(message: Fields): ToolResultPart['parts'] {
  return decodeContent(message).filter(
    (part) => part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native',
  )
}
