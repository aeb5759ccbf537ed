import { isObject } from '@portico/http/json'
import { parse } from 'yaml'
import { isSecretHeader, isSecretName } from '../redaction/secret-names.ts'
import { fieldOf, type Schema } from '../schema/kit.ts'
import type { Path } from '../schema/problem.ts'
import { unwrapLists } from '../schema/unwrap-singletons.ts'
import { configFile } from '../sources/schema.ts'

/** A secret that stands in the text of the file, and not in a variable or in a file of its own. */
export interface RawSecret {
  readonly path: Path
  readonly value: string
}

/** Finds secrets in the text of a valid config file. */
export function rawSecrets(text: string): RawSecret[] {
  const value: unknown = parse(text, { maxAliasCount: 1_000 })
  unwrapLists(configFile, value)
  const found: RawSecret[] = []
  collect(configFile, value, [], found)
  return found
}

function collect(schema: Schema, value: unknown, path: Path, found: RawSecret[]): void {
  const { node } = fieldOf(schema)
  switch (node.kind) {
    case 'scalar':
      if (node.secret) collectText(value, path, found)
      return
    case 'list':
      if (Array.isArray(value)) value.forEach((item, index) => collect(node.item, item, [...path, index], found))
      return
    case 'map':
      for (const [name, item] of entriesOf(value)) {
        // Environment variables of programs have no schema of their own.
        if (typeof item === 'string' && path.at(-1) === 'env' && isSecretName(name)) {
          collectText(item, [...path, name], found)
        } else collect(node.value, item, [...path, name], found)
      }
      return
    case 'object':
      collectHeader(value, path, found)
      for (const [name, item] of entriesOf(value)) {
        const field = Object.hasOwn(node.fields, name) ? node.fields[name] : undefined
        if (field !== undefined) collect(field, item, [...path, name], found)
      }
  }
}

/** A header line `{ name: x-api-key, value: … }` of a policy that sets literal values. */
function collectHeader(value: unknown, path: Path, found: RawSecret[]): void {
  if (!path.includes('headerModifiers') || !isObject(value)) return
  const { name, value: text } = value
  if (typeof name !== 'string' || !isSecretHeader(name)) return
  collectText(text, [...path, 'value'], found)
}

function collectText(value: unknown, path: Path, found: RawSecret[]): void {
  if (typeof value === 'string') {
    if (value !== '' && !value.includes('${') && !HASH.test(value)) found.push({ path, value })
    return
  }
  // API keys also have a long form, with metadata.
  if (isObject(value) && typeof value['key'] === 'string') collectText(value['key'], [...path, 'key'], found)
}

/** Hashes of passwords and keys. */
const HASH = /^(?:sha256:|[^:\s]+:(?:\$(?:2[aby]|apr1|[156])\$|\{SHA\}))/

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}
