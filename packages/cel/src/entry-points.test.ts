import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))

describe('the entry points of the package', () => {
  it('the entry point for browsers loads no builtin and nothing that generates code', () => {
    const loaded = reachable('check-entry.ts')
    assert.deepEqual(
      [...loaded].filter((name) => name.startsWith('node:') || name === 'emit/generate.ts'),
      [],
    )
    assert.ok(loaded.has('check/resolve.ts') && loaded.has('@portico/regex'))
  })

  it('one file generates code, one touches a builtin', () => {
    const files = sourceFiles()
    assert.deepEqual(
      files.filter((file) => /new Function\(|\beval\(/.test(readFileSync(join(root, file), 'utf8'))),
      ['emit/generate.ts'],
    )
    assert.deepEqual(
      files.filter((file) => importsOf(file).some((name) => name.startsWith('node:'))),
      ['node-environment.ts'],
    )
  })
})

function sourceFiles(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/^(?:testing|conformance)\//.test(file))
    .toSorted()
}

function reachable(start: string): Set<string> {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    for (const name of importsOf(file)) {
      if (seen.has(name)) continue
      seen.add(name)
      if (name.endsWith('.ts')) visit(name)
    }
  }
  visit(start)
  return seen
}

/** Imports at run time; type imports are excluded. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[\w\s{},*$]+\s+from\s+)?'([^']+)'/gm)
  return [...statements].map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  )
}
