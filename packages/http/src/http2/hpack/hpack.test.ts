import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HpackDecoder } from './decode.ts'
import { literalField, NO_TABLE, statusField } from './encode.ts'
import { readHuffman } from './huffman.ts'
import { DynamicTable, Field, STATIC_TABLE } from './tables.ts'

type Pairs = [string, string][]

const LIMITS = { maxSize: 65_536, maxFields: 1_000 }

/** The time limit of counted cases, generous for busy machines. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

/** Returns the fields of a block; null when it is invalid. */
function decode(decoder: HpackDecoder, block: Buffer): Pairs | null {
  const fields: Pairs = []
  const good = decoder.decode(block, 0, block.length, { field: ({ name, value }) => fields.push([name, value]) })
  return good ? fields : null
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

const first: Pairs = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
]
const requests: Pairs[] = [
  first,
  [...first, ['cache-control', 'no-cache']],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
]
const answer = (status: string, second: string): Pairs => [
  [':status', status],
  ['cache-control', 'private'],
  ['date', `Mon, 21 Oct 2013 20:13:2${second} GMT`],
  ['location', 'https://www.example.com'],
]
const responses: Pairs[] = [
  answer('302', '1'),
  answer('307', '1'),
  [
    ...answer('200', '2').slice(0, 3),
    ['location', 'https://www.example.com'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
]

test('RFC 7541 C.2: single fields', () => {
  for (const [block, fields] of [
    ['400a637573746f6d2d6b65790d637573746f6d2d686561646572', [['custom-key', 'custom-header']]],
    ['040c2f73616d706c652f70617468', [[':path', '/sample/path']]],
    ['100870617373776f726406736563726574', [['password', 'secret']]],
    ['82', [[':method', 'GET']]],
  ] as const) {
    assert.deepEqual(decode(new HpackDecoder(LIMITS), hex(block)), fields)
  }
})

/** The examples of responses have a table of 256 bytes. */
const RESIZE = '3fe101'

for (const [what, blocks, expected] of [
  [
    'C.3: requests',
    [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    requests,
  ],
  [
    'C.4: requests in Huffman code',
    [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
    requests,
  ],
  [
    'C.5: responses',
    [
      `${RESIZE} 4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
    responses,
  ],
  [
    'C.6: responses in Huffman code',
    [
      `${RESIZE} 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
    responses,
  ],
] as const) {
  test(`RFC 7541 ${what}`, () => {
    const decoder = new HpackDecoder(LIMITS)
    for (const [index, block] of blocks.entries()) assert.deepEqual(decode(decoder, hex(block)), expected[index])
  })
}

test('RFC 7541 C.5: the oldest entries make room for new ones', () => {
  const table = new DynamicTable()
  table.resize(256)
  for (const [name, value] of answer('302', '1')) table.add(new Field(name, value))
  assert.equal(table.size, 222)
  table.add(new Field(':status', '307'))
  assert.equal(table.size, 222)
  assert.equal(table.at(0)?.value, '307')
  assert.equal(table.at(3)?.value, 'private')
  assert.equal(table.at(4), undefined)
  table.add(new Field('x', 'y'.repeat(300)))
  assert.deepEqual([table.size, table.at(0)], [0, undefined])
})

test('invalid blocks', () => {
  for (const [what, block] of [
    ['index 0', '80'],
    ['an entry beyond both tables', 'be'],
    ['a name beyond both tables', '7f00'],
    ['a number that is cut off', 'ff'],
    ['a number without an end', 'ffffffffffffffff7f'],
    ['a string that is cut off', '000161'],
    ['a value that is not there', '400161'],
    ['a table larger than allowed', '3fe21f'],
    ['a resize after a field', '8220'],
    ['more than two resizes', '202020 82'],
    ['padding of a whole byte', '00 0161 82 1fff'],
    ['padding that is not all ones', '00 0161 81 18'],
    ['the end of text inside a text', '00 0161 84 ffffffff'],
  ] as const) {
    assert.equal(decode(new HpackDecoder(LIMITS), hex(block)), null, what)
  }
})

test('a table that was made smaller forgets, and may grow again', () => {
  const decoder = new HpackDecoder(LIMITS)
  assert.deepEqual(decode(decoder, hex('4001610162')), [['a', 'b']])
  assert.deepEqual(decode(decoder, hex('be')), [['a', 'b']])
  assert.equal(decode(decoder, hex('20 3fe11f be')), null)
})

test('fields beyond a limit are counted, not handed over, and still fill the table', () => {
  const decoder = new HpackDecoder({ maxSize: 100, maxFields: 2 })
  // One entry of 34 bytes, then references to it.
  assert.equal(decode(decoder, hex('4001610162 be be be'))?.length, 2)
  assert.deepEqual([decoder.count, decoder.size], [4, 136])
  assert.equal(decode(decoder, hex('40016301 64'))?.length, 1)
  assert.deepEqual(decode(decoder, hex('be bf')), [
    ['c', 'd'],
    ['a', 'b'],
  ])
})

test('the static table is that of the RFC', () => {
  assert.equal(STATIC_TABLE.length, 61)
  assert.deepEqual([STATIC_TABLE[0]?.name, STATIC_TABLE[60]?.name], [':authority', 'www-authenticate'])
  assert.equal(STATIC_TABLE[15]?.value, 'gzip, deflate')
})

test('encoded fields decode to the same fields, and leave no entry in a table', () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 400,
  })
  const name = fc.oneof(text, fc.constantFrom(...STATIC_TABLE.map((field) => field.name)))
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text)), fc.integer({ min: 100, max: 999 }), (fields, status) => {
      const block = NO_TABLE + statusField(status) + fields.map(([key, value]) => literalField(key, value)).join('')
      const decoder = new HpackDecoder({ maxSize: Infinity, maxFields: Infinity })
      assert.deepEqual(decode(decoder, Buffer.from(block, 'latin1')), [[':status', String(status)], ...fields])
      assert.equal(decode(decoder, hex('be')), null)
    }),
    { seed: 7, numRuns: 300 },
  )
})

test('random bytes are read or refused, never worse', () => {
  const decoder = new HpackDecoder({ maxSize: 4_096, maxFields: 100 })
  let read = 0
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const fields = decode(decoder, Buffer.from(bytes))
      if (fields !== null) read++
      const text = readHuffman(Buffer.from(bytes), 0, bytes.length)
      assert.ok(text === null || text.length <= (bytes.length * 8) / 5)
    }),
    { seed: 7, numRuns: 20_000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
  )
  assert.ok(read > 100 * SHARE, `${read} blocks made sense`)
})
