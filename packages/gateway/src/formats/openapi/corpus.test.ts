import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json } from '../json.ts'
import { readOpenApi } from './read-document.ts'

const folder = dirname(fileURLToPath(import.meta.resolve('@readme/oas-examples/package.json')))
const files = globSync('{2,3}.*/json/**/*.json', { cwd: folder }).sort()

/** Documents without any operation. */
const EMPTY = ['3.0/json/openapi-workshop/title.json', '3.1/json/webhooks.json']

it('third-party documents load', (t) => {
  const refused: string[] = []
  let tools = 0
  for (const file of files) {
    const read = readOpenApi(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json)
    if ('faults' in read) refused.push(file)
    else tools += read.tools.operations.length
  }
  t.diagnostic(`${files.length - refused.length} of ${files.length} documents, ${tools} tools`)
  assert.equal(files.length, 70)
  assert.deepEqual(refused, EMPTY)
  assert.equal(tools, 667)
})

it('their tools have names and schemas that clients accept', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  for (const file of files) {
    const read = readOpenApi(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json)
    if ('faults' in read) continue
    for (const { tool } of read.tools.operations) {
      assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/)
      assert.ok(ajv.validateSchema(tool.inputSchema), `${file} ${tool.name}: ${ajv.errorsText()}`)
    }
  }
})
