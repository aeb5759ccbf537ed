import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { AnswerMemory } from './answer-memory.ts'

const MAX = 1_048_576
const answer = (bytes: number, storedAt = 0) => ({ headers: [], body: Buffer.alloc(bytes), storedAt })
const NO_COUNTS = { count() {}, resized() {} }
const labels = { model: 'm', apiKey: '' }
const place = (key: string, scope = 'one', expiresAt = Infinity) => ({
  ...{ key, scope, expiresAt, labels, checkAt: Infinity },
})

describe('the memory of a cache', () => {
  test('never has more bytes than its bound, and never loses count', () => {
    const step = fc.oneof(
      fc.record({ key: fc.nat(40), scope: fc.nat(5), bytes: fc.nat(160_000), ttl: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ reserve: fc.nat(200_000) }),
      fc.record({ read: fc.nat(40) }),
      fc.constantFrom('release' as const, 'expire' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const memory = new AnswerMemory(MAX, NO_COUNTS)
        const reserved: number[] = []
        for (const [now, each] of steps.entries()) {
          if (each === 'expire') memory.removeExpired(now)
          else if (each === 'release') memory.release(reserved.pop() ?? 0)
          else if ('reserve' in each) {
            if (memory.reserve(each.reserve)) reserved.push(each.reserve)
          } else if ('read' in each) memory.get(`${each.read}`, now)
          else memory.put(answer(each.bytes, now), place(`${each.key}`, `${each.scope}`, now + each.ttl))
          const arriving = reserved.reduce((sum, bytes) => sum + bytes, 0)
          const { bytes, entries, scopes } = memory.figures
          assert.ok(bytes + arriving <= MAX, `${bytes} + ${arriving}`)
          assert.ok(bytes >= entries * 1024 && scopes <= entries)
        }
        memory.purge('all')
        assert.deepEqual(memory.figures, { entries: 0, scopes: 0, bytes: 0 })
      }),
      { numRuns: process.env['PROPERTIES'] === 'full' ? 2_000 : 100 },
    )
  })

  test('evicts the least recently used answers first', () => {
    const memory = new AnswerMemory(MAX, NO_COUNTS)
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) memory.put(answer(120_000), place(key))
    memory.get('a', 0)
    memory.put(answer(120_000), place('i'))
    assert.deepEqual(
      ['a', 'b', 'c', 'i'].map((key) => memory.get(key, 0) !== null),
      [true, false, true, true],
    )
  })

  test('lets a tenant that floods it evict its own answers, not those of others', () => {
    const memory = new AnswerMemory(MAX, NO_COUNTS)
    for (const key of ['q1', 'q2', 'q3']) memory.put(answer(50_000), place(key, 'quiet'))
    for (let i = 0; i < 1_000; i += 1) memory.put(answer(50_000), place(`f${i}`, 'flood'))
    assert.deepEqual(
      ['q1', 'q2', 'q3'].map((key) => memory.get(key, 0) !== null),
      [true, true, true],
    )
    // Small answers count with their overhead.
    for (let i = 0; i < 10_000; i += 1) memory.put(answer(1), place(`s${i}`, 'flood'))
    assert.notEqual(memory.get('q1', 0), null)
    assert.ok(memory.figures.entries < 1_024)
  })

  test('forgets an answer when it expires, and everything above a smaller bound', () => {
    const memory = new AnswerMemory(MAX, NO_COUNTS)
    memory.put(answer(10), place('a', 'one', 100))
    assert.notEqual(memory.get('a', 99), null)
    assert.equal(memory.get('a', 100), null)
    assert.equal(memory.figures.entries, 0)
    for (const key of ['a', 'b', 'c', 'd']) memory.put(answer(100_000), place(key))
    memory.resize(250_000)
    assert.equal(memory.figures.entries, 2)
  })

  test('keeps what belongs to an answer as long as the answer, and counts its bytes', () => {
    const removed: string[] = []
    const memory = new AnswerMemory(MAX, NO_COUNTS)
    const attach = (name: string) => ({ bytes: 10_000, removed: () => void removed.push(name) })
    memory.put(answer(10), { ...place('a'), attached: attach('first') })
    const { bytes } = memory.figures
    assert.ok(bytes > 10_000)
    // The same answer again, from another gateway, keeps it.
    memory.put(answer(10), place('a'))
    assert.deepEqual([memory.figures.bytes, removed], [bytes, []])
    memory.put(answer(10), { ...place('a'), attached: attach('second') })
    assert.deepEqual([memory.figures.bytes, removed], [bytes, ['first']])
    memory.remove('a')
    assert.deepEqual([memory.figures.bytes, removed], [0, ['first', 'second']])
    memory.put(answer(MAX), { ...place('b'), attached: attach('too large') })
    assert.deepEqual(removed.at(-1), 'too large')
    memory.put(answer(10), { ...place('c', 'one', 5), attached: attach('expired') })
    memory.removeExpired(5)
    assert.deepEqual(removed.at(-1), 'expired')
    memory.put(answer(10), { ...place('d'), attached: attach('purged') })
    memory.purge('all')
    assert.deepEqual([memory.figures.bytes, removed.at(-1)], [0, 'purged'])
  })

  test('knows the age of an answer until it expires', () => {
    const memory = new AnswerMemory(MAX, NO_COUNTS)
    memory.put(answer(10, 100), place('a', 'one', 200))
    assert.deepEqual([memory.ageOf('a', 150), memory.ageOf('a', 200), memory.ageOf('b', 150)], [50, Infinity, Infinity])
    assert.deepEqual(memory.placeOf('a'), { key: 'a', scope: 'one', labels })
    assert.equal(memory.placeOf('b'), null)
  })
})
