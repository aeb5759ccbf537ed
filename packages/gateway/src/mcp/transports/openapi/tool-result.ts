import { isUtf8 } from 'node:buffer'
import { isObject, type JsonObject, parseExactJson } from '@portico/http/json'

export interface ApiAnswer {
  status: number
  /** Empty where it says none. */
  contentType: string
  body: Buffer
}

/** What an API answered, as the result of a tool. Models see a status beyond 2xx as a call that failed. */
export function toolResult(answer: ApiAnswer): JsonObject {
  const { status } = answer
  const { structured, content } = read(answer)
  if (status >= 200 && status <= 299) return { content: [content], structuredContent: structured }
  const failed = { type: 'text', text: `The API answered with HTTP ${status}.` }
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
  if (text === null) return plain(status, `${body.length} bytes that are no text`)
  const value = parseExactJson(text)
  if (value === undefined) return plain(status, text)
  // A number that no double holds looks like an object here.
  if (isObject(value) && !JSON.isRawJSON(value)) return { structured: value, content: { type: 'text', text } }
  const structured = { data: value }
  return { structured, content: { type: 'text', text: JSON.stringify(structured) } }
}

/** Null for bytes that are none. */
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
