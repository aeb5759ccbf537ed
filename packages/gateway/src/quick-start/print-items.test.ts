import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parse } from 'yaml'
import { parseYaml } from '../sources/yaml/yaml.ts'
import { printItems } from './print-items.ts'

describe('items as people write them', () => {
  test('short ones stand on a line, the rest in blocks', () => {
    const matches = ['/v1', '/chat/completions', '/responses'].map((pathPrefix) => ({ path: { pathPrefix } }))
    const route = { name: 'models', hostnames: ['127.0.0.1'], matches, policies: { csrf: {} }, backends: ['no'] }
    assert.equal(
      printItems([route], '  '),
      `  - name: models
    hostnames: ["127.0.0.1"]
    matches:
    - { path: { pathPrefix: /v1 } }
    - { path: { pathPrefix: /chat/completions } }
    - { path: { pathPrefix: /responses } }
    policies: { csrf: {} }
    backends: ["no"]
`,
    )
  })

  test('they are read as they were', () => {
    const scalar = fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.constantFrom(null, 'true', '1', '~', 'a: b'))
    const key = fc.string().filter((text) => text !== '__proto__')
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, value, { noNullPrototype: true }), (written) => {
        const text = `top:\n- name: first\n${printItems([written])}`
        const read = { top: [{ name: 'first' }, written] }
        assert.deepEqual(parse(text), read)
        if (!text.includes('${')) assert.deepEqual(parseYaml(text, 'x', {}).value, read)
      }),
    )
  })
})
