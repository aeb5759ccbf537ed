import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../../../docs/mcp-conformance.md', import.meta.url))

/** Marks of one scenario: direct, one target, two targets. */
export type Row = [scenario: string, direct: string, one: string, two: string]

/** Compares the page with the results of a run. A stale page is rewritten, and the test fails once. */
export function checkPage(rowsBySuite: ReadonlyMap<string, Row[]>): void {
  const page = pageOf(rowsBySuite)
  if (existsSync(FILE) && readFileSync(FILE, 'utf8') === page) return
  writeFileSync(FILE, page)
  assert.fail('docs/mcp-conformance.md was stale and has been written anew')
}

function pageOf(rowsBySuite: ReadonlyMap<string, Row[]>): string {
  const sections = [...rowsBySuite].map(([title, rows]) => `## ${title}\n\n${table(rows)}`)
  return `# MCP conformance

<!-- Written by \`node --test e2e/mcp/conformance.test.ts\`; do not edit. -->

The official suite (\`@modelcontextprotocol/conformance\`) against a server written with the official SDK: directly, through a
gateway with that server as its only target, and through a gateway with two targets that have every second tool, prompt
and resource each (\`prefixMode: Never\`). The gateway runs as a process with two workers. The number counts the checks
that passed; \`–\` is a scenario that checks nothing here. What passes directly passes through the gateway, check by check.

${sections.join('\n')}`
}

function table(rows: Row[]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`
  const head = ['Scenario', 'Direct', 'One target', 'Two targets']
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
