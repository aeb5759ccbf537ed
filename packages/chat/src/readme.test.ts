import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { upstreamFormats } from './formats/index.ts'
import * as api from './index.ts'
import { featureTable, memberTable } from './testing/carried-table.ts'

const file = new URL('../README.md', import.meta.url)
const readme = readFileSync(file, 'utf8')

describe('the README of chat', () => {
  it('has an example that runs', () => {
    const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
    assert.ok(example)
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', example], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    const [body = '', losses, ...stream] = stdout.split('\n')
    assert.notEqual(body, '', stderr)
    assert.deepEqual(JSON.parse(body), {
      model: 'claude-sonnet-4-5',
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
      max_tokens: 100,
      stream: true,
    })
    assert.equal(losses, "[ { what: 'dropped', path: 'seed' } ]")
    assert.match(stream.join('\n'), /"content":"Hello!"[^]*"finish_reason":"stop"[^]*data: \[DONE\]/)
  })

  it('names every function and class of the main entry', () => {
    const missing = Object.keys(api).filter((name) => !readme.includes(`\`${name}\``) && name !== 'STREAM_BROKEN')
    assert.deepEqual(missing, [])
  })

  it('has the tables of features and members as the formats are', () => {
    const expected = withTable(
      withTable(readme, 'features', featureTable(Object.values(upstreamFormats))),
      'members',
      memberTable(),
    )
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, expected)
    else assert.equal(readme, expected)
  })
})

function withTable(text: string, name: string, table: string): string {
  return text.replace(new RegExp(`(<!-- ${name} -->\n)[^#]*`), () => `<!-- ${name} -->\n\n${table}\n\n`)
}
