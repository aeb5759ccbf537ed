import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'

/** The fields and requests in which a side-by-side run differed. */
export interface Meeting {
  fields: Set<string>
  requests: Set<string>
}

/** Returns the name that the docs use for a field seen by the service, the client or the backend. */
export function fieldName(key: string): string {
  const header = /^(asked|client|backend)(?: request http| heads? [01])?(?: headers?)? ([\w-]+)$/.exec(key)
  const side = key.split(' ')[0] ?? ''
  const who = { asked: 'service', client: 'client', backend: 'backend' }[side] ?? side
  if (header === null) return `\`${key.replace(/^\w+ /, '').replace(/ data \d+$| type$/, '')}\` (${who})`
  return `\`${header[2]}\` (${who})`
}

/** Returns the table cells of a row: its fields, and its requests by name, or as a count if more than three. */
export function cells({ fields, requests }: Meeting, total: number): [string, string] {
  const names = requests.size > 3 ? `${requests.size} of ${total}` : [...requests].join('; ')
  return [[...fields].toSorted().join(', '), requests.size === total ? 'all' : names]
}

/** Asserts that docs/envoy.md has this table between the markers of the list. */
export function checkPage(list: string, table: string): void {
  const file = new URL('../../docs/envoy.md', import.meta.url)
  const page = readFileSync(file, 'utf8')
  const [start, end] = [`<!-- differences: ${list} -->\n`, '\n<!-- end of differences -->']
  const from = page.indexOf(start)
  assert.notEqual(from, -1, `docs/envoy.md has no list \`${list}\``)
  const to = page.indexOf(end, from)
  if (process.env['PORTICO_UPDATE_GOLDEN'] === '1')
    writeFileSync(file, page.slice(0, from + start.length) + table + page.slice(to))
  else assert.equal(page.slice(from + start.length, to), table)
}
