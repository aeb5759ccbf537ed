import { clientField, lose, mediaField } from '../../request/carry-over.ts'
import { isTextType } from '../../request/file-types.ts'
import {
  type FilePart,
  type FormatName,
  type ImagePart,
  type JsonObject,
  type Loss,
  UnsupportedField,
} from '../../middle.ts'

export interface ContentRules {
  format: FormatName
  /** Whether the client speaks this format too, so that its own members are restored. */
  isOwn: boolean
  quirks: ReadonlySet<string>
  /** The provider's tool names by the client's names. */
  names: ReadonlyMap<string, string>
  losses: Loss[]
}

export function encodeImage(part: ImagePart, rules: ContentRules): JsonObject | UnsupportedField {
  const { source, detail } = part
  const { format, losses } = rules
  if (detail !== undefined && detail !== 'auto')
    lose(losses, { what: 'dropped', path: clientField(format, 'imageDetail') })
  const fault = refusal(part, rules)
  if (fault !== null) return fault
  switch (source.kind) {
    case 'data':
      if (!rules.isOwn && !IMAGES.has(source.mediaType)) {
        const message = `this provider takes images as png, jpeg, gif or webp, not ${source.mediaType}`
        return new UnsupportedField(mediaField(format, part), message)
      }
      return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.data } }
    case 'url':
      return { type: 'image', source: { type: 'url', url: source.url } }
    case 'id':
      return { type: 'image', source: { type: 'file', file_id: source.id } }
  }
}

export function encodeFile(part: FilePart, rules: ContentRules): JsonObject | UnsupportedField {
  const fault = refusal(part, rules)
  if (fault !== null) return fault
  const { source, name } = part
  const { format, isOwn, losses } = rules
  const path = clientField(format, 'file')
  const document = (source: JsonObject): JsonObject => ({
    type: 'document',
    source,
    ...(name !== undefined && { title: name }),
  })
  switch (source.kind) {
    case 'url':
      return document({ type: 'url', url: source.url })
    case 'id':
      return document({ type: 'file', file_id: source.id })
    case 'data':
      if (isTextType(source.mediaType)) {
        if (source.mediaType !== 'text/plain')
          lose(losses, { what: 'renamed', path, note: `${source.mediaType} as plain text` })
        const data = Buffer.from(source.data, 'base64').toString('utf8')
        return document({ type: 'text', media_type: 'text/plain', data })
      }
      if (source.mediaType !== 'application/pdf' && !isOwn) {
        return new UnsupportedField(path, `this provider reads PDF and text, not ${source.mediaType}`)
      }
      return document({ type: 'base64', media_type: source.mediaType, data: source.data })
  }
}

/** The refusal of media that the provider cannot fetch; null when it can. */
function refusal(part: ImagePart | FilePart, { format, isOwn, quirks }: ContentRules): UnsupportedField | null {
  const { kind } = part.source
  const isRefused = kind === 'id' ? !isOwn || quirks.has('bytesOnly') : kind === 'url' && quirks.has('bytesOnly')
  return isRefused ? new UnsupportedField(mediaField(format, part), kind === 'id' ? STORED_ELSEWHERE : NO_URLS) : null
}

const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const NO_URLS = 'this provider takes no remote URLs: send the bytes'
const STORED_ELSEWHERE = 'this provider cannot read files stored at another provider: send the bytes'
