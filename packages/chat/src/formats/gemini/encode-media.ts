import { clientField, lose, mediaField } from '../../request/carry-over.ts'
import {
  type AudioPart,
  type FilePart,
  type ImagePart,
  type JsonObject,
  type MediaSource,
  UnsupportedField,
} from '../../middle.ts'
import type { GeminiEncoder } from './encoder.ts'

/** Encodes media as a part of `contents`; returns null and adds a fault when Gemini does not accept the media. */
export function encodeMedia(part: ImagePart | FilePart | AudioPart, encoder: GeminiEncoder): JsonObject | null {
  if (part.type === 'audio') return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
  if (part.type === 'file' && part.name !== undefined) {
    lose(encoder.losses, { what: 'dropped', path: `${clientField(encoder.format, 'file')}.filename` })
  }
  if (part.type === 'image' && part.detail !== undefined && part.detail !== 'auto') {
    lose(encoder.losses, { what: 'dropped', path: clientField(encoder.format, 'imageDetail') })
  }
  const field = mediaField(encoder.format, part)
  const made = (part.type === 'image' ? imageFault(part.source, field) : null) ?? encodeSource(part.source, field)
  if (!(made instanceof UnsupportedField)) return made
  encoder.faults.push(made)
  return null
}

function imageFault(source: MediaSource, field: string): UnsupportedField | null {
  if (source.kind !== 'data' || IMAGES.test(source.mediaType)) return null
  return new UnsupportedField(
    field,
    `this provider takes images as png, jpeg, webp, heic or heif, not ${source.mediaType}`,
  )
}

/** Newer models may take more of the like. */
const IMAGES = /^image\/(?:png|jpeg|webp|heic|heif|gif|avif)$/

/** Bytes are sent in the request; by URL Gemini accepts only files at Google. */
function encodeSource(source: MediaSource, field: string): JsonObject | UnsupportedField {
  switch (source.kind) {
    case 'data':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'id':
      return new UnsupportedField(field, 'a file stored at another provider cannot be sent to this one')
    case 'url':
      return encodeAddress(source, field)
  }
}

function encodeAddress(source: Address, field: string): JsonObject | UnsupportedField {
  if (!AT_GOOGLE.test(source.url)) {
    return new UnsupportedField(
      field,
      'this provider takes no remote URLs: send the bytes as a data URL, or a gs:// URI',
    )
  }
  const mimeType = mediaTypeOf(source)
  if (mimeType !== undefined) return { fileData: { mimeType, fileUri: source.url } }
  return new UnsupportedField(
    field,
    'this provider needs the media type of a URI, and the file name extension does not show it',
  )
}

type Address = Extract<MediaSource, { kind: 'url' }>

/** Cloud storage, and files that the client uploaded to the Gemini API. */
const AT_GOOGLE = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/

function mediaTypeOf({ url, mediaType }: Address): string | undefined {
  return mediaType ?? mediaTypeByExtension.get(url.slice(url.lastIndexOf('.') + 1).toLowerCase())
}

const mediaTypeByExtension: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
])
