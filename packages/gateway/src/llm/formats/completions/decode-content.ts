import type { Fields } from '../../fields.ts'
import { withMarks } from '../../fields.ts'
import { mediaSourceOf } from '../../media-url.ts'
import type { FilePart, ImagePart, Part } from '../../middle.ts'

/** The `content` of a message: a text, a list of parts, or nothing. */
export function decodeContent(message: Fields): Part[] {
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
  return { kind: 'data', mediaType: /\.pdf$/i.test(name) ? 'application/pdf' : 'application/octet-stream', data }
}

function requiredText(part: Fields, name: string): string {
  return part.text(name) ?? part.fail(name, 'a text') ?? ''
}
