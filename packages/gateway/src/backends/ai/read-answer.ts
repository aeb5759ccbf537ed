import type { FormatName, JsonObject } from '@portico/chat'
import type { HeaderBlock } from '@portico/http'
import { isObject, parseExactObject, parseJsonObject } from '@portico/http/json'

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
const OPEN_BRACE = 0x7b

export function isNamedJson(headers: HeaderBlock): boolean {
  return JSON_TYPE.test(headers.get('content-type') ?? '')
}

/** Streams that are named JSON begin otherwise. */
export function beginsAsObject(bytes: Buffer): boolean {
  return bytes[0] === OPEN_BRACE
}

/** Parses JSON without rounding: ids in tool arguments may be larger than a double can represent. */
export function readExactly(bytes: Buffer): JsonObject | null {
  return parseExactObject(bytes.toString('utf8'))
}

/** Whether the body is an error that clients of the format can read unchanged. */
export function isErrorOf(format: FormatName, bytes: Buffer): boolean {
  const body = parseJsonObject(bytes.toString('utf8'))
  const error = body?.['error']
  if (!isObject(error)) return false
  return format === 'messages' ? body?.['type'] === 'error' : error['status'] === undefined
}
