import { parseJson } from '@portico/http/json'

/**
 * Ids of events towards the client: where each target's own stream stands, so that a broken stream goes on at every
 * target. With one target its own ids are used.
 */
export interface StreamPosition {
  /** `call`: the stream of one request; `session`: what targets say on their own account. */
  of: 'call' | 'session'
  /** Last id by target. */
  ids: ReadonlyMap<string, string>
}

/** Empty when it would be too long for the header that brings it back: such a stream cannot go on once it is broken. */
export function writePosition({ of, ids }: StreamPosition): string {
  const text = Buffer.from(JSON.stringify([...ids])).toString('base64url')
  return text.length > LONGEST ? '' : (of === 'call' ? 'c' : 's') + text
}

/** Null for an id that was not written here. */
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

/** It becomes a header towards the target. */
function isFieldValue(text: string): boolean {
  return text.length > 0 && text.length <= LONGEST && /^[\x20-\x7e]+$/.test(text)
}

const LONGEST = 4_096
