import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Modules that a file loads at run time. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)
  return [...found].map((match) => match[1]!)
}

function reachable(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen
  const imports = importsOf(file)
  seen.set(file, imports)
  for (const name of imports) if (name.startsWith('.')) reachable(fileURLToPath(new URL(name, `file://${file}`)), seen)
  return seen
}

test('the door of the schemas loads nothing that a browser lacks', () => {
  const files = reachable(fileURLToPath(new URL('./schema.ts', import.meta.url)))
  assert.ok(files.size > 30)
  const packages = new Set([...files.values()].flat().filter((name) => !name.startsWith('.')))
  // Tests of the packages hold that these entries load no builtin.
  const entries = ['@portico/cel/check', '@portico/cel/declare', '@portico/http/json', '@portico/http/text']
  assert.deepEqual(packages, new Set(['zod', '@portico/regex', ...entries]))
  const zodUsers = [...files].filter(([, imports]) => imports.includes('zod')).map(([file]) => file)
  assert.ok(zodUsers.length === 1 && zodUsers[0]!.endsWith('/schema/zod.ts'), 'one module knows Zod')
})
