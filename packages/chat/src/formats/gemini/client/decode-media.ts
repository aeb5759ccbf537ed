import type { AudioPart, FilePart, ImagePart } from '../../../middle.ts'
import type { Fields } from '../../../request/fields.ts'
import { knownMediaType } from '../../../request/media-url.ts'

type MediaPart = ImagePart | FilePart | AudioPart

/** `inlineData`: bytes in the request. */
export function decodeInlineData(blob: Fields): MediaPart {
  const mediaType = knownMediaType(blob.text('mimeType') ?? '')
  const data = blob.text('data') ?? ''
  const name = blob.text('displayName')
  const audio = /^audio\/(?:x-)?(.+)$/.exec(mediaType)?.[1]
  if (audio !== undefined) return { type: 'audio', format: AUDIO_NAMES.get(audio) ?? audio, data }
  const source = { kind: 'data', mediaType, data } as const
  if (mediaType.startsWith('image/')) return { type: 'image', source }
  return { type: 'file', source, ...(name !== undefined && { name }) }
}

/** `fileData`: a URI. Files at Google are files that other providers cannot read. */
export function decodeFileData(file: Fields): ImagePart | FilePart {
  const uri = file.text('fileUri') ?? file.failWith('fileUri', 'must be a text') ?? ''
  const mediaType = file.text('mimeType')
  const name = file.text('displayName')
  const source = AT_GOOGLE.test(uri)
    ? ({ kind: 'id', id: uri } as const)
    : ({ kind: 'url', url: uri, ...(mediaType !== undefined && { mediaType }) } as const)
  if (mediaType?.startsWith('image/') === true) return { type: 'image', source }
  return { type: 'file', source, ...(name !== undefined && { name }) }
}

const AT_GOOGLE = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/

/** Names of sound formats that other vendors use. */
const AUDIO_NAMES: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['wave', 'wav'],
])
