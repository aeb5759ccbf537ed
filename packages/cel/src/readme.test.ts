import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { functionTable } from './testing/function-table.ts'

const file = new URL('../README.md', import.meta.url)
const readme = readFileSync(file, 'utf8')

describe('the README of cel', () => {
  it('has an example that runs', () => {
    const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
    assert.ok(example)
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', example], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    assert.equal(stdout, "true\n[ 'request.path', 'jwt.groups' ]\n", stderr)
  })

  it('lists every macro and function', () => {
    const expected = readme.replace(/\| written \|[\s\S]*/, () => `${functionTable()}\n`)
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, expected)
    else assert.equal(readme, expected)
  })
})
