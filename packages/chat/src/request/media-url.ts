import type { MediaSource } from '../middle.ts'

type UrlSource = Exclude<MediaSource, { kind: 'id' }>

/**
 * The source for a URL. A `data:` URL contains the bytes themselves; a malformed one is left for the provider to
 * refuse.
 */
export function mediaSourceOf(url: string): UrlSource {
  const comma = url.indexOf(',')
  if (comma === -1 || !/^data:/i.test(url)) return { kind: 'url', url }
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const data = isBase64 ? url.slice(comma + 1) : base64OfEscaped(url.slice(comma + 1))
  return data === null ? { kind: 'url', url } : { kind: 'data', mediaType: knownMediaType(type) || 'text/plain', data }
}

/** The media type in the spelling that providers know; some clients use other names. */
export function knownMediaType(written: string): string {
  const [type = ''] = written.split(';')
  const name = type.trim().toLowerCase()
  return OTHER_NAMES.get(name) ?? name
}

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
])

export function mediaUrlOf(source: UrlSource): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
}

function base64OfEscaped(text: string): string | null {
  try {
    return Buffer.from(decodeURIComponent(text)).toString('base64')
  } catch {
    return null
  }
}
