import { stringify } from 'yaml'

/** A part of `values.schema.json`, the single source of the chart's values. */
export interface ValueSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  description?: string
  default?: unknown
  properties?: Readonly<Record<string, ValueSchema>>
  enum?: readonly string[]
  minimum?: number
  maximum?: number
}

/** Helm passes this value from parent charts; it is not documented. */
const UNTOLD = 'global'

/** Returns the chart's `values.yaml`, each value below its description. */
export function printValues(schema: ValueSchema): string {
  const head = '# Printed from values.schema.json by `npm run generate`; changes here are lost.\n'
  return `${head}\n${printMembers(schema, '').join('\n')}`
}

function printMembers(schema: ValueSchema, indent: string): string[] {
  return membersOf(schema).flatMap(([name, member]) => {
    const comment = wrapText(member.description ?? '', `${indent}# `)
    if (member.default === undefined)
      return [`${comment}${indent}${name}:\n${printMembers(member, `${indent}  `).join('')}`]
    const text = stringify({ [name]: member.default }, { lineWidth: 0 })
    return [`${comment}${text.replaceAll(/^(?=.)/gm, indent)}`]
  })
}

/** Returns the docs page with all values. */
export function printValuesPage(schema: ValueSchema): string {
  const rows = rowsOf(schema, '').map(([name, member]) => {
    const value = member.default === '' ? '' : `\`${JSON.stringify(member.default)}\``
    return `| \`${name}\` | ${[member.description ?? '', rulesOf(member)].filter(Boolean).join(' ')} | ${value} |`
  })
  return `<!-- Printed from deploy/helm/portico/values.schema.json by \`npm run generate\`; changes here are lost. -->
# Values of the chart

The chart \`deploy/helm/portico\` [installs](install.md) the controller. Unknown values, and values of the wrong type, are rejected
before anything is changed.

| Value | What it is | Default |
|---|---|---|
${rows.join('\n')}
`
}

function rowsOf(schema: ValueSchema, prefix: string): [string, ValueSchema][] {
  return membersOf(schema).flatMap(([name, member]): [string, ValueSchema][] =>
    member.default === undefined ? rowsOf(member, `${prefix}${name}.`) : [[`${prefix}${name}`, member]],
  )
}

function rulesOf({ enum: allowed, minimum, maximum, properties }: ValueSchema): string {
  const told = allowed?.filter((value) => value !== '').map((value) => `\`${value}\``)
  if (told !== undefined) return `One of ${told.join(', ')}.`
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}.`
  return properties === undefined ? '' : `Has ${names(Object.keys(properties))}.`
}

function names(all: readonly string[]): string {
  const quoted = all.map((name) => `\`${name}\``)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`
}

function membersOf({ properties = {} }: ValueSchema): [string, ValueSchema][] {
  return Object.entries(properties).filter(([name]) => name !== UNTOLD)
}

/** Wraps text at 100 characters. */
function wrapText(text: string, start: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || start.length + last.length + word.length >= 100) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line) => `${start}${line}\n`).join('')
}
