import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, takeText } from './message.ts'

/** Finds a static secret by name; returns null for a secret that comes from a control plane. */
export type Secrets = (name: string) => Field | null

export function readSecrets(roots: readonly Field[]): Secrets {
  const found = new Map(
    roots
      .flatMap((root) => listAt(root, 'static_resources', 'secrets'))
      .map((field) => [takeText(field, 'name') ?? '', field]),
  )
  return (name) => found.get(name) ?? null
}

/** Returns the file name of a DataSource; null for texts in the config and for environment variables. */
export function fileOf(source: Field | null): string | null {
  const file = memberAt(source, 'filename')
  const text = file?.text ?? ''
  if (file === null || !/^[\x20-\x7e]{1,1000}$/.test(text)) return null
  file.carried('copy the file to this path, or change the path')
  return text
}

/** Returns the text of a DataSource; null for files and environment variables. */
export function inlineTextOf(source: Field | null): string | null {
  const text = memberAt(source, 'inline_string')
  if (text !== null) return text.text
  const bytes = memberAt(source, 'inline_bytes')?.text
  if (bytes == null) return null
  const decoded = Buffer.from(bytes, 'base64')
  const found = decoded.toString('utf8')
  return Buffer.from(found, 'utf8').equals(decoded) ? found : null
}
