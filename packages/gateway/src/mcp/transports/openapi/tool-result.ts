import { isUtf8 } from 'node:buffer'
import { isObject, type JsonObject, parseExactJson } from '@portico/http/json'

interface ApiAnswer {
  status: number
  /** The content type; empty without one. */
  contentType: string
  body: Buffer
}

/** Converts the response of an API to a tool result. A status other than 2xx becomes a tool error. */
export function toolResult(answer: ApiAnswer): JsonObject {
  const { status } = answer
  const { structured, content } = read(answer)
  if (status >= 200 && status <= 299) return { content: [content], structuredContent: structured }
  const failed = { type: 'text', text: `The API responded with HTTP ${status}.` }
  return { content: [failed, content], structuredContent: structured, isError: true }
}

interface ReadAnswer {
  structured: JsonObject
  content: JsonObject
}

function read({ status, contentType, body }: ApiAnswer): ReadAnswer {
  const [mediaType = ''] = contentType.toLowerCase().split(';', 1)
  const [, kind] = /^(image|audio)\/[a-z0-9.+-]+$/.exec(mediaType.trim()) ?? []
  if (kind !== undefined && !mediaType.includes('svg')) {
    const { structured } = plain(status, `${body.length} bytes of ${mediaType.trim()}`)
    return { structured, content: { type: kind, data: body.toString('base64'), mimeType: mediaType.trim() } }
  }
  const text = textOf(contentType, body)
  if (text === null) return plain(status, `${body.length} bytes of binary data`)
  const value = parseExactJson(text)
  if (value === undefined) return plain(status, text)
  // A number beyond double precision is represented by an object here.
  if (isObject(value) && !JSON.isRawJSON(value)) return { structured: value, content: { type: 'text', text } }
  const structured = { data: value }
  return { structured, content: { type: 'text', text: JSON.stringify(structured) } }
}

/** Decodes UTF-8 text; null for other bytes. */
function textOf(contentType: string, body: Buffer): string | null {
  if (isUtf8(body)) return body.toString('utf8')
  const [, charset] = /;\s*charset="?([a-z0-9_:.-]+)/i.exec(contentType) ?? []
  if (charset === undefined) return null
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch {
    return null
  }
}

function plain(status: number, message: string): ReadAnswer {
  const structured = { code: status, message }
  return { structured, content: { type: 'text', text: JSON.stringify(structured) } }
}
