import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readPlainYaml } from './plain-yaml.ts'
import { parseWithLocations } from './yaml.ts'

const nothing = (): undefined => undefined

test('JSON means what the full parser says, however it is laid out', () => {
  const value = fc.dictionary(
    fc.string(),
    fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json)) as unknown),
  )
  let read = 0
  fc.assert(
    fc.property(value, fc.constantFrom('', ' ', '  ', '\t'), (config, indent) => {
      const text = JSON.stringify(config, null, indent)
      const quick = readPlainYaml(text, nothing)
      if (quick === null) return
      read++
      const full = parseWithLocations(text, 'test.json', {})
      assert.deepEqual(full.problems, [], text)
      assert.deepEqual(quick.value, full.value, text)
    }),
  )
  assert.ok(read > 0)
})

test('texts that JSON reads differently from YAML, or not at all, are left to the full parser', () => {
  const texts = [
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "\\u0062": 2}}',
    '{"a:b": "c:d", "a:b": ":"}',
    '{"a": "::", "b": {"c": 1, "c": "d:e"}}',
    '{"__proto__": {}}',
    '{"a": 1} # comment',
    '{"a": 1,}',
    '{a: 1}',
    '{"a": "\u2028"}',
    `{"${'k'.repeat(2_000)}": 1}`,
  ]
  for (const text of texts) assert.equal(readPlainYaml(text, nothing), null, text)
})

test('colons inside of keys and values are no keys', () => {
  for (const value of [
    { 'a:b': 'c::d', e: ['f:g', { ':': 1 }] },
    { a: 'b\\c:d', 'e"': ':' },
  ]) {
    assert.deepEqual(readPlainYaml(JSON.stringify(value), nothing), { value })
  }
  assert.deepEqual(
    readPlainYaml('{"a:b": "${C}:d"}', () => 'e:f:g'),
    { value: { 'a:b': 'e:f:g' } },
  )
})

test('variables are filled into values, and into no key', () => {
  const fill = (text: string, isPlain: boolean): string => `${text.length}${isPlain}`
  assert.deepEqual(readPlainYaml('{"${A}": ["${B}", {"c": "x${C}"}], "d": 1}', fill), {
    value: { '${A}': ['4false', { c: '5false' }], d: 1 },
  })
  assert.equal(readPlainYaml('{"a": "${B}"}', nothing), null)
})
