import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import * as fc from 'fast-check'
import { withId, withParams, withResult } from './edit.ts'
import { BadMessage, INVALID_REQUEST, makeMessage, PARSE_ERROR, readMessage, type RpcMessage } from './protocol.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

function read(text: string | Buffer): RpcMessage {
  const message = readMessage(Buffer.from(text))
  assert.ok(!(message instanceof BadMessage), message instanceof BadMessage ? message.message : '')
  return message
}

describe('reading', () => {
  for (const [text, kind, id, method] of [
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request', 1, 'ping'],
    ['{"jsonrpc":"2.0","id":"","method":"ping"}', 'request', '', 'ping'],
    ['{"jsonrpc":"2.0","method":"notifications/x"}', 'notification', null, 'notifications/x'],
    ['{"jsonrpc":"2.0","id":"a","result":{}}', 'response', 'a', ''],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', 'response', null, ''],
  ] as const) {
    it(`takes a ${kind}: ${text}`, () => {
      const message = read(text)
      assert.deepEqual([message.kind, message.id, message.method], [kind, id, method])
      assert.equal(message.bytes.toString(), text)
    })
  }

  for (const [name, bytes, code] of [
    ['nothing', '', PARSE_ERROR],
    ['half a message', '{"jsonrpc":"2.0"', PARSE_ERROR],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), PARSE_ERROR],
    ['what is nested too deeply', `${'['.repeat(2000)}${']'.repeat(2000)}`, PARSE_ERROR],
    ['a text', '"x"', INVALID_REQUEST],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID_REQUEST],
    ['another protocol', '{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID_REQUEST],
    ['no protocol', '{"id":1,"method":"ping"}', INVALID_REQUEST],
    ['a method twice', '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', INVALID_REQUEST],
    ['a method twice, once in disguise', '{"jsonrpc":"2.0","id":1,"method":"a","m\\u0065thod":"b"}', INVALID_REQUEST],
    ['a name twice, far down', '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"y":1,"y":2}]}}', INVALID_REQUEST],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"a"}', INVALID_REQUEST],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"a"}', INVALID_REQUEST],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":1}', INVALID_REQUEST],
    ['a method with another case', '{"jsonrpc":"2.0","id":1,"Method":"a"}', INVALID_REQUEST],
    ['neither question nor answer', '{"jsonrpc":"2.0","id":1}', INVALID_REQUEST],
  ] as const) {
    it(`refuses ${name}`, () => {
      const message = readMessage(Buffer.from(bytes))
      assert.ok(message instanceof BadMessage)
      assert.equal(message.code, code)
    })
  }

  it('says whose message it refuses, where that can be read', () => {
    const message = readMessage(Buffer.from('{"jsonrpc":"1.0","id":"q","method":"a"}'))
    assert.ok(message instanceof BadMessage)
    assert.equal(message.id, 'q')
  })

  test('hostile bytes never throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readMessage(Buffer.from(bytes))))
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => void readMessage(Buffer.from(text))))
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.nat(), (first, second, at) => {
        const text = `{"jsonrpc":"2.0","id":${first},"method":"x","params":${second}}`
        readMessage(Buffer.from(text))
        readMessage(Buffer.from(text.slice(0, at % text.length)))
      }),
    )
  })
})

const space = fc.constantFrom('', ' ', '\n', '\t ', '\r\n')
const name = fc.string({ minLength: 1, unit: anyCharacter }).filter((text) => text.isWellFormed())
/** A message with members, spaces and numbers that a writer of JSON would not keep. */
const odd = fc
  .record({
    gap: space,
    id: fc.constantFrom('1', '"a"', '1.0', '1e2'),
    extra: fc.constantFrom('12345678901234567890', '1.50', '-0', '"\\u00e9"', '{"z":1.0}', '[1,  2]'),
    params: fc.uniqueArray(fc.tuple(name, fc.json()), { selector: ([key]) => key, maxLength: 4 }),
  })
  .map(({ gap, id, extra, params }) => {
    const members = params.map(([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${value}`).join(',')
    return {
      head: `${gap}{"jsonrpc":"2.0",${gap}"x-extra":${extra},"id":${gap}`,
      id,
      middle: `,"method":"tools/call"${gap},"params":${gap}{`,
      members,
      tail: `}${gap}}${gap}`,
    }
  })

describe('editing', () => {
  test('another id leaves every other byte', () => {
    fc.assert(
      fc.property(odd, fc.oneof(fc.integer(), fc.string()), ({ head, id, middle, members, tail }, other) => {
        const message = readMessage(Buffer.from(head + id + middle + members + tail))
        if (message instanceof BadMessage) return
        const edited = withId(message, other)
        assert.equal(edited.bytes.toString(), head + JSON.stringify(other) + middle + members + tail)
        assert.equal(edited.id, other)
      }),
    )
  })

  test('another member of params leaves every other byte', () => {
    fc.assert(
      fc.property(odd, fc.json(), ({ head, id, middle, members, tail }, value) => {
        const before = `"portico":1${members === '' ? '' : ','}`
        const message = readMessage(Buffer.from(head + id + middle + before + members + tail))
        if (message instanceof BadMessage) return
        const edited = withParams(message, { portico: JSON.parse(value) })
        const after = `"portico":${JSON.stringify(JSON.parse(value))}${members === '' ? '' : ','}`
        assert.equal(edited.bytes.toString(), head + id + middle + after + members + tail)
        const again = readMessage(edited.bytes)
        assert.ok(!(again instanceof BadMessage))
        assert.deepEqual(again.value, edited.value)
      }),
    )
  })

  test('params that are missing are added, members that go are gone', () => {
    const bare = read('{"jsonrpc":"2.0","id":1,"method":"x"}')
    assert.equal(withParams(bare, { a: 1 }).bytes.toString(), '{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1}}')
    const full = read('{"jsonrpc":"2.0","id":1,"result":{"a":1, "b":12345678901234567890}}')
    const edited = withResult(full, { a: undefined })
    assert.equal(edited.bytes.toString(), '{"jsonrpc":"2.0","id":1,"result":{"b":12345678901234567890}}')
  })

  test('names of prototypes are names', () => {
    const message = read('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1}}')
    const edited = withParams(message, { a: 2 })
    assert.deepEqual(edited.value.params, { a: 2 })
    assert.equal(
      readMessage(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x","__proto__":{"a":1}}')) instanceof Object,
      true,
    )
  })

  test('a message of the gateway is one that it would read', () => {
    const made = makeMessage({ jsonrpc: '2.0', id: 'x', result: {} })
    assert.deepEqual(readMessage(made.bytes), made)
    assert.throws(() => makeMessage({ jsonrpc: '2.0', id: 1 }))
  })
})
