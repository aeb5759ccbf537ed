import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const packages = join(import.meta.dirname, '../../../..')

test('hooks around each test are inside a describe: outside, they run for all files of the process', () => {
  const files = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.test\.tsx?$/.test(file) && !file.includes('node_modules'),
  )
  assert.ok(files.length > 500)
  const found = files.filter((file) => /^(before|after)Each\(/m.test(readFileSync(join(packages, file), 'utf8')))
  assert.deepEqual(found, [])
})
