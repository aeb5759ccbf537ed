import type { Fields } from '../../request/fields.ts'
import { withRest } from '../../request/fields.ts'
import { mediaTypeOfName } from '../../request/file-types.ts'
import { mediaSourceOf } from '../../request/media-url.ts'
import type { FilePart, ImagePart, JsonObject, MediaSource, NativePart, Part, TextPart } from '../../middle.ts'

/** Decodes content parts; `asNative` wraps a part that only this format has. */
export function decodeContent(content: readonly Fields[], asNative: (value: JsonObject) => NativePart): Part[] {
  return content.map((part) => decodePart(part) ?? asNative(part.raw))
}

function decodePart(content: Fields): Part | null {
  switch (requiredText(content, 'type')) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return decodeText(content)
    case 'refusal':
      return { type: 'refusal', text: requiredText(content, 'refusal') }
    case 'input_image':
      return decodeImage(content)
    case 'input_file':
      return decodeFile(content)
    case 'input_audio': {
      const audio = content.fields('input_audio')
      if (audio === undefined) content.fail('input_audio', 'an object')
      else return { type: 'audio', format: requiredText(audio, 'format'), data: requiredText(audio, 'data') }
      return null
    }
    default:
      return null
  }
}

function decodeText(content: Fields): TextPart {
  const text = requiredText(content, 'text')
  const { annotations } = content.raw
  if (Array.isArray(annotations) && annotations.length === 0) content.take('annotations')
  return withRest<TextPart>({ type: 'text', text }, content)
}

function decodeImage(content: Fields): ImagePart {
  const url = content.text('image_url')
  const id = content.text('file_id')
  const detail = content.text('detail')
  if (url === undefined && id === undefined) content.failWith('image_url', 'or file_id must be given')
  const source = url === undefined ? idSource(id) : mediaSourceOf(url)
  return withRest<ImagePart>({ type: 'image', source, ...(detail !== undefined && { detail }) }, content)
}

function decodeFile(content: Fields): FilePart {
  const data = content.text('file_data')
  const url = content.text('file_url')
  const id = content.text('file_id')
  const name = content.text('filename')
  if (data === undefined && url === undefined && id === undefined) {
    content.failWith('file_data', 'or file_url or file_id must be given')
  }
  const given = data === undefined ? url : /^data:/i.test(data) ? data : dataOfUnknownType(data, name)
  const source = given === undefined ? idSource(id) : typeof given === 'string' ? mediaSourceOf(given) : given
  return withRest<FilePart>({ type: 'file', source, ...(name !== undefined && { name }) }, content)
}

function idSource(id = ''): MediaSource {
  return { kind: 'id', id }
}

/** Some clients send the base64 alone. */
function dataOfUnknownType(data: string, name = ''): MediaSource {
  return { kind: 'data', mediaType: mediaTypeOfName(name), data }
}

export function requiredText(fields: Fields, name: string): string {
  return fields.text(name) ?? fields.fail(name, 'a text') ?? ''
}
