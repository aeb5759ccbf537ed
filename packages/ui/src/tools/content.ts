/** One item of a result, as it may be shown. Everything in it is somebody else's: text stays text. */
export type ShownContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly source: string; readonly type: string }
  | { readonly kind: 'resource'; readonly uri: string; readonly type: string; readonly text: string | null }
  | { readonly kind: 'link'; readonly uri: string; readonly name: string; readonly description: string }
  | { readonly kind: 'other'; readonly what: string }

export function shownContent(item: unknown): ShownContent {
  if (!isObject(item)) return { kind: 'other', what: JSON.stringify(item) ?? 'nothing' }
  const { type, text, data, mimeType, resource } = item
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text }
  if (type === 'image') return imageOf(data, mimeType)
  if (type === 'resource' && isObject(resource)) return resourceOf(resource)
  if (type === 'resource_link')
    return {
      kind: 'link',
      uri: textOf(item['uri']),
      name: textOf(item['title'] ?? item['name']),
      description: textOf(item['description']),
    }
  if (type === 'audio' && typeof data === 'string')
    return { kind: 'other', what: `audio, ${textOf(mimeType)}, ${sizeOf(data)} bytes` }
  return { kind: 'other', what: `an item of type ${JSON.stringify(type) ?? 'none'}` }
}

/** Only formats that hold pixels and nothing else: no SVG, which is a document. */
function imageOf(data: unknown, type: unknown): ShownContent {
  if (typeof data !== 'string' || typeof type !== 'string' || !IMAGES.has(type))
    return { kind: 'other', what: `an image of type ${JSON.stringify(type) ?? 'none'}, which is not shown` }
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) return { kind: 'other', what: 'an image that is no Base64' }
  return { kind: 'image', source: `data:${type};base64,${data.replaceAll(/\s/g, '')}`, type }
}

const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function resourceOf(resource: Record<string, unknown>): ShownContent {
  const { uri, mimeType, text } = resource
  return {
    kind: 'resource',
    uri: textOf(uri),
    type: textOf(mimeType),
    text: typeof text === 'string' ? text : null,
  }
}

function sizeOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
