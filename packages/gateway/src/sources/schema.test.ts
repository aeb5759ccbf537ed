import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { unwrapLists } from '../schema/unwrap-singletons.ts'
import { readQuickly, UNREAD } from '../schema/quick-read.ts'
import { zodOf } from '../schema/zod.ts'
import { configFile } from './schema.ts'
import { parseYaml } from './yaml/yaml.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../examples')

for (const file of readdirSync(EXAMPLES).filter((name) => /(?<!\.test)\.yaml$/.test(name))) {
  test(`${file} is read quickly, and as Zod reads it`, () => {
    const env = new Proxy({}, { get: () => '8080' })
    const { value } = parseYaml(readFileSync(join(EXAMPLES, file), 'utf8'), file, env)
    unwrapLists(configFile, value)
    const quick = readQuickly(configFile, value)
    assert.notEqual(quick, UNREAD)
    const parsed = zodOf(configFile).safeParse(value)
    assert.ok(parsed.success)
    assert.deepEqual(quick, parsed.data)
    assert.equal(JSON.stringify(quick), JSON.stringify(parsed.data))
  })
}
