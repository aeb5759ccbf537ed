import { REDACTED } from './secret-names.ts'

/** The part of a schema that redaction reads. */
type SecretNode<Schema> =
  | { kind: 'scalar'; secret: boolean }
  | { kind: 'list'; item: Schema }
  | { kind: 'map'; value: Schema }
  | { kind: 'object'; fields: Readonly<Record<string, Schema>> }

/**
 * `redactBySchema` returns a copy of a config value in which every field is redacted that its schema calls a secret,
 * whatever the name of its key. Secrets that are told by name or by form are redacted before.
 */
export function redactBySchema<Schema>(
  schema: Schema,
  value: unknown,
  nodeOf: (schema: Schema) => SecretNode<Schema>,
): unknown {
  const node = nodeOf(schema)
  // A list where none belongs is wrong, and no less secret; so is one that is missing.
  if (Array.isArray(value)) {
    const item = node.kind === 'list' ? node.item : schema
    return value.map((each) => redactBySchema(item, each, nodeOf))
  }
  switch (node.kind) {
    case 'scalar':
      return node.secret ? redactValue(value) : value
    case 'list':
      return redactBySchema(node.item, value, nodeOf)
    case 'map':
      return withMembers(value, (_, child) => redactBySchema(node.value, child, nodeOf))
    case 'object':
      return withMembers(value, (name, child) => {
        const field = Object.hasOwn(node.fields, name) ? node.fields[name] : undefined
        return field === undefined ? child : redactBySchema(field, child, nodeOf)
      })
  }
}

/** The location and the owner of a secret may be shown. */
const PLAIN: ReadonlySet<string> = new Set(['file', 'env', 'metadata'])

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return OF_A_USER.test(value) ? value : REDACTED
  if (Array.isArray(value)) return value.map(redactValue)
  if (typeof value !== 'object') return REDACTED
  return withMembers(value, (name, child) => (PLAIN.has(name) ? child : redactValue(child)))
}

/** A line of htpasswd without its hash. */
const OF_A_USER = new RegExp(`^[^:\\s]+:${REDACTED}$`)

function withMembers(value: unknown, change: (name: string, child: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, change(name, child)]))
}
