import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the test files that command operands name: the files themselves, and all test files and capsules below
 * folders.
 */
export function findTestFiles(operands: readonly string[]): { files: string[] } | { problem: string } {
  const files = new Set<string>()
  for (const operand of operands) {
    try {
      const found = statSync(operand).isDirectory() ? filesBelow(operand) : [operand]
      for (const file of found) files.add(file)
    } catch (error) {
      return { problem: `${operand} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}` }
    }
  }
  if (files.size === 0) return { problem: `there is no *.test.yaml file in ${operands.join(', ')}` }
  return { files: [...files] }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '.' ? entry.name : join(folder, entry.name)
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) || entry.name.startsWith('.') ? [] : filesBelow(path)
      return NAME.test(entry.name) ? [path] : []
    })
}

const NAME = /\.test\.ya?ml$|\.capsule\.json$/
const LEFT_OUT = new Set(['node_modules'])
