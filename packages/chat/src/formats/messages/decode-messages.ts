import { fromClientCallId } from '../../tools/call-ids.ts'
import { type Fields, withMarks, withRest } from '../../request/fields.ts'
import { knownMediaType } from '../../request/media-url.ts'
import type { FilePart, ImagePart, MediaSource, Message, Part, TextPart, ToolResultPart } from '../../middle.ts'
import { fromClientOf, splitItemId } from '../../tools/provenance.ts'

export function decodeSystem(fields: Fields): TextPart[] {
  return fields.content('system').map((block) => {
    if (block.text('type') !== 'text') block.fail('type', 'text')
    return decodeText(block)
  })
}

export function decodeMessages(fields: Fields): Message[] {
  if (fields.raw.messages === undefined) fields.fail('messages', 'a list')
  return fields.list('messages').flatMap((message): Message[] => {
    const role = message.text('role')
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      message.fail('role', 'user, assistant or system')
      return []
    }
    const parts = joinSections(message.content('content').map(decodeBlock))
    return [withRest({ role, parts }, message)]
  })
}

/** Gives unsigned thoughts the id of the encrypted thought after them: clients get one reasoning item as both. */
function joinSections(parts: Part[]): Part[] {
  let id: string | undefined
  for (const part of parts.toReversed()) {
    if (part.type !== 'reasoning' || part.signature !== undefined) id = undefined
    else if (part.opaque !== undefined) id = part.id
    else if (id !== undefined) part.id = id
  }
  return parts
}

function decodeBlock(block: Fields): Part {
  const type = block.text('type')
  switch (type) {
    case 'text':
      return decodeText(block)
    case 'image':
      return decodeImage(block)
    case 'document':
      return decodeDocument(block)
    case 'tool_use': {
      const signed = fromClientCallId(block.text('id') ?? '')
      const name = block.text('name') ?? ''
      const input = block.take('input') ?? {}
      return withMarks({ type: 'toolCall', ...signed, name, arguments: JSON.stringify(input) }, block)
    }
    case 'tool_result':
      return decodeToolResult(block)
    case 'thinking': {
      const signature = block.text('signature')
      const text = block.text('thinking') ?? ''
      return { type: 'reasoning', text, ...(signature && { signature: fromClientOf('anthropic', signature) }) }
    }
    case 'redacted_thinking': {
      const data = block.text('data') ?? ''
      const opaque = fromClientOf('anthropic', data)
      if (opaque !== data) return { type: 'reasoning', text: '', opaque }
      const { sealed, id } = splitItemId(opaque)
      return { type: 'reasoning', text: '', opaque: sealed, ...(id !== undefined && { id }) }
    }
    case undefined:
      block.fail('type', 'a text')
      return { type: 'native', value: block.raw }
    default:
      return { type: 'native', value: block.raw }
  }
}

function decodeText(block: Fields): TextPart {
  const text = block.text('text') ?? block.fail('text', 'a text') ?? ''
  return withMarks({ type: 'text', text }, block)
}

function decodeImage(block: Fields): ImagePart {
  const source = block.fields('source')
  if (source === undefined) block.fail('source', 'an object')
  return withMarks({ type: 'image', source: decodeSource(source) ?? unknownSource(source) }, block)
}

/** Decodes a document; a document of several blocks exists only in this format. */
function decodeDocument(block: Fields): FilePart | { type: 'native'; value: Fields['raw'] } {
  const source = decodeSource(block.fields('source'))
  if (source === null) return { type: 'native', value: block.raw }
  const name = block.text('title')
  return withMarks({ type: 'file', source, ...(name !== undefined && { name }) }, block)
}

function decodeSource(source: Fields | undefined): MediaSource | null {
  switch (source?.text('type')) {
    case 'base64':
      return {
        kind: 'data',
        mediaType: knownMediaType(source?.text('media_type') ?? ''),
        data: source?.text('data') ?? '',
      }
    case 'text':
      return {
        kind: 'data',
        mediaType: source?.text('media_type') ?? 'text/plain',
        data: Buffer.from(source?.text('data') ?? '').toString('base64'),
      }
    case 'url':
      return { kind: 'url', url: source?.text('url') ?? '' }
    case 'file':
      return { kind: 'id', id: source?.text('file_id') ?? '' }
    case undefined:
    default:
      return null
  }
}

function unknownSource(source: Fields | undefined): MediaSource {
  source?.fail('type', 'base64, url or file')
  return { kind: 'url', url: '' }
}

function decodeToolResult(block: Fields): ToolResultPart {
  const { id } = fromClientCallId(block.text('tool_use_id') ?? '')
  const isError = block.boolean('is_error') ?? false
  const parts = block
    .content('content')
    .map(decodeBlock)
    .filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file' || part.type === 'native')
  return withMarks({ type: 'toolResult', id, parts, isError }, block)
}
