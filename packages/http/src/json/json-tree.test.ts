import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type JsonNode, nodeAt, readJsonTree, replaceAt } from './json-tree.ts'
import { isObject, type Json } from './json.ts'

describe('a JSON text with its places', () => {
  it('says what the text says, and each place is JSON by itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\t', '\n  '), (value, space) => {
        const text = space + JSON.stringify(value, null, space) + space
        const tree = readJsonTree(text)
        assert.ok(tree !== null)
        check(tree, JSON.parse(text), text)
      }),
      { numRuns: 1_000 },
    )
  })

  it('reads escapes, and names that come twice', () => {
    const tree = readJsonTree('{"a\\u0062":1,"x":"\\"\\\\","x":[]}')
    assert.ok(tree?.kind === 'object')
    assert.deepEqual(
      tree.members.map(({ name, value }) => [name, value.kind]),
      [
        ['ab', 'plain'],
        ['x', 'text'],
        ['x', 'list'],
      ],
    )
    assert.equal(nodeAt(tree, 'x')?.kind, 'list')
  })

  it('is nothing where the text is no JSON', () => {
    for (const text of ['', '{', '[1', '"', '{"a"}', 'nul', '[DONE]']) assert.equal(readJsonTree(text), null)
  })

  it('reads a string of megabytes', () => {
    const text = JSON.stringify({ long: `${'x\n'.repeat(2_000_000)}"` })
    assert.equal(nodeAt(readJsonTree(text) ?? undefined, 'long')?.end, text.length - 1)
  })

  it('takes other JSON at a place', () => {
    const text = '{ "a" : "old" , "b":1}'
    const place = nodeAt(readJsonTree(text) ?? undefined, 'a')
    assert.ok(place !== undefined)
    assert.equal(replaceAt(text, [{ ...place, json: '"new"' }]), '{ "a" : "new" , "b":1}')
  })
})

function check(node: JsonNode, value: Json, text: string): void {
  assert.deepEqual(JSON.parse(text.slice(node.start, node.end)), value)
  if (node.kind === 'object')
    for (const { name, value: inner } of node.members) check(inner, memberOf(value, name), text)
  else if (node.kind === 'list') for (const [at, item] of node.items.entries()) check(item, itemOf(value, at), text)
  else assert.deepEqual(node.value, value)
}

function memberOf(value: Json, name: string): Json {
  assert.ok(isObject(value))
  return value[name] ?? null
}

function itemOf(value: Json, at: number): Json {
  assert.ok(Array.isArray(value))
  return value[at] ?? null
}
