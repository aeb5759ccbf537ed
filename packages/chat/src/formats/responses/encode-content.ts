import { clientField, lose } from '../../request/carry-over.ts'
import { mediaUrlOf } from '../../request/media-url.ts'
import {
  type FilePart,
  type ImagePart,
  type JsonObject,
  type MediaSource,
  type Part,
  type TextPart,
  UnsupportedField,
} from '../../middle.ts'
import type { InputScope } from './input-scope.ts'

/** Encodes a content part of a user or a tool; null when this format has no such content. */
export function encodeContent(part: Part, scope: InputScope): JsonObject | null {
  const { request, losses } = scope
  const rest = request.format === 'responses' && 'rest' in part ? part.rest : undefined
  if ('cache' in part && part.cache !== undefined) {
    lose(losses, { what: 'dropped', path: clientField(request.format, 'cache') })
  }
  if ('source' in part) refuseForeignId(part.source, scope)
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text, ...rest }
    case 'image':
      return { ...encodeImage(part), ...rest }
    case 'file':
      return { ...encodeFile(part), ...rest }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
    case 'native':
      return request.format === 'responses' ? part.value : null
    case 'refusal':
    case 'reasoning':
    case 'toolCall':
    case 'toolResult':
      return null
  }
}

/**
 * Refuses file ids of Messages and Gemini clients. Completions and Responses share their vendors, so ids of Completions
 * clients are valid.
 */
function refuseForeignId(source: MediaSource, { request, faults }: InputScope): void {
  if (source.kind !== 'id' || request.format === 'completions' || request.format === 'responses') return
  const message = 'this provider cannot read files stored at another provider: send the bytes'
  faults.push(new UnsupportedField(clientField(request.format, 'fileId'), message))
}

function encodeImage({ source, detail = 'auto' }: ImagePart): JsonObject {
  return source.kind === 'id'
    ? { type: 'input_image', file_id: source.id, detail }
    : { type: 'input_image', image_url: mediaUrlOf(source), detail }
}

function encodeFile({ source, name }: FilePart): JsonObject {
  switch (source.kind) {
    case 'id':
      return { type: 'input_file', file_id: source.id, ...(name !== undefined && { filename: name }) }
    case 'url':
      return { type: 'input_file', file_url: source.url, ...(name !== undefined && { filename: name }) }
    case 'data':
      return { type: 'input_file', filename: name ?? 'file', file_data: mediaUrlOf(source) }
  }
}

/** Encodes a text of the assistant. */
export function encodeOutputText(part: TextPart, isOwn: boolean): JsonObject {
  const { item: _item, ...rest } = (isOwn && part.rest) || {}
  return { type: 'output_text', text: part.text, ...rest }
}
