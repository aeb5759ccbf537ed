import { isObject, objectsAt, textAt } from '@portico/http/json'
import { mediaSourceOf } from '../request/media-url.ts'
import type { ImagePart, Json, JsonObject, TextPart } from '../middle.ts'

/** Blocks that only one format knows, as text that every model reads. */

type PlainPart = TextPart | ImagePart

/** A `search_result` of Messages: its title and source stay with its text. */
export function searchResultParts(block: JsonObject): PlainPart[] {
  const head = [labelled('Search result', block.title), labelled('Source', block.source)]
  return [textPart([...head, '', ...textsOf(block.content)])]
}

/** A `document` of Messages whose source is a text or blocks. */
export function documentParts(block: JsonObject): PlainPart[] {
  const source = isObject(block.source) ? block.source : {}
  const head = [labelled('Document', block.title), labelled('Context', block.context)].filter((line) => line !== '')
  const opening = head.length === 0 ? [] : [textPart(head)]
  if (typeof source.content === 'string') return [textPart([...head, ...(head.length > 0 ? [''] : []), source.content])]
  const parts = objectsAt(source, 'content').flatMap((inner): PlainPart[] => {
    if (inner.type === 'image') return imageParts(inner)
    const text = textAt(inner, 'text')
    return text === undefined ? [] : [textPart([text])]
  })
  return [...opening, ...parts]
}

function imageParts({ source }: JsonObject): PlainPart[] {
  if (!isObject(source)) return []
  const { type, media_type, data, url, file_id } = source
  if (type === 'base64' && typeof data === 'string' && typeof media_type === 'string') {
    return [{ type: 'image', source: { kind: 'data', mediaType: media_type, data } }]
  }
  if (type === 'url' && typeof url === 'string') return [{ type: 'image', source: mediaSourceOf(url) }]
  return [{ type: 'image', source: { kind: 'id', id: typeof file_id === 'string' ? file_id : '' } }]
}

/** Any other block that a model has read, under the name of its type: `bash_code_execution_tool_result`, `mcp_call`. */
export function otherParts(block: JsonObject): PlainPart[] {
  const lines = textsOf(withoutBookkeeping(block))
  return lines.length === 0 ? [] : [textPart([`[${textAt(block, 'type') ?? ''}]`, ...lines])]
}

function withoutBookkeeping(block: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(block).filter(([name]) => !BOOKKEEPING.has(name)))
}

const BOOKKEEPING: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'tool_use_id',
  'container_id',
  'status',
  'caller',
  'cache_control',
  'encrypted_content',
  'encrypted_stdout',
  'signature',
  'media_type',
  'retrieved_at',
  'environment',
])

/** Every text in the value, in order. */
function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return isObject(value) ? Object.values(withoutBookkeeping(value)).flatMap(textsOf) : []
}

function labelled(label: string, value: Json | undefined): string {
  return typeof value === 'string' && value !== '' ? `${label}: ${value}` : ''
}

function textPart(lines: readonly string[]): TextPart {
  return { type: 'text', text: lines.join('\n').trim() }
}
