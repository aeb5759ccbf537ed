import { createHash } from 'node:crypto'

/** Addresses of Services, by the key of the backend. */
type Addresses = Iterable<readonly [key: string, addresses: readonly string[]]>

/** Addresses are compared in this many parts: after a reconnect, only the parts that differ are sent. */
export const ENDPOINT_PARTS = 64

/** Returns the part of a key. All versions of the program must agree on it. */
export function endpointPart(key: string): number {
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0
  return (hash >>> 0) % ENDPOINT_PARTS
}

/** Returns one hash for each part, independent of the order of keys. */
export function endpointHashesOf(all: Addresses): string[] {
  const parts: string[][] = Array.from({ length: ENDPOINT_PARTS }, () => [])
  for (const [key, addresses] of all) parts[endpointPart(key)]?.push(JSON.stringify([key, addresses]))
  return parts.map((lines) => createHash('sha256').update(lines.toSorted().join('\n')).digest('base64url').slice(0, 22))
}

/** Returns the indexes of the parts that differ. */
export function differingParts(one: readonly string[], other: readonly string[]): number[] {
  return one.flatMap((hash, part) => (hash === other[part] ? [] : part))
}
