import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { unusedExports } from './unused-exports.mjs'

const FILES = {
  'CONTRIBUTING.md': "import { inAnExample } from './any.ts'\n",
  'packages/a/package.json': '{ "name": "@portico/a", "exports": { ".": "./src/index.ts" } }',
  'packages/a/src/index.ts': "export { shared } from './parts.ts'\nexport const entry = 1\n",
  'packages/a/src/parts.ts': [
    'export function shared() {}',
    'export interface Lonely {}',
    'export const inAnExample = 1',
    'export async function onlyInTests() {}',
  ].join('\n'),
  'packages/a/src/parts.test.ts': "import {\n  onlyInTests as other,\n} from './parts.ts'\n",
  'packages/a/src/lazy.ts': 'export const whole = 1\n',
  'e2e/run.ts': "const { whole } = await import('../packages/a/src/lazy.ts')\n",
  'packages/gateway/src/protos/message.ts': 'export interface Message {}\n',
  'packages/b/src/other.ts': 'export type Lonely = string\n',
}

test('an export that no file imports is listed, below the folders asked for', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'portico-exports-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  assert.deepEqual(unusedExports(root, ['packages/a']), ['packages/a/src/parts.ts: Lonely'])
  assert.deepEqual(unusedExports(root, ['packages/b']), ['packages/b/src/other.ts: Lonely'])
  assert.deepEqual(unusedExports(root, ['packages/gateway']), [])
})
