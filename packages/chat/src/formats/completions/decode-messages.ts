import { fromClientCallId } from '../../tools/client-call-id.ts'
import { type Fields, withMarks, withRest } from '../../request/fields.ts'
import { isObject } from '@portico/http/json'
import type { ChatRequest, FilePart, ImagePart, Message, Part, TextPart, ToolResultPart } from '../../middle.ts'
import { decodeReasoningFields } from './reasoning-fields.ts'
import { decodeToolCalls } from './tool-calls.ts'
import { mediaTypeOfName } from '../../request/file-types.ts'
import { mediaSourceOf } from '../../request/media-url.ts'

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

/** The `content` of a message: a text, a list of parts, or nothing. */
function decodeContent(message: Fields): Part[] {
  return message.content('content').map(decodePart)
}

function decodePart(part: Fields): Part {
  const type = part.text('type')
  switch (type) {
    case 'text':
      return withMarks({ type, text: requiredText(part, 'text') }, part)
    case 'refusal':
      return { type, text: requiredText(part, 'refusal') }
    case 'image_url':
      return decodeImage(part)
    case 'input_audio': {
      const audio = part.fields('input_audio')
      return { type: 'audio', format: audio?.text('format') ?? 'wav', data: audio?.text('data') ?? '' }
    }
    case 'file':
      return decodeFile(part)
    case undefined:
    default:
      return { type: 'native', value: part.raw }
  }
}

function decodeImage(part: Fields): ImagePart {
  // Some clients send the URL alone.
  const image = typeof part.raw.image_url === 'string' ? undefined : part.fields('image_url')
  const url = image === undefined ? part.text('image_url') : image.text('url')
  if (url === undefined) part.fail('image_url', 'an object with the member url')
  const detail = image?.text('detail')
  return withMarks({ type: 'image', source: mediaSourceOf(url ?? ''), ...(detail !== undefined && { detail }) }, part)
}

function decodeFile(part: Fields): FilePart {
  const file = part.fields('file')
  const name = file?.text('filename')
  const id = file?.text('file_id')
  const data = file?.text('file_data')
  if (id === undefined && data === undefined) part.fail('file', 'an object with the member file_id or file_data')
  const source: FilePart['source'] = data === undefined ? { kind: 'id', id: id ?? '' } : fileSource(data, name ?? '')
  return withMarks({ type: 'file', source, ...(name !== undefined && { name }) }, part)
}

/** Some clients send the base64 alone. */
function fileSource(data: string, name: string): FilePart['source'] {
  if (/^data:/i.test(data)) return mediaSourceOf(data)
  return { kind: 'data', mediaType: mediaTypeOfName(name), data }
}

function requiredText(part: Fields, name: string): string {
  return part.text(name) ?? part.fail(name, 'a text') ?? ''
}
