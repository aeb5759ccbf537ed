import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { generatedFiles } from './generated-files.ts'

const root = new URL('../../../../', import.meta.url)

test('the generated files are fresh; otherwise run `npm run generate`', () => {
  const files = generatedFiles()
  for (const [path, content] of files) {
    assert.ok(existsSync(new URL(path, root)), `${path} is missing`)
    assert.equal(readFileSync(new URL(path, root), 'utf8'), content, `${path} is stale`)
  }
  for (const page of readdirSync(new URL('docs/reference/', root))) {
    assert.ok(files.has(`docs/reference/${page}`), `docs/reference/${page} belongs to nothing`)
  }
})
