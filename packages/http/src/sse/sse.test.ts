import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { SseEvent } from './sse.ts'
import { SseParser, sseRecord } from './sse.ts'
import { anyCharacter } from '../testing/any-character.ts'

function parse(...chunks: (string | Buffer)[]): SseEvent[] {
  const parser = new SseParser()
  return [...chunks.flatMap((chunk) => parser.push(Buffer.from(chunk))), ...parser.end()]
}

const data = (text: string, event = ''): SseEvent => ({ event, data: text, id: '', retry: null })

describe('server-sent events', () => {
  it('are data, with or without a name', () => {
    assert.deepEqual(parse('data: one\n\nevent: named\ndata: two\n\ndata: three\n\n'), [
      data('one'),
      data('two', 'named'),
      data('three'),
    ])
  })

  it('join several lines of data, and pass over comments and unknown fields', () => {
    assert.deepEqual(parse(': hello\nother: 7\ndata: a\ndata:b\ndata\n\n: bye\n\n'), [data('a\nb\n')])
  })

  it('say where to go on, each for itself', () => {
    assert.deepEqual(parse('id: 7\nretry: 3\ndata: a\n\nretry: soon\ndata: b\n\n'), [
      { ...data('a'), id: '7', retry: 3 },
      data('b'),
    ])
  })

  it('keep all but the first space of a value', () => {
    assert.deepEqual(parse('data:  two spaces \n\n'), [data(' two spaces ')])
  })

  it('without data are nothing, and their name is forgotten', () => {
    assert.deepEqual(parse('event: empty\n\ndata: x\n\n'), [data('x')])
  })

  it('may end in LF, CR, or both', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      assert.deepEqual(parse(`data: a${end}data: b${end}${end}data: c${end}${end}`), [data('a\nb'), data('c')])
    }
  })

  it('may begin with a byte order mark', () => {
    assert.deepEqual(parse('\uFEFFdata: x\n\n'), [data('x')])
  })

  it('that were left unfinished are given at the end', () => {
    assert.deepEqual(parse('data: a\n\ndata: b'), [data('a'), data('b')])
    assert.deepEqual(parse('data: a\n'), [data('a')])
    assert.deepEqual(parse(''), [])
  })

  it('are not taken from bytes that were overwritten after the push', () => {
    const parser = new SseParser()
    const chunk = Buffer.from('data: hel')
    parser.push(chunk)
    chunk.fill(0)
    assert.deepEqual(parser.push(Buffer.from('lo\n\n')), [data('hello')])
  })

  it('that are too long stop the reading', () => {
    const parser = new SseParser(16)
    assert.deepEqual(parser.push(Buffer.from('data: short\n\n')), [data('short')])
    assert.equal(parser.isOverflown, false)
    assert.deepEqual(parser.push(Buffer.from('data: 12345678901\n\ndata: x\n\n')), [])
    assert.equal(parser.isOverflown, true)
    assert.deepEqual(parser.push(Buffer.from('data: x\n\n')), [])
    assert.deepEqual(parser.end(), [])
  })

  it('that are too long in many lines stop it too', () => {
    const parser = new SseParser(16)
    for (let line = 0; line < 5; line += 1) parser.push(Buffer.from('data: 1\n'))
    assert.equal(parser.isOverflown, true)
  })
})

const line = fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(/[\r\n]/g, ''))
const event = fc.record({
  name: line.filter((name) => name !== ''),
  lines: fc.array(line, { minLength: 1, maxLength: 4 }),
  end: fc.constantFrom('\n', '\r', '\r\n'),
})

describe('any stream', () => {
  it('is read the same however it is cut', () => {
    fc.assert(
      fc.property(fc.array(event), fc.array(fc.nat()), (events, cuts) => {
        const text = events.map(
          ({ name, lines, end }) =>
            `event: ${name}${end}${lines.map((line) => `data: ${line}${end}`).join('')}: comment${end}${end}`,
        )
        const bytes = Buffer.from(text.join(''))
        const edges = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
        const chunks = edges.map((edge, at) => bytes.subarray(edges[at - 1] ?? 0, edge))
        const expected = events.map(({ name, lines }) => data(lines.join('\n').toWellFormed(), name.toWellFormed()))
        assert.deepEqual(parse(...chunks), expected)
      }),
    )
  })

  it('gives the same events for random bytes, whole or byte by byte, and never throws', () => {
    const bytes = fc.array(fc.constantFrom(...Buffer.from('data: \r\n\n:event\u{1F600}x')), { maxLength: 80 })
    fc.assert(
      fc.property(bytes, (values) => {
        const whole = Buffer.from(values)
        assert.deepEqual(parse(...values.map((value) => Buffer.from([value]))), parse(whole))
      }),
    )
  })
})

describe('a record', () => {
  it('is read as it was written', () => {
    const written = sseRecord('{"a":1}', 'named') + sseRecord('[DONE]')
    assert.deepEqual(parse(written), [data('{"a":1}', 'named'), data('[DONE]')])
  })

  it('are the same wherever chunks end, between them too', () => {
    const piece = fc.constantFrom(
      'data: a',
      'data:é',
      'event: e',
      'id: 1',
      ': c',
      '\n',
      '\n\n',
      '\n\n',
      '\r',
      '\r\n',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(20), { maxLength: 5 }), (pieces, cuts) => {
        const ends = [...new Set(cuts.map((cut) => Math.min(cut, pieces.length))), 0, pieces.length].sort(
          (a, b) => a - b,
        )
        const chunks = ends.slice(1).map((end, at) => pieces.slice(ends[at], end).join(''))
        const bytes = Buffer.from(pieces.join(''))
        assert.deepEqual(parse(...chunks), parse(...Array.from(bytes, (byte) => Buffer.from([byte]))))
      }),
      { numRuns: 1_000 },
    )
  })
})
