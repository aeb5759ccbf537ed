import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '../fields/header-block.ts'
import { HpackDecoder } from './hpack/decode.ts'
import { fieldsBlock } from './sent-fields.ts'

function sent(fields: [string, string][]): string[] {
  const raw: string[] = []
  const block = Buffer.from(fieldsBlock(HeaderBlock.of(fields)), 'latin1')
  const decoder = new HpackDecoder({ maxSize: 65_536, maxFields: 100 })
  assert.ok(decoder.decode(block, 0, block.length, { field: ({ name, value }) => raw.push(name, value) }))
  return raw
}

test('names are sent in lower case, whatever their spelling was before', () => {
  for (const name of ['x-kind', 'X-Kind', 'x-KIND', 'X-Kind']) assert.deepEqual(sent([[name, 'V']]), ['x-kind', 'V'])
})

test('fields of one connection are left out in every spelling, each time', () => {
  const fields: [string, string][] = [
    ['Connection', 'close'],
    ['keep-alive', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Content-Type', 'a/b'],
  ]
  for (let i = 0; i < 2; i++) assert.deepEqual(sent(fields), ['content-type', 'a/b'])
})

test('more names than are remembered, and longer ones, are sent all the same', () => {
  for (let i = 0; i < 2000; i++) assert.deepEqual(sent([[`X-N-${i}`, 'v']]), [`x-n-${i}`, 'v'])
  const long = 'X-' + 'A'.repeat(1000)
  assert.deepEqual(sent([[long, 'v']]), [long.toLowerCase(), 'v'])
  assert.deepEqual(sent([['Upgrade', 'v']]), [])
})

test('secrets are marked as never to be put into a table, and other fields are not', () => {
  for (const name of ['authorization', 'Cookie', 'proxy-authorization', 'set-cookie']) {
    const block = fieldsBlock(HeaderBlock.of([[name, 'secret']]))
    assert.equal(block.charCodeAt(0) & 0xf0, 0x10, name)
    assert.deepEqual(sent([[name, 'secret']]), [name.toLowerCase(), 'secret'])
  }
  assert.equal(fieldsBlock(HeaderBlock.of([['x-other', 'v']])).charCodeAt(0) & 0xf0, 0)
})
