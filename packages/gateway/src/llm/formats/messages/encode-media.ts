import { clientField, lose } from '../../client-fields.ts'
import type { FilePart, ImagePart, JsonObject } from '../../middle.ts'
import { Unsupported } from '../../middle.ts'
import type { ContentRules } from './encode-content.ts'

export function encodeImage(
  { source, detail }: ImagePart,
  { format, isOwn, losses }: ContentRules,
): JsonObject | Unsupported {
  if (detail !== undefined && detail !== 'auto')
    lose(losses, { what: 'dropped', path: clientField(format, 'imageDetail') })
  switch (source.kind) {
    case 'data':
      return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.data } }
    case 'url':
      return { type: 'image', source: { type: 'url', url: source.url } }
    case 'id':
      if (!isOwn) return new Unsupported(clientField(format, 'image'), STORED_ELSEWHERE)
      return { type: 'image', source: { type: 'file', file_id: source.id } }
  }
}

export function encodeFile(
  { source, name }: FilePart,
  { format, isOwn, losses }: ContentRules,
): JsonObject | Unsupported {
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
      return isOwn ? document({ type: 'file', file_id: source.id }) : new Unsupported(path, STORED_ELSEWHERE)
    case 'data':
      if (isText(source.mediaType)) {
        if (source.mediaType !== 'text/plain')
          lose(losses, { what: 'renamed', path, note: `${source.mediaType} as plain text` })
        const data = Buffer.from(source.data, 'base64').toString('utf8')
        return document({ type: 'text', media_type: 'text/plain', data })
      }
      if (source.mediaType !== 'application/pdf' && !isOwn) {
        return new Unsupported(path, `this provider reads PDF and text, not ${source.mediaType}`)
      }
      return document({ type: 'base64', media_type: source.mediaType, data: source.data })
  }
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json'
}

const STORED_ELSEWHERE = 'this provider cannot read what is stored at another: send it along'
