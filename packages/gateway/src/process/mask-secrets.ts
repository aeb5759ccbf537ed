import { REDACTED } from '../admin/redact.ts'
import { nodeOf, type Schema } from '../schema/kit.ts'

/**
 * A copy of what a file says in which everything is hidden that its definition calls a secret, whatever the name of its
 * key. What was hidden by name, or by what it looks like, is hidden already.
 */
export function maskSecrets(schema: Schema, value: unknown): unknown {
  const node = nodeOf(schema)
  // A list where none belongs is wrong, and no less secret; so is one that is missing.
  if (Array.isArray(value)) {
    const item = node.kind === 'list' ? node.item : schema
    return value.map((each) => maskSecrets(item, each))
  }
  switch (node.kind) {
    case 'scalar':
      return node.secret ? masked(value) : value
    case 'list':
      return maskSecrets(node.item, value)
    case 'map':
      return withMembers(value, (_, child) => maskSecrets(node.value, child))
    case 'object':
      return withMembers(value, (name, child) => {
        const field = Object.hasOwn(node.fields, name) ? node.fields[name] : undefined
        return field === undefined ? child : maskSecrets(field, child)
      })
  }
}

/** Where it lies, and whose it is, is no secret. */
const PLAIN: ReadonlySet<string> = new Set(['file', 'env', 'metadata'])

function masked(value: unknown): unknown {
  if (typeof value === 'string') return OF_A_USER.test(value) ? value : REDACTED
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object') return REDACTED
  return withMembers(value, (name, child) => (PLAIN.has(name) ? child : masked(child)))
}

/** A line of htpasswd without its hash. */
const OF_A_USER = new RegExp(`^[^:\\s]+:${REDACTED}$`)

function withMembers(value: unknown, change: (name: string, child: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, change(name, child)]))
}
