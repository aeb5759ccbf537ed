import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '../header-block.ts'
import { appendFields } from './fields.ts'

function sent(fields: [string, string][]): string[] {
  const raw: string[] = []
  appendFields(raw, HeaderBlock.of(fields))
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
