import { clientField, lose, mediaField } from '../../request/carry-over.ts'
import { isTextType } from '../../request/file-types.ts'
import { type FilePart, type ImagePart, type JsonObject, type MediaSource, UnsupportedField } from '../../middle.ts'
import type { ConverseEncoder } from './encoder.ts'

/** Encodes an image; returns null and adds a fault when Converse does not accept the image. */
export function encodeImage(part: ImagePart, encoder: ConverseEncoder): JsonObject | null {
  const { format: client, losses } = encoder
  if (part.detail !== undefined && part.detail !== 'auto') {
    lose(losses, { what: 'dropped', path: clientField(client, 'imageDetail') })
  }
  const field = mediaField(client, part)
  const format = imageFormats.get(extensionOf(part.source))
  const source = encodeSource(part.source, field, encoder)
  if (source === null) return null
  if (format !== undefined) return { image: { format, source } }
  encoder.faults.push(
    new UnsupportedField(field, `this provider takes images as png, jpeg, gif or webp${notAs(part.source)}`),
  )
  return null
}

export function encodeDocument(part: FilePart, encoder: ConverseEncoder): JsonObject | null {
  const field = mediaField(encoder.format, part)
  const source = encodeSource(part.source, field, encoder)
  if (source === null) return null
  const format =
    documentFormats.get(extensionOf(part.source)) ??
    documentFormats.get(afterLastDot(part.name ?? '')) ??
    textFormat(part.source)
  if (format !== undefined) return { document: { format, name: documentName(part, encoder), source } }
  const formats = [...new Set(documentFormats.values())].join(', ')
  encoder.faults.push(new UnsupportedField(field, `this provider takes documents as ${formats}${notAs(part.source)}`))
  return null
}

/** JSON, YAML and similar types are sent as plain text. */
function textFormat(source: MediaSource): string | undefined {
  return source.kind === 'data' && isTextType(source.mediaType) ? 'txt' : undefined
}

function encodeSource(source: MediaSource, field: string, { faults }: ConverseEncoder): JsonObject | null {
  if (source.kind === 'data') return { bytes: source.data }
  if (source.kind === 'url' && source.url.startsWith('s3://')) return { s3Location: { uri: source.url } }
  const message =
    source.kind === 'url'
      ? 'this provider takes no remote URLs: send the bytes as a data URL, or an s3:// URI'
      : 'a file stored at another provider cannot be sent to this one'
  faults.push(new UnsupportedField(field, message))
  return null
}

function notAs(source: MediaSource): string {
  return source.kind === 'data' ? `, not ${source.mediaType}` : ''
}

/** The key into the tables below: the media type, or the extension of the URL. */
function extensionOf(source: MediaSource): string {
  if (source.kind === 'id') return ''
  return (source.mediaType ?? afterLastDot(source.kind === 'url' ? source.url : '')).toLowerCase()
}

function afterLastDot(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

/** The document name: letters, digits, single spaces, hyphens and brackets, unique within the request. */
function documentName({ name = '' }: FilePart, { documents }: ConverseEncoder): string {
  const bare = name.replace(/\.[^.]*$/, '')
  const clean = bare
    .replaceAll(/[^A-Za-z0-9\s()[\]-]/g, '-')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
  const used = clean === '' ? 'document' : clean
  const times = (documents.get(used) ?? 0) + 1
  documents.set(used, times)
  return times === 1 ? used : `${used} [${times}]`
}

/** In characters; leaves room for the number of a duplicate. */
const MAX_NAME_LENGTH = 180

const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['png', 'png'],
  ['jpeg', 'jpeg'],
  ['jpg', 'jpeg'],
  ['gif', 'gif'],
  ['webp', 'webp'],
])

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ...['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'].map((name): [string, string] => [name, name]),
])
