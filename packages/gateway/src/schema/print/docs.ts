import { fieldOf } from '../kit.ts'
import type { Field, Node, Schema } from '../kit.ts'
import { printRule } from '../rules.ts'

/** One row of a reference page. */
interface Row {
  path: string
  field: Field
}

/** The fields of a definition as Markdown: a table, and the rules below it. `stopAt` keeps nested pages apart. */
export function printFields(schema: Schema, stopAt: (path: string) => string | null = () => null): string {
  const rows: Row[] = []
  const rules: string[] = []
  collect(schema, '', stopAt, { rows, rules })
  const lines = ['| Field | Type | Default | Meaning |', '|---|---|---|---|']
  for (const { path, field } of rows) {
    const link = stopAt(path)
    const meaning = [field.description, link === null ? '' : `See ${link}.`].filter((part) => part !== '').join(' ')
    const type = typeOf(field.node) + (field.mayBeList ? ', or a list of one' : '')
    lines.push(`| \`${path}\` | ${type} | ${defaultOf(field)} | ${escape(meaning)} |`)
  }
  const ruleLines = rules.length === 0 ? [] : ['', 'Rules:', '', ...rules.map((rule) => `- ${rule}`)]
  return [...lines, ...ruleLines, ''].join('\n')
}

function collect(
  schema: Schema,
  prefix: string,
  stopAt: (path: string) => string | null,
  out: { rows: Row[]; rules: string[] },
): void {
  const { node } = fieldOf(schema)
  if (node.kind === 'list') return collect(node.item, `${prefix}[]`, stopAt, out)
  if (node.kind === 'map') return collect(node.value, `${prefix}.<name>`, stopAt, out)
  if (node.kind === 'scalar') return
  const place = prefix === '' ? '' : ` in \`${prefix}\``
  for (const rule of node.rules) out.rules.push(printRule(rule).replace(/\.$/, `${place}.`))
  for (const [name, child] of Object.entries(node.fields)) {
    const path = prefix === '' ? name : `${prefix}.${name}`
    out.rows.push({ path, field: fieldOf(child) })
    if (stopAt(path) === null) collect(child, path, stopAt, out)
  }
}

function typeOf(node: Node): string {
  if (node.kind === 'object') return 'mapping'
  if (node.kind === 'list') {
    const item = fieldOf(node.item).node
    return `list (${node.min}-${node.max}) of ${item.kind === 'object' ? 'mappings' : typeOf(item)}`
  }
  if (node.kind === 'map') {
    const value = fieldOf(node.value).node
    return `mapping (${node.min}-${node.max}) of names to ${value.kind === 'object' ? 'mappings' : typeOf(value)}`
  }
  if (node.type === 'enum') return node.values.map((word) => `\`${word}\``).join(', ')
  const { minimum, maximum, minLength, maxLength } = node.json
  if (typeof minimum === 'number' && typeof maximum === 'number') return `${node.type}, ${minimum}-${maximum}`
  if (node.type !== 'string' || typeof minLength !== 'number' || typeof maxLength !== 'number') return node.type
  return `string, ${minLength}-${maxLength}`
}

function defaultOf(field: Field): string {
  if (field.required) return 'required'
  if (field.default === undefined) return ''
  return `\`${typeof field.default === 'string' ? field.default : JSON.stringify(field.default)}\``
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}
