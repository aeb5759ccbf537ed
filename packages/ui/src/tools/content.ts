import { isObject } from '@portico/http/json'
import { textOrEmpty } from '../api/unknown-values.ts'

/** One item of a result, ready to be shown. Its content is untrusted: text stays text. */
export type DisplayContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly source: string; readonly type: string }
  | { readonly kind: 'resource'; readonly uri: string; readonly type: string; readonly text: string | null }
  | { readonly kind: 'link'; readonly uri: string; readonly name: string; readonly description: string }
  | { readonly kind: 'other'; readonly what: string }

export function displayContent(item: unknown): DisplayContent {
  if (!isObject(item)) return { kind: 'other', what: JSON.stringify(item) ?? 'Nothing' }
  const { type, text, data, mimeType, resource } = item
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text }
  if (type === 'image') return imageOf(data, mimeType)
  if (type === 'resource' && isObject(resource)) return resourceOf(resource)
  if (type === 'resource_link')
    return {
      kind: 'link',
      uri: textOrEmpty(item['uri']),
      name: textOrEmpty(item['title'] ?? item['name']),
      description: textOrEmpty(item['description']),
    }
  if (type === 'audio' && typeof data === 'string')
    return { kind: 'other', what: `Audio, ${textOrEmpty(mimeType)}, ${sizeOf(data)} bytes` }
  return { kind: 'other', what: `An item of type ${JSON.stringify(type) ?? 'none'}` }
}

/** Only formats that hold pixels and nothing else: no SVG, which is a document. */
function imageOf(data: unknown, type: unknown): DisplayContent {
  if (typeof data !== 'string' || typeof type !== 'string' || !IMAGES.has(type))
    return { kind: 'other', what: `An image of type ${JSON.stringify(type) ?? 'none'}, which is not shown` }
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) return { kind: 'other', what: 'An image that is not valid Base64' }
  return { kind: 'image', source: `data:${type};base64,${data.replaceAll(/\s/g, '')}`, type }
}

const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function resourceOf(resource: Record<string, unknown>): DisplayContent {
  const { uri, mimeType, text } = resource
  return {
    kind: 'resource',
    uri: textOrEmpty(uri),
    type: textOrEmpty(mimeType),
    text: typeof text === 'string' ? text : null,
  }
}

function sizeOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}
