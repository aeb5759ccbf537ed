import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseYaml } from '../../../gateway/src/sources/yaml/yaml.ts'
import { commented, printConfig, printTests, Variable } from './config-yaml.ts'

const values = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 8 }).filter((key) => !key.includes('${')),
  fc.jsonValue(),
  {
    minKeys: 1,
    maxKeys: 5,
  },
)

test('the gateway reads any printed value as it was', () => {
  fc.assert(
    fc.property(values, (value) => {
      const expected: unknown = JSON.parse(JSON.stringify(value))
      const { value: read, problems } = parseYaml(printConfig(value, 'a header\nof two lines'), 'a.yaml', {})
      assert.deepEqual(problems, [])
      // JSON has no zero with a sign, and YAML has.
      assert.deepEqual(JSON.parse(JSON.stringify(read)), expected)
    }),
    { numRuns: 300 },
  )
})

test('variables are filled in, and texts that look like variables are not', () => {
  const value = { a: [{ host: new Variable('HOST'), port: new Variable('PORT') }], text: 'a ${HOST} b' }
  const read = parseYaml(printConfig(value, 'x'), 'a.yaml', { HOST: 'h.test', PORT: '80' })
  assert.deepEqual(read.value, { a: [{ host: 'h.test', port: 80 }], text: 'a ${HOST} b' })
})

test('comments stand above their mappings', () => {
  const text = printTests({ list: [commented({ name: 'a' }, 'from line 3'), { name: 'b' }] }, 'x\ny')
  assert.equal(text, '# x\n# y\nlist:\n# from line 3\n- { name: a }\n- { name: b }\n')
})
