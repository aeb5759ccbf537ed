import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseSafely } from '@portico/cel/safe-json'
import { applyEdits, findMembers, type Json, type MemberEdits, spliceJson } from '@portico/http/json'
import { UnsupportedField } from '@portico/chat'
import { type JsonBody, readJsonBody } from './client-request.ts'
import { isProper, properObject, write, writtenObject } from './testing/test-json.ts'

function bodyOf(text: string): JsonBody {
  const body = readJsonBody(Buffer.from(text))
  assert.ok(!(body instanceof UnsupportedField), text)
  return body
}

function splice(text: string, edits: Record<string, Json | undefined>): string {
  return spliceJson(bodyOf(text), new Map(Object.entries(edits))).toString()
}

test('members are replaced, removed and added; every other byte stays', () => {
  const text = ' { "model" : "a",\n\t"n":12345678901234567890 , "x" : [ 1 ] }\n'
  assert.equal(splice(text, { model: 'b' }), ' { "model" : "b",\n\t"n":12345678901234567890 , "x" : [ 1 ] }\n')
  assert.equal(splice(text, { x: undefined }), ' { "model" : "a",\n\t"n":12345678901234567890 }\n')
  assert.equal(splice(text, { model: undefined }), ' { "n":12345678901234567890 , "x" : [ 1 ] }\n')
  assert.equal(splice(text, { n: undefined }), ' { "model" : "a" , "x" : [ 1 ] }\n')
  assert.equal(
    splice(text, { y: { z: 'é' } }),
    ' { "model" : "a",\n\t"n":12345678901234567890 , "x" : [ 1 ],"y":{"z":"é"} }\n',
  )
  assert.equal(splice(text, { model: undefined, n: undefined, x: undefined }), ' {  }\n')
  assert.equal(splice(text, { model: undefined, n: undefined, x: undefined, y: 1 }), ' { "y":1 }\n')
  assert.equal(splice('{}', { a: null, b: undefined }), '{"a":null}')
  assert.equal(splice('{ }', { a: 1, b: 2 }), '{"a":1,"b":2 }')
  assert.equal(splice('{"mod\\u0065l":1}', { model: 2 }), '{"mod\\u0065l":2}')
  assert.equal(splice('{"a":"\\\\","b":"\\""}', { a: 1 }), '{"a":1,"b":"\\""}')
})

test('without edits the bytes are the same ones', () => {
  const body = bodyOf('{"a": 1}')
  assert.equal(spliceJson(body, new Map()), body.bytes)
})

test('a body that other parsers could read differently is rejected', () => {
  const refusal = (text: string | Buffer) => {
    const body = readJsonBody(Buffer.from(text))
    return body instanceof UnsupportedField ? `${body.field} ${body.message}` : null
  }
  assert.equal(refusal('{"model":"a","model":"b"}'), 'model occurs twice in the body')
  assert.equal(refusal('{"a":1,"\\u0061":1}'), 'a occurs twice in the body')
  assert.equal(refusal('{"a":[{"b":{"c":1,"c":1}}]}'), 'body has an object with a duplicate member name')
  assert.equal(refusal('{"a":{"__proto__":1,"__proto__":2}}'), 'body has an object with a duplicate member name')
  assert.equal(refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 'body must be UTF-8')
  for (const text of ['', '{', '{"a":1}}', '\ufeff{}', '{a:1}', `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`]) {
    assert.equal(refusal(text), 'body must be JSON', text.slice(0, 20))
  }
  for (const text of ['[]', '1', '"{}"', 'null']) assert.equal(refusal(text), 'body must be a JSON object')
})

test('a name with escapes is read right, whatever another client sent before', () => {
  for (let times = 0; times < 3; times += 1) bodyOf('{"model":"m","\\\\u006d\\\\u":1}')
  const hidden = '{"model":"m","\\u006d\\u0065\\u0073\\u0073\\u0061\\u0067\\u0065\\u0073":[]}'
  assert.deepEqual(bodyOf(hidden).value, { model: 'm', messages: [] })
})

test('a name that stands twice is found wherever it is, and nothing else is refused', () => {
  fc.assert(
    fc.property(writtenObject, (written) => {
      const body = readJsonBody(Buffer.from(write(written)))
      assert.equal(!(body instanceof UnsupportedField), isProper(written))
    }),
    { seed: 4, numRuns: 2_000 },
  )
})

test('members are found where they are', () => {
  fc.assert(
    fc.property(properObject, (written) => {
      const body = bodyOf(write(written))
      assert.deepEqual(
        body.members.map(({ name }) => name),
        written.members.map(({ name }) => name),
      )
      for (const [at, { valueStart, valueEnd, start }] of body.members.entries()) {
        const { label, value } = written.members[at]!
        assert.equal(body.bytes.toString('utf8', valueStart, valueEnd), write(value).trim())
        assert.ok(body.bytes.subarray(start).toString().startsWith(label))
      }
    }),
    { seed: 5, numRuns: 1_000 },
  )
})

test('the spliced bytes say what the edited value says', () => {
  const edits = fc.array(
    fc.tuple(
      fc.constantFrom('model', 'a', 'b', '', '__proto__', 'new', 'é"'),
      fc.option(fc.jsonValue(), { nil: undefined }),
    ),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(properObject, edits, (written, entries) => {
      const body = bodyOf(write(written))
      const changes: MemberEdits = new Map(entries as [string, Json | undefined][])
      const spliced = spliceJson(body, changes)
      // Compared as text: the order must be equal too, and -0 is what JSON makes of it.
      assert.equal(JSON.stringify(parseSafely(spliced.toString())), JSON.stringify(applyEdits(body.value, changes)))
      assert.ok(!(readJsonBody(spliced) instanceof UnsupportedField))
      assert.deepEqual(memberTexts(spliced, changes), memberTexts(body.bytes, changes))
    }),
    { seed: 6, numRuns: 2_000 },
  )
})

/** Returns the exact text of the members that no edit touched. */
function memberTexts(bytes: Buffer, edits: MemberEdits): string[] {
  return findMembers(bytes)!
    .members.filter(({ name }) => !edits.has(name))
    .map(({ start, valueEnd }) => bytes.toString('utf8', start, valueEnd))
}

test('any bytes are read to an end, and those that are an object are found to be one', () => {
  const units = [...Buffer.from('{}[]":,\\ntu0e 1')]
  const bytes = fc.oneof(
    fc.array(fc.constantFrom(...units), { maxLength: 24 }).map((codes) => Buffer.from(codes)),
    fc.uint8Array({ maxLength: 24 }).map((array) => Buffer.from(array)),
    fc.tuple(properObject, fc.nat(), fc.nat(255)).map(([written, at, byte]) => {
      const damaged = Buffer.from(write(written))
      damaged[at % damaged.length] = byte
      return damaged
    }),
  )
  fc.assert(
    fc.property(bytes, (input) => {
      const found = findMembers(input)
      for (const { start, valueStart, valueEnd } of found?.members ?? []) {
        assert.ok(start < valueStart && valueStart < valueEnd && valueEnd <= input.length)
      }
      const body = readJsonBody(input)
      if (!(body instanceof UnsupportedField)) assert.deepEqual(Object.keys(body.value).length, body.members.length)
    }),
    { seed: 7, numRuns: 5_000 },
  )
})

test('long strings of quotes and backslashes take no longer than others', () => {
  const text = `{"a":"${'\\\\'.repeat(500_000)}${'\\"'.repeat(500_000)}","b":1}`
  assert.equal(spliceJson(bodyOf(text), new Map([['b', 2]])).length, text.length)
})
