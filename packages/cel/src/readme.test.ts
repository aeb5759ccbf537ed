import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { functionTable } from './reference.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

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
    assert.ok(readme.includes(functionTable()), `the table should be:\n${functionTable()}`)
  })
})
