import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '../fields/header-block.ts'
import { chunkHead, framedChunk } from '../socket/gathering-writer.ts'
import { ChunkedDecoder, framedDataAt, lastChunk } from './chunked.ts'

const refused: [text: string, error: string][] = [
  ...['', ' 5', '+5', '-5', 'x', ';a', '\r\n', '\n'].map((line): [string, string] => [`${line}\r\n`, 'bad chunk size']),
  ...['5 ', '5\t', '0x5', '5_', '5,', '5\n', '5\0', '5g'].map((line): [string, string] => [
    `${line}\r\n`,
    'bad chunk size',
  ]),
  ['5\rx', 'bad chunk size line'],
  ['5\r\r\n', 'bad chunk size line'],
  ['20000000000000\r\n', 'chunk size too large'],
  ['ffffffffffffffff\r\n', 'chunk size too large'],
  ['10000000000000000\r\n', 'chunk size too large'],
  ...[
    '5;',
    '5;=',
    '5; a',
    '5;a ',
    '5;a =b',
    '5;a= b',
    '5;a=',
    '5;a=b=c',
    '5;a="',
    '5;a="b',
    '5;a="b"c',
    '5;a=b"',
    '5;a"b"',
    '5;a=b"c"',
    '5;a;',
  ].map((line): [string, string] => [`${line}\r\n`, 'bad chunk extension']),
  ...['5;a\n', '5;a\0', '5;a\x7f', '5;a=\x80', '5;a="\n"', '5;a="\\\r"', '5;a="\x01"'].map((line): [string, string] => [
    `${line}\r\n`,
    'bad chunk extension',
  ]),
  [`5;${'a'.repeat(4097)}`, 'chunk extensions too large'],
  ['0'.repeat(4100), 'chunk extensions too large'],
  [`1;${'a'.repeat(4000)}\r\nx\r\n1;${'a'.repeat(100)}\r\n`, 'chunk extensions too large'],
  ['1\r\nab\r\n', 'chunk longer than its size'],
  ['1\r\na\n', 'chunk longer than its size'],
  ['1\r\na\rb', 'chunk longer than its size'],
  ['0\r\n\n', 'bad trailers'],
  ['0\r\n\rx', 'bad trailers'],
  ['0\r\nX: y\n\r\n\r\n', 'bad trailers'],
  ['0\r\nX y\r\n\r\n', 'bad trailers'],
  ['0\r\nX: y\r\n z\r\n\r\n', 'bad trailers'],
  ['0\r\nContent-Length: 1\r\n\r\n', 'bad trailers'],
  [`0\r\n${'x: y\r\n'.repeat(101)}\r\n`, 'bad trailers'],
  [`0\r\nx: ${'y'.repeat(20_000)}`, 'trailers too large'],
]

for (const [text, error] of refused) {
  test(`chunked body ${JSON.stringify(text.slice(0, 40))} is refused: ${error}`, () => {
    assert.equal(decode([text]).decoder.error, error)
    assert.equal(decode(text.split('')).decoder.error, error)
    assert.equal(decode(text.split('')).decoder.done, false)
  })
}

test('a body is decoded up to its end and not a byte further', () => {
  const { body, decoder, rest } = decode(['3;a="b;\\"";c\r\nabc\r\n00A\r\n0123456789\r\n0;x=y\r\nX: y\r\n\r\nGET'])
  assert.equal(body, 'abc0123456789')
  assert.equal(decoder.done, true)
  assert.equal(decoder.trailers?.toText(), 'X: y\r\n')
  assert.equal(rest, 'GET')
})

test('a body without trailers has none', () => {
  const { decoder, rest } = decode(['0\r\n\r\n\r\n'])
  assert.equal(decoder.trailers, null)
  assert.equal(rest, '\r\n')
})

test('the largest size that is exact passes', () => {
  const { decoder } = decode(['1fffffffffffff\r\nabc'])
  assert.equal(decoder.error, null)
})

test('extensions and trailers of exactly what they may be pass', () => {
  assert.equal(decode([`1;${'a'.repeat(4095)}\r\nx`]).decoder.error, null)
  // A blank line is all that is missing.
  const full = `x: ${'y'.repeat(16_384 - 5)}\r\n`
  for (const pieces of [[`0\r\n${full}\r\n`], [`0\r\n${full}`, '\r\n'], [`0\r\n${full}\r`, '\n']]) {
    const { decoder } = decode(pieces)
    assert.deepEqual(
      [decoder.error, decoder.done],
      pieces[0]!.endsWith('\r') ? ['trailers too large', false] : [null, true],
    )
  }
})

test('encoded bodies come back, whatever their cuts', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 6 }), fc.boolean(), fc.nat(7), (chunks, trailers, cut) => {
      const block = trailers ? HeaderBlock.of([['x-sum', '1']]) : null
      const bodies = chunks.map((chunk) => Buffer.from(chunk).toString('latin1'))
      const text = bodies.map((chunk) => chunkHead(chunk.length) + chunk + '\r\n').join('') + lastChunk(block) + 'next'
      const pieces = text.match(new RegExp(`[^]{1,${cut + 1}}`, 'g'))!
      const { body, decoder, rest } = decode(pieces)
      assert.equal(body, bodies.join(''))
      assert.equal(decoder.done, true)
      assert.equal(rest, 'next')
      assert.equal(decoder.trailers?.toText() ?? null, block?.toText() ?? null)
    }),
    { seed: 3, numRuns: 200 },
  )
})

test('a framed chunk is its size line, its bytes and the end of a line, whatever its size', () => {
  for (const size of [1, 2, 15, 16, 17, 255, 256, 4095, 4096, 65_536]) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, at) => at % 256))
    const expected = Buffer.concat([Buffer.from(chunkHead(size)), bytes, Buffer.from('\r\n')])
    assert.deepEqual(framedChunk(bytes), expected)
  }
})

test('bytes that are exactly one chunk are recognized', () => {
  for (const text of [
    '1\r\na\r\n',
    'A\r\n0123456789\r\n',
    'a\r\n\r\n0\r\n\r\n012\r\n',
    `ff\r\n${'x'.repeat(255)}\r\n`,
  ]) {
    const bytes = Buffer.from(text)
    assert.equal(framedDataAt(bytes, bytes.length), text.indexOf('\n') + 1)
    // The bytes after them belong to an older read.
    assert.equal(
      framedDataAt(Buffer.concat([bytes, Buffer.from('5\r\nolder\r\n')]), bytes.length),
      text.indexOf('\n') + 1,
    )
  }
})

test('bytes that are recognized as one chunk are one for the decoder too, whatever they are', () => {
  const otherSize = fc.constantFrom(null, null, null, '0', '1', '2', '3', '6', '03', '1;a', '')
  const piece = fc.constantFrom('a', 'bc', '\r', '\n', '\r\n', '0\r\n', '1\r\n', ' ')
  const chunk = fc
    .tuple(otherSize, fc.array(piece, { maxLength: 4 }))
    .map(([size, data]) => `${size ?? data.join('').length.toString(16)}\r\n${data.join('')}\r\n`)
  let recognized = 0
  fc.assert(
    fc.property(chunk, (text) => {
      const bytes = Buffer.from(text)
      const dataAt = framedDataAt(bytes, bytes.length)
      if (dataAt === -1) return
      recognized++
      const { body, decoder } = decode([text])
      assert.deepEqual([decoder.error, decoder.done, decoder.isBetweenChunks], [null, false, true])
      assert.equal(body, text.slice(dataAt, -2))
    }),
    { seed: 7, numRuns: 5000 },
  )
  assert.ok(recognized > 0)
})

test('data is handed on without a copy when a read is nothing else', () => {
  const decoder = new ChunkedDecoder()
  const taken: Buffer[] = []
  const receiver = { data: (chunk: Buffer) => taken.push(chunk) }
  decoder.decode(Buffer.from('ff\r\n'), 0, receiver)
  const inside = Buffer.alloc(10)
  decoder.decode(inside, 0, receiver)
  assert.equal(taken[0], inside)
})

/** Feeds the pieces as a connection does; `rest` is what the decoder left. */
function decode(pieces: string[]): { body: string; decoder: ChunkedDecoder; rest: string } {
  const decoder = new ChunkedDecoder()
  let body = ''
  let rest = ''
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1')
    let at = 0
    if (!decoder.done && decoder.error === null) {
      at = decoder.decode(bytes, 0, { data: (chunk) => (body += chunk.toString('latin1')) })
    }
    if (decoder.done) rest += bytes.toString('latin1', at)
  }
  return { body, decoder, rest }
}
