import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createSealer } from './seal.ts'
import type { SessionState } from './state.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const state: fc.Arbitrary<SessionState> = fc.record({
  key: fc.uuid(),
  backend: text,
  principal: text,
  expiresAt: fc.nat(),
  version: fc.constantFrom('2025-06-18', '2025-11-25'),
  initialize: fc
    .record({ capabilities: fc.dictionary(text, fc.boolean(), { maxKeys: 3 }), clientInfo: fc.record({ name: text }) })
    .map((value) => ({
      capabilities: { ...value.capabilities },
      clientInfo: { ...value.clientInfo },
    })),
  targets: fc.array(fc.record({ name: text, session: text, version: fc.constantFrom('2025-06-18', '2026-07-28') }), {
    maxLength: 4,
  }),
})

const sample: SessionState = {
  key: 'k',
  backend: 'b',
  principal: '',
  expiresAt: 1,
  version: '2025-11-25',
  initialize: {},
  targets: [],
}

test('a sealed state opens to itself, and is a URL-safe token', () => {
  const sealer = createSealer([randomBytes(32)])
  fc.assert(
    fc.property(state, (value) => {
      const id = sealer.seal(value)
      assert.ok(id !== null)
      assert.match(id, /^[\w-]+$/)
      assert.deepEqual(JSON.parse(JSON.stringify(sealer.open(id))), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('two ids of one state differ, and show nothing of it', () => {
  const sealer = createSealer([randomBytes(32)])
  const value = { ...sample, principal: 'somebody-in-particular' }
  const ids = [sealer.seal(value)!, sealer.seal(value)!]
  assert.notEqual(ids[0], ids[1])
  assert.ok(!Buffer.from(ids[0]!, 'base64url').includes('somebody'))
})

test('an id with any bit turned opens nothing', () => {
  const sealer = createSealer([randomBytes(32)])
  const bytes = Buffer.from(sealer.seal(sample)!, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const other = Buffer.from(bytes)
    other[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(sealer.open(other.toString('base64url')), null)
  }
})

test('an id of another key opens nothing', () => {
  const id = createSealer([randomBytes(32)]).seal(sample)!
  assert.equal(createSealer([randomBytes(32)]).open(id), null)
})

test('keys can be replaced: the first one seals, the others still open', () => {
  const [before, after] = [randomBytes(32), randomBytes(32)]
  const id = createSealer([before]).seal(sample)!
  const both = createSealer([after, before])
  assert.deepEqual(both.open(id), sample)
  assert.deepEqual(createSealer([after]).open(both.seal(sample)!), sample)
  assert.equal(createSealer([before]).open(both.seal(sample)!), null)
})

test('one kind of thing does not open as another', () => {
  const sealer = createSealer([randomBytes(32)])
  const text = sealer.sealAs('call', { a: 1 })
  assert.deepEqual(sealer.openAs('call', text), { a: 1 })
  assert.equal(sealer.openAs('other', text), null)
  assert.equal(sealer.open(text), null)
  const [session] = fc.sample(state, 1)
  assert.equal(sealer.openAs('call', sealer.seal(session!)!), null)
})

test('a state that is too long for a header has no id', () => {
  const sealer = createSealer([randomBytes(32)])
  const long = { ...sample, initialize: { noise: randomBytes(6000).toString('base64') } }
  assert.equal(sealer.seal(long), null)
})

test('hostile ids open nothing and never throw', () => {
  const sealer = createSealer([randomBytes(32)])
  const good = sealer.seal(sample)!
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (id) => assert.equal(sealer.open(id), null)))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.equal(sealer.open(Buffer.from(bytes).toString('base64url')), null)
      // The prefix of the right key, followed by random bytes.
      assert.equal(sealer.open(good.slice(0, 6) + Buffer.from(bytes).toString('base64url')), null)
    }),
  )
  assert.equal(sealer.open(good.repeat(100)), null)
  assert.equal(sealer.open(''), null)
})
