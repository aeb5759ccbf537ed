import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { eventsOfList } from './json-list-body.ts'
import { JsonList } from './json-list.ts'

const MOST = 1024 * 1024

/** Cuts bytes at the given positions. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((each) => each % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return places.slice(1).map((end, index) => Buffer.from(bytes.subarray(places[index], end)))
}

function read(chunks: readonly Buffer[], most = MOST) {
  const list = new JsonList(most)
  const elements = chunks.flatMap((chunk) => {
    const complete = list.push(chunk).map((element) => element.toString())
    // Overwrites the chunk, as the next read of a socket may do.
    chunk.fill('x')
    return complete
  })
  return { elements, failure: list.failure, isComplete: list.isComplete, rest: list.rest().toString() }
}

const spaces = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const objects = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 })), {
  maxLength: 5,
})
const lists = fc.tuple(objects, spaces, spaces, fc.constantFrom(0, 2)).map(([values, before, between, indent]) => {
  const elements = values.map((value) => JSON.stringify(value, null, indent))
  return { elements, text: `${before}[${between}${elements.join(`${between},${before}`)}${before}]${between}` }
})

test('a list has its elements, wherever it is cut', () => {
  fc.assert(
    fc.property(lists, fc.array(fc.nat(), { maxLength: 12 }), ({ elements, text }, cuts) => {
      const found = read(cut(Buffer.from(text), cuts))
      assert.deepEqual(found, { elements, failure: null, isComplete: true, rest: '' })
    }),
    { numRuns: 500 },
  )
})

test('a list that is cut off has the elements before, and keeps the beginning of the next', () => {
  fc.assert(
    fc.property(lists, fc.nat(), fc.array(fc.nat(), { maxLength: 5 }), ({ elements, text }, length, cuts) => {
      const bytes = Buffer.from(text.trimEnd())
      const short = bytes.subarray(0, length % bytes.length)
      const found = read(cut(Buffer.from(short), cuts))
      assert.equal(found.failure, null)
      assert.equal(found.isComplete, false)
      assert.deepEqual(found.elements, elements.slice(0, found.elements.length))
      assert.ok(
        found.rest === '' ||
          Buffer.from(elements[found.elements.length] ?? '').indexOf(Buffer.from(found.rest)) === 0 ||
          found.rest.includes('\ufffd'),
      )
    }),
    { numRuns: 500 },
  )
})

test('bytes that are no list never become other elements than a parser finds', () => {
  const noise = fc.array(
    fc.constantFrom('[', ']', '{', '}', ',', '"', '\\', ':', '{}', '{"a":1}', 'x', ' ', '\n', '1', '[]', '"]"'),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(noise, fc.array(fc.nat(), { maxLength: 4 }), (pieces, cuts) => {
      const text = pieces.join('')
      const found = read(cut(Buffer.from(text), cuts))
      const parsed = parse(text)
      const isList = Array.isArray(parsed) && parsed.every((each) => typeof each === 'object' && !Array.isArray(each))
      if (isList) assert.deepEqual(found.elements.map(parse), parsed)
      else assert.ok(!found.isComplete || found.elements.some((element) => parse(element) === undefined), text)
    }),
    { numRuns: 2_000 },
  )
})

test('an element that is too long ends the list', () => {
  const text = Buffer.from(`[{"a":1},{"a":"${'x'.repeat(500)}"}]`)
  const whole = read([Buffer.from(text)])
  assert.equal(whole.elements.length, 2)
  const { elements, failure, rest } = read(cut(text, [100, 200, 300]), 150)
  assert.deepEqual([elements, failure, rest], [['{"a":1}'], 'an element of the list is too long', ''])
})

test('events of a list have one line each, and what is wrong is an event that cannot be read', () => {
  assert.equal(
    eventsOfList(Buffer.from('[{\n "a": "\\n"\r\n},\r\n{}]')).toString(),
    'data: { "a": "\\n"  }\n\ndata: {}\n\n'.replace('{ "a"', '{  "a"'),
  )
  assert.equal(eventsOfList(Buffer.from('[{"a":1},{"b')).toString(), 'data: {"a":1}\n\ndata: {"b')
  assert.equal(
    eventsOfList(Buffer.from('[{"a":1},7]')).toString(),
    'data: {"a":1}\n\ndata: (the stream is no JSON list of objects)\n\n',
  )
  assert.match(eventsOfList(Buffer.from('[{"a":"\n"}]')).toString(), /^data: \(a text of the list has a control char/)
})

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
