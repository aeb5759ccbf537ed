import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRecords } from './load-records.ts'

const record = {
  ...{ id: 'a', at: 0, status: 200, attempts: 1, bytesIn: 0, outcome: 'passed', scheme: 'http' },
  ...{ keys: {}, method: 'GET', host: 'a.test', version: 'HTTP/1.1' },
}

test('records are whole when chunks of the file end inside of a line or a character', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-records-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'records.jsonl')
  const paths = Array.from({ length: 1_000 }, (_each, at) => `/${'é\u2028'.repeat(at % 97)}`)
  const lines = paths.map((path) => JSON.stringify({ ...record, path }))
  writeFileSync(file, `${lines.join('\r\n')}\n\n`)
  const read = await readRecords(file, 10_000)
  assert.ok('records' in read)
  assert.deepEqual(
    read.records.map(({ path }) => path),
    paths,
  )
  const some = await readRecords(file, 3)
  assert.equal('records' in some && some.records.length, 3)
  writeFileSync(file, `${lines[0]}\n\nno record`)
  assert.deepEqual(await readRecords(file, 10), { problem: `${file}:3: expected a record, a JSON object` })
})
