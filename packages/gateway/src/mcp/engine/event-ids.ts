import { parseJson } from '@portico/http/json'

/**
 * The SSE event id that clients get from several targets: the last event id of each target's stream, so that a broken
 * stream can be resumed at every target. A single target's own ids are forwarded.
 */
export interface StreamPosition {
  /** `call`: the stream of one request; `session`: the stream of messages outside of requests. */
  of: 'call' | 'session'
  /** The last event ids, by target. */
  ids: ReadonlyMap<string, string>
}

/** Encodes a position; empty when it is too long for the `Last-Event-ID` header, so that the stream cannot be resumed. */
export function writePosition({ of, ids }: StreamPosition): string {
  const text = Buffer.from(JSON.stringify([...ids])).toString('base64url')
  return text.length > LONGEST ? '' : (of === 'call' ? 'c' : 's') + text
}

/** Decodes a position; null for an id that is not from `writePosition`. */
export function readPosition(text: string): StreamPosition | null {
  const [, of, encoded = ''] = /^([cs])([\w-]+)$/.exec(text) ?? []
  if (of === undefined || encoded.length > LONGEST) return null
  const parsed = parseJson(Buffer.from(encoded, 'base64url').toString('utf8'))
  if (parsed === null || !Array.isArray(parsed.value)) return null
  const ids = new Map<string, string>()
  for (const entry of parsed.value) {
    if (!Array.isArray(entry)) return null
    const [target, id] = entry
    if (typeof target !== 'string' || typeof id !== 'string' || !isFieldValue(id)) return null
    ids.set(target, id)
  }
  return { of: of === 'c' ? 'call' : 'session', ids }
}

/** Whether the id can be sent to the target as a header value. */
function isFieldValue(text: string): boolean {
  return text.length > 0 && text.length <= LONGEST && /^[\x20-\x7e]+$/.test(text)
}

const LONGEST = 4_096
