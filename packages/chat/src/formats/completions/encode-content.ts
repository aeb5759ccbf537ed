import { clientField, lose, mediaField } from '../../request/carry-over.ts'
import { fitCallId } from '../../tools/call-ids.ts'
import { textAt } from '@portico/http/json'
import { isTextType } from '../../request/file-types.ts'
import { mediaUrlOf } from '../../request/media-url.ts'
import {
  type FilePart,
  type FormatName,
  type ImagePart,
  type Json,
  type JsonObject,
  type Loss,
  type Part,
  type TextPart,
  UnsupportedField,
} from '../../middle.ts'

/** The rules that all encoders of one request share. */
export interface EncodeRules {
  /** The client's format. */
  format: FormatName
  /** Whether the client speaks this format too, so that its own members are restored. */
  isOwn: boolean
  quirks: ReadonlySet<string>
  /** The provider's tool names by the client's names. */
  names: ReadonlyMap<string, string>
  losses: Loss[]
}

/** Encodes one content part; null for parts that belong elsewhere in the message, or nowhere. */
export function encodePart(part: Part, rules: EncodeRules): JsonObject | UnsupportedField | null {
  switch (part.type) {
    case 'text':
      return encodeText(part, rules)
    case 'image': {
      const image = encodeImage(part, rules)
      return image instanceof UnsupportedField ? image : { ...rest(part, rules), ...image, ...cacheMark(part, rules) }
    }
    case 'file': {
      const file = encodeFile(part, rules)
      return file instanceof UnsupportedField ? file : { ...rest(part, rules), ...file, ...cacheMark(part, rules) }
    }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'native':
      return rules.isOwn ? part.value : null
    case 'toolCall':
    case 'toolResult':
    case 'reasoning':
      return null
  }
}

export function encodeText(part: TextPart, rules: EncodeRules): JsonObject {
  return { ...rest(part, rules), type: 'text', text: part.text, ...cacheMark(part, rules) }
}

function encodeImage(part: ImagePart, rules: EncodeRules): JsonObject | UnsupportedField {
  const { source, detail } = part
  if (source.kind === 'id') {
    return new UnsupportedField(
      mediaField(rules.format, part),
      'this provider cannot read stored images: send the image',
    )
  }
  return { type: 'image_url', image_url: { url: mediaUrlOf(source), ...(detail !== undefined && { detail }) } }
}

function encodeFile(part: FilePart, rules: EncodeRules): JsonObject | UnsupportedField {
  const { source, name } = part
  const path = mediaField(rules.format, part)
  switch (source.kind) {
    case 'url':
      return new UnsupportedField(path, 'this provider reads no files by URL: send the file')
    case 'id':
      if (!rules.isOwn)
        return new UnsupportedField(path, 'this provider cannot read files stored at another: send the file')
      return { type: 'file', file: { file_id: source.id, ...(name !== undefined && { filename: name }) } }
    case 'data':
      if (!rules.isOwn && isTextType(source.mediaType)) {
        lose(rules.losses, { what: 'renamed', path, note: 'a text file became text' })
        const text = Buffer.from(source.data, 'base64').toString('utf8')
        return { type: 'text', text: name === undefined ? text : `${name}:\n${text}` }
      }
      return { type: 'file', file: { filename: name ?? defaultName(source.mediaType), file_data: mediaUrlOf(source) } }
  }
}

/** The file name for a file without a name, which the format requires. */
function defaultName(mediaType: string): string {
  return mediaType === 'application/pdf' ? 'document.pdf' : 'document'
}

function rest(part: { rest?: JsonObject }, { isOwn }: EncodeRules): JsonObject {
  return (isOwn ? part.rest : undefined) ?? {}
}

export function cacheMark(
  { cache }: { cache?: JsonObject },
  { isOwn, quirks, format, losses }: EncodeRules,
): JsonObject {
  if (cache === undefined) return {}
  if (isOwn || quirks.has('cacheControl')) return { cache_control: cache }
  if (quirks.has('cacheBreakpoints')) return { prompt_cache_breakpoint: { mode: 'explicit' } }
  lose(losses, { what: 'dropped', path: clientField(format, 'cache') })
  return {}
}

/** The text when the parts are a single plain text, as in most messages; null otherwise. */
export function onlyText(parts: readonly Part[], { isOwn }: EncodeRules): string | null {
  const [only] = parts
  if (parts.length !== 1 || only?.type !== 'text' || only.cache !== undefined) return null
  return isOwn && only.rest !== undefined ? null : only.text
}

/** The content of text-only messages: a single plain text becomes a string, which every server accepts. */
export function textContent(parts: JsonObject[], { quirks }: EncodeRules): Json {
  if (!quirks.has('stringContent')) return plainOr(parts)
  const texts = parts.filter((part) => part.type === 'text')
  return texts.map((part) => textAt(part, 'text') ?? '').join('\n')
}

export function plainOr(parts: JsonObject[]): Json {
  const [only] = parts
  if (only === undefined) return ''
  const isPlain = parts.length === 1 && only.type === 'text' && Object.keys(only).length === 2
  return isPlain ? (only.text ?? '') : parts
}

/** The call id to send upstream. Clients of this format already use ids that their provider accepts. */
export function upstreamId(id: string, isOwn: boolean): string {
  return isOwn ? id : fitCallId(id, MAX_ID)
}

/** The maximum length of a call id; OpenAI refuses longer ids. */
const MAX_ID = 40
