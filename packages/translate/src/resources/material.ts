import { textAt } from './json.ts'
import type { Kind } from './kinds.ts'
import type { Resource } from './resource.ts'

/** Kinds with many large objects that are never referenced; of those, translation needs only the metadata. */
export const materialKinds = ['Secret', 'ConfigMap'] as const

export type MaterialKind = (typeof materialKinds)[number]

export function isMaterialKind(kind: Kind): kind is MaterialKind {
  return kind === 'Secret' || kind === 'ConfigMap'
}

/**
 * Returns a value of a ConfigMap, or the decoded value of a Secret, whose values are base64; undefined when it is
 * absent.
 */
export function readValue({ kind, data, stringData }: Resource, key: string): string | undefined {
  const value = textAt(data, key)
  if (kind !== 'Secret') return value
  const plain = textAt(stringData, key)
  if (plain !== undefined) return plain
  return value === undefined ? undefined : decode(value)
}

function decode(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(base64.replaceAll(/\s/g, '')))
  } catch {
    return undefined
  }
}
