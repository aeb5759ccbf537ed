import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { generatedFiles } from './generated-files.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'

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

for (const name of readdirSync(new URL('examples/', root)).filter((file) => file.endsWith('.yaml'))) {
  test(`the example ${name} loads without problems or warnings`, () => {
    const text = readFileSync(new URL(`examples/${name}`, root), 'utf8')
    assert.ok(text.startsWith('# yaml-language-server: $schema=../schema/config.json\n'))
    const fixture = (path: string) =>
      readFileSync(new URL(`../testing/fixtures/tls${path.slice(-4)}`, import.meta.url), 'utf8')
    const result = loadConfig(text, {
      file: name,
      dir: '/',
      env: { ALICE_KEY: 'alice-key-0123456789' },
      readFile: fixture,
    })
    assert.ok(result.ok, result.ok ? '' : printProblems(result.problems))
    assert.equal(printProblems(result.warnings), '')
    assert.ok(result.ir.binds.length > 0)
  })
}
