import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HpackDecoder } from './decode.ts'
import { literalField, nameOf } from './encode.ts'
import { DynamicTable, Field, sizeOf, STATIC_TABLE, TABLE_SIZE } from './tables.ts'

function decode(block: Buffer, start = 0, end = block.length): [string, string][] | null {
  const fields: [string, string][] = []
  const decoder = new HpackDecoder({ maxSize: 1_000_000, maxFields: 1_000 })
  const isGood = decoder.decode(block, start, end, { field: ({ name, value }) => fields.push([name, value]) })
  return isGood ? fields : null
}

test('lengths are written and read on both sides of each further byte', () => {
  for (const length of [0, 1, 126, 127, 128, 129, 254, 255, 256, 382, 383, 384, 16_509, 16_510, 16_511, 40_000]) {
    const value = 'v'.repeat(length)
    const block = Buffer.from(literalField('x-name', value), 'latin1')
    assert.deepEqual(decode(block), [['x-name', value]], `${length}`)
  }
})

test('every name of the static table is written by its first number', () => {
  for (const name of new Set(STATIC_TABLE.map((field) => field.name))) {
    const first = STATIC_TABLE.findIndex((field) => field.name === name) + 1
    const expected = first < 15 ? [first] : [15, first - 15]
    assert.deepEqual([...Buffer.from(nameOf(name), 'latin1')], expected, name)
    assert.deepEqual(decode(Buffer.from(literalField(name, 'v'), 'latin1')), [[name, 'v']])
  }
})

test('a block is read from its start to its end, whatever stands around it in the read', () => {
  const field = Buffer.from(literalField('x-name', 'value'), 'latin1')
  const read = Buffer.concat([Buffer.from([0xff, 0xff]), field, field])
  assert.deepEqual(decode(read, 2, 2 + field.length), [['x-name', 'value']])
  for (let cut = 1; cut < field.length; cut++) {
    assert.equal(decode(read, 2, 2 + field.length - cut), null, `${cut} bytes are missing`)
  }
})

test('a number that goes on beyond the end of its block is cut off, though more bytes follow in the read', () => {
  // An index, a name by its index, a length and a table size, each in several bytes.
  for (const bytes of [
    [0xff],
    [0xff, 0x80],
    [0x0f],
    [0x0f, 0x80],
    [0x00, 0x7f],
    [0x00, 0x7f, 0x80],
    [0x3f],
    [0x3f, 0x80],
  ]) {
    const read = Buffer.from([...bytes, 0x00, 0x01, 0x61, 0x01, 0x62])
    assert.equal(decode(read, 0, bytes.length), null, bytes.join(' '))
  }
  assert.equal(decode(Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x00])), null, 'no number takes so many bytes')
})

test('an index finds the entries of the static table, and none before or behind them', () => {
  assert.equal(decode(Buffer.from([0x80])), null)
  assert.deepEqual(decode(Buffer.from([0x81])), [[':authority', '']])
  assert.deepEqual(decode(Buffer.from([0x80 + STATIC_TABLE.length])), [['www-authenticate', '']])
  assert.equal(decode(Buffer.from([0x80 + STATIC_TABLE.length + 1])), null)
})

test('a table keeps exactly what fits', () => {
  const table = new DynamicTable()
  const [one, other] = [new Field('a', '1'), new Field('b', '2')]
  table.add(one)
  table.add(other)
  assert.deepEqual([table.at(0), table.at(1), table.at(2), table.at(-1)], [other, one, undefined, undefined])
  table.resize(sizeOf(one) + sizeOf(other))
  assert.equal(table.at(1), one)
  table.resize(sizeOf(one) + sizeOf(other) - 1)
  assert.deepEqual([table.at(0), table.at(1), table.size], [other, undefined, sizeOf(other)])
  const whole = new Field('w', 'x'.repeat(TABLE_SIZE - 33))
  table.resize(TABLE_SIZE)
  table.add(whole)
  assert.deepEqual([table.at(0), table.at(1), table.size], [whole, undefined, TABLE_SIZE])
  table.add(new Field('w', 'x'.repeat(TABLE_SIZE - 32)))
  assert.deepEqual([table.at(0), table.size], [undefined, 0])
})

test('as many of the shortest fields as fit are all found', () => {
  const table = new DynamicTable()
  const fields = Array.from({ length: 200 }, () => new Field('', ''))
  for (const field of fields) table.add(field)
  const kept = fields.slice(-TABLE_SIZE / 32).toReversed()
  for (const [index, field] of kept.entries()) assert.equal(table.at(index), field)
  assert.equal(table.at(kept.length), undefined)
})

test('fields are passed on up to the limits, and only counted beyond them', () => {
  const field = (name: string): Buffer => Buffer.from(literalField(name, 'v'), 'latin1')
  const block = Buffer.concat(['a', 'b', 'c', 'd'].map(field))
  const size = sizeOf(new Field('a', 'v'))
  for (const [limits, passed] of [
    [{ maxSize: 4 * size, maxFields: 4 }, 'abcd'],
    [{ maxSize: 3 * size, maxFields: 4 }, 'abc'],
    [{ maxSize: 3 * size - 1, maxFields: 4 }, 'ab'],
    [{ maxSize: 4 * size, maxFields: 2 }, 'ab'],
    [{ maxSize: 1 * size, maxFields: 2 }, 'a'],
  ] as const) {
    const decoder = new HpackDecoder(limits)
    let seen = ''
    assert.equal(decoder.decode(block, 0, block.length, { field: ({ name }) => (seen += name) }), true)
    assert.deepEqual([seen, decoder.size, decoder.count], [passed, 4 * size, 4], JSON.stringify(limits))
  }
})
