import { createHash } from 'node:crypto'

/** Addresses of a Service by key of its backend. */
type Addresses = Iterable<readonly [key: string, addresses: readonly string[]]>

/** Addresses are compared in so many parts: a reconnect sends only parts that differ. */
export const ENDPOINT_PARTS = 64

/** In which of them a key is: the same for every program. */
export function endpointPart(key: string): number {
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0
  return (hash >>> 0) % ENDPOINT_PARTS
}

/** One hash for each part, whatever the order of keys. */
export function endpointHashesOf(all: Addresses): string[] {
  const parts: string[][] = Array.from({ length: ENDPOINT_PARTS }, () => [])
  for (const [key, addresses] of all) parts[endpointPart(key)]?.push(JSON.stringify([key, addresses]))
  return parts.map((lines) => createHash('sha256').update(lines.toSorted().join('\n')).digest('base64url').slice(0, 22))
}

/** Parts that differ. */
export function differingParts(one: readonly string[], other: readonly string[]): number[] {
  return one.flatMap((hash, part) => (hash === other[part] ? [] : part))
}
