import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { hasLargeNumber } from '@portico/http/json'
import { readCacheControl } from './cache-control.ts'
import { BodyDigests, canonicalBody, digestOf } from './cache-key.ts'

const bodyOf = (value: unknown): string => canonicalBody(Buffer.from(JSON.stringify(value)))

/** The same JSON with the members of each object in reverse, and white space. */
function reversed(value: unknown): string {
  if (Array.isArray(value)) return `[ ${value.map(reversed).join(' , ')} ]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toReversed()
  return `{ ${members.map(([name, each]) => `${JSON.stringify(name)} : ${reversed(each)}`).join(' ,\n')} }`
}

describe('the key of a request', () => {
  test('is the same for the same JSON, and another for other JSON', () => {
    const small = (_name: string, value: unknown): unknown =>
      typeof value === 'number' ? Math.trunc(value % 1000) + 0 : value
    const json = fc
      .jsonValue({ maxDepth: 4 })
      .map((value) => JSON.parse(JSON.stringify(value), small) as unknown)
      .filter((value) => !hasLargeNumber(JSON.stringify(value)))
    fc.assert(
      fc.property(json, json, (one, other) => {
        assert.equal(canonicalBody(Buffer.from(reversed(one))), bodyOf(one))
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        assert.equal(bodyOf(one) === bodyOf(other), isSame)
      }),
      { numRuns: process.env['PROPERTIES'] === 'full' ? 2_000 : 100 },
    )
  })

  test('remembers digests by bytes, and forgets old ones without a difference', () => {
    const digests = new BodyDigests()
    const texts = Array.from({ length: 5_000 }, (_, i) => `{"b": ${i}, "a": 1}`)
    const expected = texts.map((_, i) => digestOf([`{"a":1,"b":${i}}`]))
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual(
        texts.map((text) => digests.of(Buffer.from(text))),
        expected,
      )
    }
  })

  test('keeps texts that JSON numbers cannot represent, and texts that are no JSON', () => {
    for (const text of ['{"a": 90071992547409931}', '{"a": 1e400}', '{', '']) {
      assert.equal(canonicalBody(Buffer.from(text)), text)
    }
  })

  test('keeps bodies apart of which two readers may see different members, or different characters', () => {
    const bodies = ['{"a":1,"a":2}', '{"a":3,"a":2}', '{"a":2}', '{"a":[{"b":1,"b":2}]}', '{"a":[{"b":2}]}']
    const keys = bodies.map((body) => canonicalBody(Buffer.from(body)))
    const bytes = [0xff, 0xfe, 0xfd].map((byte) => canonicalBody(Buffer.from([0x22, byte, 0x22])))
    assert.equal(new Set([...keys, ...bytes]).size, bodies.length + 3)
    assert.equal(canonicalBody(Buffer.from('{"a" : 2}')), keys[2])
  })

  test('tells lists of texts apart, however they are split', () => {
    const digests = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['1:a', 'b'], []].map(digestOf)
    assert.equal(new Set(digests).size, digests.length)
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const)
  return { entries: entries.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

test('cache-control is read as HTTP writes it, and anything else does not count', () => {
  const { maxAgeMs: none } = readCacheControl(null)
  assert.equal(none, Infinity)
  for (const [header, noStore, noCache, maxAgeMs] of [
    ['no-store', true, false, Infinity],
    ['No-Cache , max-age=5', false, true, 5_000],
    ['max-age="7", max-age=3', false, false, 3_000],
    ['max-age=-1', false, false, Infinity],
    ['max-age=x, private, no-storex', false, false, Infinity],
    ['', false, false, Infinity],
  ] as const) {
    assert.deepEqual(readCacheControl(header), { noStore, noCache, maxAgeMs }, header)
  }
})
