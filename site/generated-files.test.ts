import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generatedFiles } from './generated-files.ts'
import { root } from './site-pages.ts'

test('the tables of docs/README.md and the pictures are fresh; otherwise run `npm run generate`', () => {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const files = generatedFiles(read, globSync('docs/diagrams/*.txt', { cwd: root }))
  for (const [path, content] of files) {
    assert.ok(existsSync(join(root, path)), `${path} is missing: run \`npm run generate\``)
    assert.equal(read(path), content, `${path} is stale: run \`npm run generate\``)
  }
  const pictures = globSync('docs/images/diagram-*.svg', { cwd: root })
  assert.ok(pictures.length >= 6, pictures.join())
  for (const path of pictures) assert.ok(files.has(path), `${path} belongs to no text in docs/diagrams`)
})
