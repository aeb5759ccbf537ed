import { isUtf8 } from 'node:buffer'
import { parseExactJson } from '../../../wire/exact-json.ts'
import { isObject, type JsonObject } from '../../../wire/json.ts'

/** What an API answered, as the result of a tool. Models see a status beyond 2xx as a call that failed. */
export function toolResult(status: number, body: Buffer): JsonObject {
  const { structured, text } = read(status, body)
  const content = [{ type: 'text', text }]
  if (status >= 200 && status <= 299) return { content, structuredContent: structured }
  const failed = { type: 'text', text: `The API answered with HTTP ${status}.` }
  return { content: [failed, ...content], structuredContent: structured, isError: true }
}

function read(status: number, body: Buffer): { structured: JsonObject; text: string } {
  if (!isUtf8(body)) return plain(status, `${body.length} bytes that are no text`)
  const text = body.toString('utf8')
  const value = parseExactJson(text)
  if (value === undefined) return plain(status, text)
  // A number that no double holds looks like an object here.
  if (isObject(value) && !JSON.isRawJSON(value)) return { structured: value, text }
  const structured = { data: value }
  return { structured, text: JSON.stringify(structured) }
}

function plain(status: number, message: string): { structured: JsonObject; text: string } {
  const structured = { code: status, message }
  return { structured, text: JSON.stringify(structured) }
}
